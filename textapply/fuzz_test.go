package textapply

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzPlan reads a patch from lines of its own: "A path", "D path" and "U path[>newpath]" begin a
// section, what follows is content or chunks as the helper chunk has them, "=" begins a new chunk.
func FuzzPlan(f *testing.F) {
	f.Add("a\nb\nc\n", "1\n", "U f\n a\n-b\n+x")
	f.Add("a\r\nb", "1\n", "U f\n@@ a\n+x\n=\n-b\n \n$\nU f>g\n+y\nU g>f\n x")
	f.Add(utf8BOM+"a\rb\n", "", "A n\n+x\n+y\nU n\n-x\nD f\nU g>f\n+z\nD n")
	f.Add("\xff\n a\n“a”\n", "a", "U ./f\n-\"a\"\n+b\nU h\n-1")
	f.Add(strings.Repeat("x\n", 200)+"y\n", "x\n", "U f\n x\n x\n-y\n=\n+\nU g\n-x")
	f.Fuzz(func(t *testing.T, first, second, script string) {
		patch, named := readScript(script)
		for _, policy := range fuzzPolicies() {
			tree := files("f", first, "g", second, "bystander", "b\n").link("l", "f")
			plan := MakePlan(patch, tree, policy)
			carryOut(t, tree, plan)
			checkSteps(t, tree, plan, policy)
			for _, c := range plan.Changes {
				require.True(t, named[c.Path], "%q is not in the patch", c.Path)
			}
			require.Len(t, plan.Sections, len(patch.Sections))
			for _, s := range plan.Sections {
				require.Equal(t, s.Status == Failed, len(s.Errs) > 0)
				checkSection(t, s, policy)
			}
		}
		if reversed, err := Reverse(patch); err == nil {
			require.Len(t, reversed.Sections, len(patch.Sections))
		}
	})
}

// fuzzPolicies are the two presets, with and without what a user may add to the default one, and
// two odd ones.
func fuzzPolicies() []Policy {
	skip := firstPolicy()
	skip.SkipApplied = true
	return []Policy{codexPolicy(), carefulPolicy(), firstPolicy(), strictPolicy(), skip,
		{}, {Strict: true, Ending: EndingOfFirstLine, SkipBOM: true}}
}

// readScript returns a patch and the keys that it names; lines it cannot read are left out.
func readScript(script string) (*Patch, map[string]bool) {
	patch, named := &Patch{}, map[string]bool{}
	var s *Section
	begin := func(kind SectionKind, path string) {
		patch.Sections = append(patch.Sections, Section{Kind: kind})
		s = &patch.Sections[len(patch.Sections)-1]
		s.Path, s.MoveTo, _ = strings.Cut(path, ">")
		if kind != Update {
			s.MoveTo = ""
		}
		for _, p := range []string{s.Path, s.MoveTo} {
			key, _ := memTree{}.Locate(p, true, (&planner{}).planned)
			named[key] = true
			if key == "l" {
				named["f"] = true
			}
		}
	}
	for _, line := range strings.Split(script, "\n") {
		switch {
		case strings.HasPrefix(line, "A "):
			begin(Add, line[2:])
		case strings.HasPrefix(line, "D "):
			begin(Delete, line[2:])
		case strings.HasPrefix(line, "U "):
			begin(Update, line[2:])
		case s != nil && s.Kind == Add:
			s.Content = append(s.Content, strings.TrimPrefix(line, "+"))
		case s != nil && s.Kind == Update:
			readChunkLine(s, line)
		}
	}
	return patch, named
}

// checkSection requires what every judged section promises: errors that say where and what, places
// inside the file, and under rules that place hunks together no guess without a word.
func checkSection(t *testing.T, s SectionResult, policy Policy) {
	for _, err := range s.Errs {
		require.NotEmpty(t, err.Problem())
		require.LessOrEqual(t, err.Chunk, len(s.Section.Chunks))
		require.LessOrEqual(t, len(err.Places), mostOthers+1)
		if errors.Is(err, ErrAmbiguous) && !policy.Strict {
			require.NotZero(t, err.Line)
		}
		if n := err.Nearest; n != nil {
			require.Positive(t, n.Line)
			require.GreaterOrEqual(t, n.DiffLine, n.Line)
			require.NotEmpty(t, n.Kind)
		}
	}
	if policy.Strict && s.Status == Planned {
		for _, w := range s.Warnings {
			require.NotEqual(t, "guessed", w.Kind)
			require.NotEqual(t, "overwritten", w.Kind)
		}
	}
	if policy.FirstMatch || s.Status != Planned {
		return
	}
	end := 0
	for i, c := range s.Chunks {
		require.True(t, c.Placed || c.There)
		if len(s.Section.Chunks[i].Old()) > 1 && c.Placed {
			require.GreaterOrEqual(t, c.Line, end, "hunks keep their order")
			end = c.Line
		}
	}
}

func readChunkLine(s *Section, line string) {
	if line == "=" || len(s.Chunks) == 0 {
		s.Chunks = append(s.Chunks, Chunk{})
	}
	if line == "$" || strings.HasPrefix(line, "@@ ") || line != "" && strings.ContainsRune(" +-", rune(line[0])) {
		c, more := &s.Chunks[len(s.Chunks)-1], chunk(line)
		c.Lines = append(c.Lines, more.Lines...)
		c.Scopes = append(c.Scopes, more.Scopes...)
		c.EOF = c.EOF || more.EOF
	}
}
