package oxpatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openoxide/oxpatch/snapshot"
)

// PruneRequest asks for the history to be cut back to the limits of WithKeepOperations, WithKeepAge and
// WithKeepBytes.
type PruneRequest struct {
	// Check says what would be done and changes nothing. It takes no lock.
	Check bool
}

// ForgetRequest names operations whose records are to go for good.
type ForgetRequest struct {
	// IDs are ids of operations or what they begin with.
	IDs []string
	// All stands for all finished operations on the root.
	All bool
	// Check is as in PruneRequest.
	Check bool
}

// PruneResult says what a prune or a forget did. Its JSON form is described by
// schema/oxpatch-1.schema.json.
type PruneResult struct {
	Command string // prune or forget
	Check   bool
	OK      bool
	Root    string
	Stores  []PrunedStore
	// Shared are contents of forgotten operations that are still in the store, because others have
	// them too.
	Shared   []SharedContent
	Problems []Problem
}

// PrunedStore is what was done to one store.
type PrunedStore struct {
	Path string // absolute
	// Operations are the ids of those that were dropped, oldest first. In a store outside of
	// repositories they may be of other roots.
	Operations []string
	// Before and After are the size of the whole store in bytes. With Check After is an estimate.
	Before, After int64
}

// SharedContent is a content of a forgotten operation that another operation has too.
type SharedContent struct {
	Operation string // that was forgotten
	Path      string // in it, as in FileResult
	With      string // the operation that has the same content
	Root      string // that operation's root, where it is another one that has its records in the same store; else ""
}

// Prune drops the operations that are past the limits, in all stores that hold operations on the root,
// and frees their bytes. Every operation does so by itself when a limit is passed by some; Prune does it
// at once and to the point. An error leaves all that was to stay. Errors: ErrBusy, or one of the
// file system; as a *RefusedError with all that went wrong.
func (e *Engine) Prune(ctx context.Context, req PruneRequest) (*PruneResult, error) {
	res := &PruneResult{Command: "prune", Check: req.Check, Root: e.site.Root}
	limits := e.o.retention
	err := e.eachStore(ctx, res, func(p snapshot.Place, s *snapshot.Store) (*snapshot.Pruned, error) {
		var out *snapshot.Pruned
		var err error
		if s == nil {
			out, err = e.site.ForeseePrune(ctx, p, limits, e.o.now())
		} else {
			out, err = s.Prune(ctx, limits, e.o.now(), e.o.lockTimeout)
		}
		if out != nil && out.Over > 0 {
			res.warn(Problem{Kind: KindTooLarge, Message: fmt.Sprintf("what always stays of the histories in %s is %s over the limit of %s",
				p.Dir, snapshot.FormatSize(out.Over), snapshot.FormatSize(limits.Bytes)),
				Hint: "the newest ten operations of each tree stay; oxpatch forget drops single ones"})
		}
		return out, err
	})
	return res.close(err)
}

// Forget drops finished operations on the root from its history and frees their bytes, so that what
// their records held, a secret for one, is in no store of ours any more. Either all of the ids are known
// or nothing is done. Errors: ErrUnknownOperation, ErrPending for an operation that is not settled,
// and those of Prune.
func (e *Engine) Forget(ctx context.Context, req ForgetRequest) (*PruneResult, error) {
	res := &PruneResult{Command: "forget", Check: req.Check, Root: e.site.Root}
	ops, err := e.named(req, res)
	if err != nil {
		return res.close(err)
	}
	if res.Shared, err = e.sharedContents(ctx, ops); err != nil {
		return res.close(err)
	}
	var ids []string
	for _, op := range ops {
		ids = append(ids, op.ID)
	}
	err = e.eachStore(ctx, res, func(p snapshot.Place, s *snapshot.Store) (*snapshot.Pruned, error) {
		if s == nil {
			return e.site.ForeseeForget(ctx, p, ids, e.o.now())
		}
		return s.Forget(ctx, ids, e.o.now(), e.o.lockTimeout)
	})
	return res.close(err)
}

// named returns the operations that are to be forgotten. Only names are read, so that a damaged record
// can be forgotten too.
func (e *Engine) named(req ForgetRequest, res *PruneResult) ([]snapshot.Operation, error) {
	history := e.site.History()
	if req.All {
		ops, err := history.Ops()
		if errors.Is(err, snapshot.ErrTorn) {
			res.warn(Problem{Kind: KindIO, Message: trimmed(err)})
			err = nil
		}
		return ops, err
	}
	var ops []snapshot.Operation
	var failures []error
	for _, id := range req.IDs {
		op, err := history.Find(id)
		switch {
		case err != nil:
			failures = append(failures, e.pendingOr(err, id))
		case !slices.ContainsFunc(ops, func(o snapshot.Operation) bool { return o.ID == op.ID }):
			ops = append(ops, op)
		}
	}
	return ops, errors.Join(failures...)
}

// pendingOr says of an id that is not that of a finished operation whether it is that of one which waits
// to be settled.
func (e *Engine) pendingOr(err error, id string) error {
	pending, _ := e.site.History().Pending()
	for _, rec := range pending {
		if id != "" && strings.HasPrefix(rec.Meta.ID, strings.ToLower(id)) {
			return fmt.Errorf("operation %s: %w", rec.Meta.ID, ErrPending)
		}
	}
	return err
}

