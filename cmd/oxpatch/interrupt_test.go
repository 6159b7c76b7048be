package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
)

// cmdHold takes the lock on a working tree as another process would. It is this one, the scripts'
// programs are others.
func cmdHold(ts *testscript.TestScript, _ bool, args []string) {
	site, err := snapshot.Locate(ts.MkAbs(args[0]), ts.Getenv)
	ts.Check(err)
	release, err := site.Lock(context.Background(), -1)
	ts.Check(err)
	ts.Setenv("HOLDER", strconv.Itoa(os.Getpid()))
	state(ts).release = release
	ts.Defer(release)
}

func cmdRelease(ts *testscript.TestScript, _ bool, _ []string) { state(ts).release() }

// cmdInterrupt writes the record of an operation, notes it as pending, and carries it out for the
// first file only.
func cmdInterrupt(ts *testscript.TestScript, _ bool, args []string) {
	site, err := snapshot.Locate(ts.MkAbs(args[0]), ts.Getenv)
	ts.Check(err)
	store, err := site.Open(snapshot.Options{})
	ts.Check(err)
	var entries []snapshot.Entry
	for _, path := range args[1:] {
		before, err := os.ReadFile(filepath.Join(site.Root, path))
		ts.Check(err)
		entries = append(entries, snapshot.Entry{Change: change.Change{
			Path:   path,
			Before: change.State{Kind: change.File, Mode: 0o644, Content: before},
			After:  change.State{Kind: change.File, Mode: 0o644, Content: []byte("after\n")},
		}})
	}
	now := time.Now()
	meta := snapshot.Meta{ID: store.NewID(now), Kind: snapshot.KindApply, Time: now, Tool: "test"}
	rec, err := store.Put(context.Background(), meta, entries, nil)
	ts.Check(err)
	ts.Check(store.SetPending(rec))
	first := entries[0].Change
	ts.Check(os.WriteFile(filepath.Join(site.Root, first.Path), first.After.Content, 0o644))
	ts.Setenv("INTERRUPTED", meta.ID)
}
