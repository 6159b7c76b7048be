package oxpatch

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/snapshot"
)

// sharedContents finds the contents of operations that other records of their stores have too: those of
// other operations on the root, of other roots, and of operations that are not settled.
func (e *Engine) sharedContents(ctx context.Context, forget []snapshot.Operation) ([]SharedContent, error) {
	goes := map[string]bool{}
	for _, op := range forget {
		goes[op.ID] = true
	}
	wanted := map[string][]SharedContent{} // by the name of the content
	for _, op := range slices.Backward(forget) {
		err := eachContent(ctx, op, func(_ *snapshot.Record, path string, s snapshot.StateMeta) {
			one := SharedContent{Operation: op.ID, Path: change.DisplayPath(path)}
			list := wanted[s.OID]
			if s.OID == "" || s.Size == 0 || len(list) > 0 && list[len(list)-1] == one {
				return
			}
			wanted[s.OID] = append(list, one)
		})
		if err != nil {
			return nil, err
		}
	}
	all, _ := e.site.History().Neighbours() // what cannot be listed is named when the stores are gone through
	var out []SharedContent
	for _, op := range all {
		if len(wanted) == 0 {
			break
		}
		ours := slices.Contains(e.site.Read, op.Place)
		if ours && goes[op.ID] {
			continue
		}
		err := eachContent(ctx, op, func(rec *snapshot.Record, _ string, s snapshot.StateMeta) {
			for _, one := range wanted[s.OID] {
				if one.With = op.ID; !ours {
					one.Root = rec.Meta.Root
				}
				out = append(out, one)
			}
			delete(wanted, s.OID)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b SharedContent) int {
		return cmp.Or(strings.Compare(a.Operation, b.Operation), strings.Compare(a.Path, b.Path), strings.Compare(b.With, a.With))
	})
	return slices.Compact(out), nil
}

// eachContent calls found for each state that an operation's record holds, those of a whole tree too.
// What cannot be read is passed over: it is named when the store is gone through. The error is that of
// ctx.
func eachContent(ctx context.Context, op snapshot.Operation, found func(rec *snapshot.Record, path string, s snapshot.StateMeta)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rec, err := op.Read()
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	defer rec.Close()
	for _, p := range rec.Meta.Paths {
		found(rec, p.Path, p.Before)
		found(rec, p.Path, p.After)
	}
	if rec.Meta.Tree != nil {
		_ = rec.WalkTree(ctx, func(path string, s snapshot.StateMeta) error { // a torn tree as above
			found(rec, path, s)
			return nil
		})
	}
	return ctx.Err()
}
