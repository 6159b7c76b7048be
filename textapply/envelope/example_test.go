package envelope_test

import (
	"errors"
	"fmt"

	"github.com/openoxide/oxpatch/textapply/envelope"
)

func ExampleParse() {
	patch, err := envelope.Parse(`*** Begin Patch
*** Update File: main.go
@@ func main() {
-	old()
+	renewed()
*** End Patch
`, envelope.Lenient)
	if err != nil {
		fmt.Println(err)
		return
	}
	chunk := patch.Sections[0].Chunks[0]
	fmt.Printf("%s: %q: %q -> %q\n", patch.Sections[0].Path, chunk.Scopes[0], chunk.Old(), chunk.New())
	// Output: main.go: "func main() {": ["\told()"] -> ["\trenewed()"]
}

func ExampleParseError() {
	_, err := envelope.Parse("*** Begin Patch\n*** Update File: main.go\n*** End Patch\n", envelope.Lenient)
	fmt.Println(err)
	fmt.Println(errors.Is(err, envelope.ErrEmptySection))
	// Output:
	// Invalid patch hunk on line 2: Update file hunk for path 'main.go' is empty
	// true
}

func ExampleParser() {
	var p envelope.Parser
	for _, delta := range []string{"*** Begin Patch\n*** Add Fi", "le: a.txt\n+one\n+t", "wo\n*** End Patch"} {
		sections, err := p.Push(delta)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, s := range sections {
			fmt.Printf("%s %q\n", s.Path, s.Content)
		}
	}
	patch, err := p.Finish()
	fmt.Println(len(patch.Sections), err)
	// Output:
	// a.txt ["one"]
	// a.txt ["one" "two"]
	// 1 <nil>
}
