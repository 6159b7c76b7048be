package textapply

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bigFile is a file of 300,000 different lines, 18 MB, one of which in 1000 is changed by a chunk
// with three lines of context on both sides.
func bigFile(end string) (string, Section) {
	const lines, every = 300_000, 1000
	line := func(i int) string {
		return fmt.Sprintf("    value_%06d := compute(%06d) – “some more text”%s", i, i*7%lines, end)
	}
	var b strings.Builder
	s := Section{Kind: Update, Path: "f", Line: 2}
	for i := range lines {
		b.WriteString(line(i) + "\n")
		if i%every != every/2 {
			continue
		}
		c := Chunk{Line: 3}
		for k := i - 3; k <= i+3; k++ {
			if k == i {
				c.Lines = append(c.Lines, Line{Remove, line(k)}, Line{Insert, "    changed()"})
				continue
			}
			c.Lines = append(c.Lines, Line{Context, line(k)})
		}
		s.Chunks = append(s.Chunks, c)
	}
	return b.String(), s
}

// respell changes the old lines of the section's chunks.
func respell(s Section, spell func(string) string) Section {
	chunks := make([]Chunk, len(s.Chunks))
	for i, c := range s.Chunks {
		chunks[i] = c
		chunks[i].Lines = make([]Line, len(c.Lines))
		for j, l := range c.Lines {
			if l.Op != Insert {
				l.Text = spell(l.Text)
			}
			chunks[i].Lines[j] = l
		}
	}
	s.Chunks = chunks
	return s
}

func benchmarkPlan(b *testing.B, content string, sections ...Section) {
	benchmarkPolicies(b, content, []Policy{codexPolicy(), carefulPolicy()}, sections...)
}

func benchmarkPolicies(b *testing.B, content string, policies []Policy, sections ...Section) {
	tree := files("f", content)
	patch := &Patch{Sections: sections}
	for _, policy := range policies {
		b.Run(policy.Name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				plan := MakePlan(patch, tree, policy)
				require.Empty(b, plan.Errors())
				require.Len(b, plan.Changes, 1)
			}
		})
	}
}

func BenchmarkPlanExact(b *testing.B) {
	content, s := bigFile("")
	benchmarkPlan(b, content, s)
}

func BenchmarkPlanTrailingSpace(b *testing.B) {
	content, s := bigFile(" ")
	benchmarkPlan(b, content, respell(s, func(s string) string { return strings.TrimRight(s, " ") }))
}

func BenchmarkPlanTrim(b *testing.B) {
	content, s := bigFile("")
	benchmarkPlan(b, content, respell(s, strings.TrimSpace))
}

func BenchmarkPlanFold(b *testing.B) {
	content, s := bigFile("")
	ascii := strings.NewReplacer("–", "-", "“", `"`, "”", `"`)
	benchmarkPlan(b, content, respell(s, ascii.Replace))
}

func BenchmarkPlanCRLF(b *testing.B) {
	content, s := bigFile("")
	benchmarkPlan(b, strings.ReplaceAll(content, "\n", "\r\n"), s)
}

// The chunk fits only where the run of equal lines ends.
func BenchmarkPlanEqualLines(b *testing.B) {
	const equal = "                return nil, fmt.Errorf(msg)"
	content := strings.Repeat(equal+"\n", 60_000) + "}\n"
	c := Chunk{Line: 3}
	for range 399 {
		c.Lines = append(c.Lines, Line{Context, equal})
	}
	c.Lines = append(c.Lines, Line{Remove, "}"}, Line{Insert, "})"})
	benchmarkPlan(b, content, update("f", c))
}

// The same without a rare line in the pattern: it stands in the file at its start as well.
func BenchmarkPlanEqualLinesTwice(b *testing.B) {
	const equal = "                return nil, fmt.Errorf(msg)"
	content := strings.Repeat("}\n"+strings.Repeat(equal+"\n", 300), 200) + strings.Repeat(equal+"\n", 200) + "}\n"
	c := Chunk{Line: 3}
	for range 399 {
		c.Lines = append(c.Lines, Line{Context, equal})
	}
	c.Lines = append(c.Lines, Line{Remove, "}"}, Line{Insert, "})"})
	benchmarkPlan(b, content, update("f", c))
}

func BenchmarkPlanAdd(b *testing.B) {
	lines := make([]string, 200_000)
	size := 0
	for i := range lines {
		lines[i] = fmt.Sprintf("line %06d of a long new file, with some more words in it", i)
		size += len(lines[i]) + 1
	}
	patch := patchOf(added("new", lines...))
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		plan := MakePlan(patch, files(), codexPolicy())
		require.Len(b, plan.Changes, 1)
	}
}

// Chunks and text of few different lines: the case in which comparing place by place is quadratic.
func BenchmarkPlanHostile(b *testing.B) {
	const lines = 300_000
	random := uint32(1)
	bit := func() byte {
		random = random*1664525 + 1013904223
		return 'a' + byte(random>>31)
	}
	var content bytes.Buffer
	for range lines {
		content.Write([]byte{bit(), '\n'})
	}
	s := Section{Kind: Update, Path: "f"}
	for range 10_000 {
		var c Chunk
		for range 24 {
			c.Lines = append(c.Lines, Line{Remove, string(bit())})
		}
		s.Chunks = append(s.Chunks, c)
	}
	patch := patchOf(s)
	tree := files("f", content.String())
	b.ReportAllocs()
	for b.Loop() {
		plan := MakePlan(patch, tree, Policy{})
		require.NotEmpty(b, plan.Errors())
	}
}

// Every hunk has a scope line, some lines in front of it.
func BenchmarkPlanScopes(b *testing.B) {
	content, s := bigFile("")
	lines := strings.Split(content, "\n")
	for i := range s.Chunks {
		s.Chunks[i].Scopes = []string{lines[i*1000+400]}
	}
	benchmarkPlan(b, content, s)
}

// Hunks that may have lost their indentation are looked for trimmed as well.
func BenchmarkPlanUnindented(b *testing.B) {
	content, s := bigFile("")
	content = strings.ReplaceAll(content, "    value_", "value_")
	benchmarkPlan(b, content, respell(s, strings.TrimSpace))
}

// Every hunk but one is found; for that one the nearest region is looked for.
func BenchmarkPlanRefused(b *testing.B) {
	content, s := bigFile("")
	s.Chunks[150].Lines[0].Text += " stale"
	tree := files("f", content)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		plan := MakePlan(&Patch{Sections: []Section{s}}, tree, carefulPolicy())
		require.Len(b, plan.Errors(), 1)
		require.NotNil(b, plan.Errors()[0].Nearest)
	}
}

// Every chunk fits almost everywhere.
func BenchmarkPlanManyPlaces(b *testing.B) {
	s := Section{Kind: Update, Path: "f"}
	for range 20_000 {
		s.Chunks = append(s.Chunks, chunk("-x", "+y"))
	}
	first := carefulPolicy()
	first.Name, first.TakeFirst = "first", true
	benchmarkPolicies(b, strings.Repeat("x\n", 100_000), []Policy{codexPolicy(), first}, s)
}
