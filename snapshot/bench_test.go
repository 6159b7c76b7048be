package snapshot

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/change"
)

// large returns an 18 MB file with 300 edits.
func large() Entry { return lines(300_000) }

// medium returns a file of 1.8 MB with 300 edits, which is written as large ones are.
func medium() Entry { return lines(30_000) }

func lines(n int) Entry {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %6d of a long file, with words: %x\n", i, uint32(i)*2654435761)
	}
	before := text.String()
	var edits []change.Edit
	for i := range 300 {
		at := i * (len(before) / 300)
		edits = append(edits, change.Edit{Start: at, End: at + 5, New: []byte("changed")})
	}
	e := modify("large.txt", before, string(change.ApplyEdits([]byte(before), edits)))
	e.Edits = edits
	return e
}

func BenchmarkRecord(b *testing.B) {
	inputs := map[string][]Entry{
		"one_small_file":     numbered(1),
		"3000_small_files":   numbered(3000),
		"18MB_and_300_edits": {large()},
	}
	for name, entries := range inputs {
		for _, durability := range []Durability{DurabilityProcess, DurabilityRecord} {
			b.Run(name+"/"+string(durability), func(b *testing.B) {
				_, store := plainStore(b, Options{Durability: durability})
				for b.Loop() {
					publish(b, store, Meta{}, entries...)
				}
			})
		}
	}
}

// BenchmarkWhole is what a small operation pays for its history, from finding the root on.
func BenchmarkWhole(b *testing.B) {
	for _, durability := range []Durability{DurabilityProcess, DurabilityRecord} {
		b.Run(string(durability), func(b *testing.B) {
			dir, env := newRepo(b), stateEnv(b)
			entries := numbered(1)
			for b.Loop() {
				site := locate(b, dir, env)
				release, err := site.Lock(context.Background(), 0)
				require.NoError(b, err)
				store := open(b, site, Options{Durability: durability})
				releaseStore, err := store.Lock(context.Background(), 0)
				require.NoError(b, err)
				site.Repo.Head()
				_, err = site.History().Pending()
				require.NoError(b, err)
				publish(b, store, Meta{ID: store.NewID(time.Now())}, entries...)
				releaseStore()
				release()
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	site, store := plainStore(b, Options{Durability: DurabilityProcess})
	r := publish(b, store, Meta{}, numbered(3000)...)
	for b.Loop() {
		got, err := site.History().Read(r.Meta.ID)
		require.NoError(b, err)
		for i := range got.Meta.Paths {
			_, err := got.Before(i)
			require.NoError(b, err)
		}
	}
}

// BenchmarkGoGitLoose is the same content written the plain way: loose objects through go-git.
func BenchmarkGoGitLoose(b *testing.B) {
	for _, n := range []int{1, 3000} {
		entries := numbered(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				_, store := plainStore(b, Options{Durability: DurabilityProcess})
				b.StartTimer()
				odb := filesystem.NewStorage(osfs.New(store.place.Dir), cache.NewObjectLRUDefault())
				for _, e := range entries {
					for _, s := range []change.State{e.Before, e.After} {
						o := &plumbing.MemoryObject{}
						o.SetType(plumbing.BlobObject)
						_, _ = o.Write(s.Content)
						_, err := odb.SetEncodedObject(o)
						require.NoError(b, err)
					}
				}
			}
		})
	}
}

// What every operation pays for being told that there is nothing to prune, in a store that is nearly at
// its limits.
func BenchmarkMaintainNothing(b *testing.B) {
	site, store := plainStore(b, Options{Durability: DurabilityProcess})
	for range 200 {
		publish(b, store, Meta{}, modify("f", noise(2000), noise(2100)))
		if packCount(b, store) > maxPacks {
			_, err := store.Maintain(context.Background(), DefaultRetention(), "", time.Now())
			require.NoError(b, err)
		}
	}
	require.Len(b, opIDs(b, site), 200)
	for b.Loop() {
		out, err := store.Maintain(context.Background(), DefaultRetention(), "", time.Now())
		if err != nil || out != nil {
			b.Fatal(err, out)
		}
	}
}
