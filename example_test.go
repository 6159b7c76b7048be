package oxpatch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/change"
)

// The examples work in a folder of their own, whose store lies beside it.
func exampleEngine(files map[string]string) (engine *oxpatch.Engine, remove func()) {
	base, err := os.MkdirTemp("", "oxpatch-example-")
	check(err)
	tree := filepath.Join(base, "tree")
	check(os.Mkdir(tree, 0o755))
	for name, content := range files {
		check(os.WriteFile(filepath.Join(tree, name), []byte(content), 0o644))
	}
	engine, err = oxpatch.Open(tree, oxpatch.WithEnv(func(name string) string {
		if name == "OXPATCH_STORE" {
			return filepath.Join(base, "store")
		}
		return ""
	}))
	check(err)
	return engine, func() { os.RemoveAll(base) }
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func show(engine *oxpatch.Engine, name string) {
	data, err := os.ReadFile(filepath.Join(engine.Root(), name))
	if err != nil {
		fmt.Println(name, "is not there")
		return
	}
	fmt.Printf("%s: %q\n", name, data)
}

const greeting = `*** Begin Patch
*** Update File: hello.txt
@@
-hello
+good morning
*** Add File: bye.txt
+good night
*** End Patch
`

// Open an engine on a folder, apply a patch, take it back.
func Example() {
	dir, err := os.MkdirTemp("", "oxpatch-example-")
	check(err)
	defer os.RemoveAll(dir)
	tree := filepath.Join(dir, "tree")
	check(os.Mkdir(tree, 0o755))
	check(os.WriteFile(filepath.Join(tree, "hello.txt"), []byte("hello\n"), 0o644))

	// Without options the store is in the repository or, as here, in the user's state folder.
	engine, err := oxpatch.Open(tree, oxpatch.WithEnv(func(name string) string {
		return map[string]string{"XDG_STATE_HOME": filepath.Join(dir, "state")}[name]
	}))
	check(err)
	res, err := engine.Apply(context.Background(), oxpatch.Request{Patch: []byte(greeting)})
	check(err)
	for _, f := range res.Files {
		fmt.Printf("%s %s +%d -%d\n", f.Change, f.Path, f.Added, f.Removed)
	}
	show(engine, "hello.txt")

	_, err = engine.Undo(context.Background(), oxpatch.UndoRequest{})
	check(err)
	show(engine, "hello.txt")
	show(engine, "bye.txt")
	// Output:
	// modify hello.txt +1 -1
	// add bye.txt +1 -0
	// hello.txt: "good morning\n"
	// hello.txt: "hello\n"
	// bye.txt is not there
}

// A patch that does not fit changes nothing. The error says why, and so does the result, file by
// file and hunk by hunk.
func ExampleEngine_Apply_refused() {
	engine, remove := exampleEngine(map[string]string{"hello.txt": "howdy\n"})
	defer remove()
	res, err := engine.Apply(context.Background(), oxpatch.Request{Patch: []byte(greeting)})
	fmt.Println("no match:", errors.Is(err, oxpatch.ErrNoMatch))
	var refused *oxpatch.RefusedError
	if errors.As(err, &refused) {
		p := refused.Problems[0]
		fmt.Println(p.Kind, p.Path, "hunk", p.Hunk)
	}
	fmt.Println("applied:", res.Applied, "skipped:", res.SkippedPaths)
	show(engine, "bye.txt")
	// Output:
	// no match: true
	// no_match hello.txt hunk 1
	// applied: false skipped: [bye.txt hello.txt]
	// bye.txt is not there
}

// Check says what would be done, and Diff shows it.
func ExampleEngine_Apply_check() {
	engine, remove := exampleEngine(map[string]string{"hello.txt": "hello\n"})
	defer remove()
	res, err := engine.Apply(context.Background(), oxpatch.Request{Patch: []byte(greeting), Check: true, Diff: true})
	check(err)
	fmt.Println("applied:", res.Applied)
	fmt.Printf("%s", res.Diff)
	// Output:
	// applied: false
	// diff --git a/hello.txt b/hello.txt
	// --- a/hello.txt
	// +++ b/hello.txt
	// @@ -1 +1 @@
	// -hello
	// +good morning
	// diff --git a/bye.txt b/bye.txt
	// new file mode 100644
	// --- /dev/null
	// +++ b/bye.txt
	// @@ -0,0 +1 @@
	// +good night
}

// The Gate sees the changes before the first of them is made, and can refuse them all.
func ExampleRequest_gate() {
	engine, remove := exampleEngine(map[string]string{"hello.txt": "hello\n"})
	defer remove()
	noNewFiles := func(_ context.Context, changes []oxpatch.Change) error {
		for _, c := range changes {
			if c.Before.Kind == change.Absent {
				return fmt.Errorf("%s: new files need a review", c.Path)
			}
		}
		return nil
	}
	_, err := engine.Apply(context.Background(), oxpatch.Request{Patch: []byte(greeting), Gate: noNewFiles})
	fmt.Println(err)
	fmt.Println("declined:", errors.Is(err, oxpatch.ErrDeclined))
	show(engine, "hello.txt")
	// Output:
	// declined: bye.txt: new files need a review
	// declined: true
	// hello.txt: "hello\n"
}

// Undo is refused where a file was changed since: that change would be lost.
func ExampleEngine_Undo() {
	engine, remove := exampleEngine(map[string]string{"hello.txt": "hello\n"})
	defer remove()
	_, err := engine.Apply(context.Background(), oxpatch.Request{Patch: []byte(greeting)})
	check(err)
	check(os.WriteFile(filepath.Join(engine.Root(), "bye.txt"), []byte("see you\n"), 0o644))

	res, err := engine.Undo(context.Background(), oxpatch.UndoRequest{})
	fmt.Println("drift:", errors.Is(err, oxpatch.ErrDrift))
	for _, p := range res.Problems {
		fmt.Println(p.Kind, p.Path)
	}
	show(engine, "hello.txt")
	// Output:
	// drift: true
	// drift bye.txt
	// hello.txt: "good morning\n"
}

// Log lists what was done, newest first.
func ExampleEngine_Log() {
	engine, remove := exampleEngine(map[string]string{"hello.txt": "hello\n"})
	defer remove()
	_, err := engine.Apply(context.Background(), oxpatch.Request{Patch: []byte(greeting), Label: "politeness"})
	check(err)
	_, err = engine.Undo(context.Background(), oxpatch.UndoRequest{})
	check(err)

	for op, err := range engine.Log(context.Background(), oxpatch.LogRequest{}) {
		check(err)
		fmt.Printf("%s, %s: %q\n", op.Kind, op.State, op.Label)
		for _, p := range op.Paths {
			fmt.Println(" ", p.Change, p.Path)
		}
	}
	// Output:
	// undo, done: ""
	//   modify hello.txt
	//   delete bye.txt
	// apply, undone: "politeness"
	//   modify hello.txt
	//   add bye.txt
}

// A Base makes the paths of a patch count from a folder below the root.
func ExampleRequest_base() {
	engine, remove := exampleEngine(nil)
	defer remove()
	check(os.Mkdir(filepath.Join(engine.Root(), "docs"), 0o755))
	patch := "*** Begin Patch\n*** Add File: index.md\n+# Manual\n*** End Patch\n"
	res, err := engine.Apply(context.Background(), oxpatch.Request{Patch: []byte(patch), Base: "docs"})
	check(err)
	fmt.Println(res.AppliedPaths)
	// Output:
	// [docs/index.md]
}

// An agent has three ideas and keeps the first that passes the project's tests.
func ExampleEngine_Begin() {
	engine, remove := exampleEngine(map[string]string{"add.sh": "echo $(($1 - $2))\n"})
	defer remove()
	passes := func() bool {
		out, err := exec.Command("sh", filepath.Join(engine.Root(), "add.sh"), "2", "3").Output()
		return err == nil && string(out) == "5\n"
	}
	ctx := context.Background()
	for i, idea := range []string{"$1 * $2", "$1 + $2", "$2 + $1"} {
		group, err := engine.Begin(ctx, fmt.Sprintf("idea %d", i+1))
		check(err)
		patch := "*** Begin Patch\n*** Update File: add.sh\n@@\n-echo $(($1 - $2))\n+echo $((" + idea + "))\n*** End Patch\n"
		_, err = group.Apply(ctx, oxpatch.Request{Patch: []byte(patch)})
		check(err)
		if passes() {
			check(group.Commit())
			fmt.Printf("idea %d passes\n", i+1)
			break
		}
		res, err := group.Rollback(ctx)
		check(err)
		fmt.Printf("idea %d fails; %d operation taken back\n", i+1, len(res.Reverts))
	}
	text, err := os.ReadFile(filepath.Join(engine.Root(), "add.sh"))
	check(err)
	fmt.Print(string(text))
	// Output:
	// idea 1 fails; 1 operation taken back
	// idea 2 passes
	// echo $(($1 + $2))
}

// Record what stands there before something else changes it, and bring it back.
func ExampleEngine_Checkpoint() {
	engine, remove := exampleEngine(map[string]string{"hello.txt": "hello\n"})
	defer remove()
	before, err := engine.Checkpoint(context.Background(), oxpatch.CheckpointRequest{Tree: true})
	check(err)

	// As a command of the shell would do.
	check(os.WriteFile(filepath.Join(engine.Root(), "hello.txt"), []byte("spoilt\n"), 0o644))
	check(os.WriteFile(filepath.Join(engine.Root(), "debris.txt"), nil, 0o644))

	res, err := engine.Restore(context.Background(), oxpatch.RestoreRequest{ID: before.ID, DeleteNew: true})
	check(err)
	for _, f := range res.Files {
		fmt.Println(f.Change, f.Path)
	}
	show(engine, "hello.txt")
	// Output:
	// delete debris.txt
	// modify hello.txt
	// hello.txt: "hello\n"
}