// eachStore does something to each store that exists; with Check it gets no store that could be written.
func (e *Engine) eachStore(ctx context.Context, res *PruneResult, do func(snapshot.Place, *snapshot.Store) (*snapshot.Pruned, error)) error {
	var failures []error
	for _, p := range e.site.Read {
		if err := snapshot.Exists(p); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			failures = append(failures, err)
			continue
		}
		var store *snapshot.Store
		if !res.Check {
			var err error
			store, err = e.site.OpenPlace(p, snapshot.Options{Durability: e.o.durability, Effects: e.o.storeEffects})
			if err != nil {
				failures = append(failures, err)
				continue
			}
		}
		out, err := do(p, store)
		failures = append(failures, err)
		res.add(p, out)
		if ctx.Err() != nil || errors.Is(err, snapshot.ErrKilled) {
			break
		}
	}
	return errors.Join(failures...)
}

// add puts what was done to a store into the result.
func (r *PruneResult) add(p snapshot.Place, out *snapshot.Pruned) {
	if out == nil {
		return
	}
	r.Stores = append(r.Stores, PrunedStore{Path: filepath.Clean(p.Dir), Operations: out.Dropped, Before: out.Before, After: out.After})
	for _, d := range out.Damage {
		w := Problem{Kind: KindIO, Message: trimmed(d.Err), Hint: "what it belongs to stays where it is"}
		if d.ID != "" {
			w.Message = fmt.Sprintf("operation %s cannot be read: %s", d.ID, trimmed(d.Err))
			w.Hint = fmt.Sprintf("with oxpatch forget %s it no longer keeps what nobody can tell is needed", d.ID)
		}
		r.warn(w)
	}
}

func (r *PruneResult) warn(p Problem) {
	p.Severity = SeverityWarning
	r.Problems = append(r.Problems, p)
}

// close completes the result.
func (r *PruneResult) close(err error) (*PruneResult, error) {
	r.OK = err == nil
	if err == nil {
		return r, nil
	}
	failed := &Result{}
	err = failed.failOperation(err)
	r.Problems = append(r.Problems, failed.Problems...)
	return r, err
}

// maintain prunes the store that the operation was recorded in, where it has gone past its limits.
// Whatever comes of it, the operation is done; only a kill is an error.
func (op *operation) maintain(store *snapshot.Store, session string, r *Result) error {
	out, err := store.Maintain(op.ctx, op.e.o.retention, session, op.e.o.now())
	switch {
	case errors.Is(err, snapshot.ErrKilled):
		return err
	case op.ctx.Err() != nil:
		return nil
	case err != nil:
		r.warn(Problem{Kind: KindIO, Message: "the history could not be pruned: " + trimmed(err), Hint: "oxpatch prune tries again"})
	case out != nil && len(out.Damage) > 0:
		r.warn(Problem{Kind: KindIO, Message: "the undo store is damaged: " + trimmed(out.Damage[0].Err), Hint: "oxpatch prune --check lists all of it"})
	}
	return nil
}

// FormatSize writes a number of bytes in the unit that suits it, as messages do: 1.5 MiB.
func FormatSize(n int64) string { return snapshot.FormatSize(n) }

// MarshalJSON returns the JSON form.
func (r *PruneResult) MarshalJSON() ([]byte, error) {
	w := wirePrune{
		Schema: Schema, Command: r.Command, OK: r.OK, Check: r.Check, Operations: []string{}, Stores: []wirePruned{}, Problems: WireProblems(r.Problems),
	}
	w.Root, w.RootBase64 = text(r.Root)
	for _, s := range r.Stores {
		p := wirePruned{Operations: list(s.Operations), Before: s.Before, After: s.After, Freed: s.Before - s.After}
		p.Path, p.PathBase64 = text(s.Path)
		w.Stores = append(w.Stores, p)
		w.Operations = append(w.Operations, s.Operations...)
	}
	slices.Sort(w.Operations)
	w.Operations = slices.Compact(w.Operations)
	if r.Command == "forget" {
		shared := []wireShared{}
		for _, s := range r.Shared {
			one := wireShared{Operation: s.Operation, Path: s.Path, With: s.With}
			one.Root, one.RootBase64 = text(s.Root)
			shared = append(shared, one)
		}
		w.Shared = &shared
	}
	return marshal(w)
}

type wirePrune struct {
	Schema     string        `json:"schema"`
	Command    string        `json:"command"`
	OK         bool          `json:"ok"`
	Check      bool          `json:"check"`
	Root       string        `json:"root"`
	RootBase64 string        `json:"root_base64,omitempty"`
	Operations []string      `json:"operations"`
	Stores     []wirePruned  `json:"stores"`
	Shared     *[]wireShared `json:"shared,omitempty"`
	Problems   []Problem     `json:"problems"`
}

type wirePruned struct {
	Path       string   `json:"path"`
	PathBase64 string   `json:"path_base64,omitempty"`
	Operations []string `json:"operations"`
	Before     int64    `json:"bytes_before"`
	After      int64    `json:"bytes_after"`
	Freed      int64    `json:"bytes_freed"`
}

type wireShared struct {
	Operation  string `json:"operation"`
	Path       string `json:"path"`
	With       string `json:"with"`
	Root       string `json:"root,omitempty"`
	RootBase64 string `json:"root_base64,omitempty"`
}
