package oxpatch

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Group is a set of operations of one turn that stand or fall together: what an agent tries until it
// keeps or drops it. The operations are recorded one by one, as any others; a group that is neither
// committed nor rolled back leaves them standing, and they can be taken back as such, by UndoRequest.
// A Group may be used by several goroutines, and is a PatchApplier.
type Group struct {
	e    *Engine
	turn string

	mu     sync.Mutex
	ids    []string // of the operations, oldest first
	closed bool
}

// ErrGroupClosed: the group was committed or rolled back.
var ErrGroupClosed = errors.New("the group is closed")

// Begin opens a group. Its operations carry the turn, unless their request says otherwise. Nothing is
// written, and no lock is held between the operations.
func (e *Engine) Begin(ctx context.Context, turn string) (*Group, error) {
	return &Group{e: e, turn: turn}, ctx.Err()
}

// Apply is Engine.Apply within the group.
func (g *Group) Apply(ctx context.Context, req Request) (*Result, error) {
	if req.Turn == "" {
		req.Turn = g.turn
	}
	return g.do("apply", func() (*Result, error) { return g.e.Apply(ctx, req) })
}

// Checkpoint records files of the group's tree as they are now, so that Rollback brings them back
// whatever is done to them outside of oxpatch; see Engine.Checkpoint.
func (g *Group) Checkpoint(ctx context.Context, req CheckpointRequest) (*Result, error) {
	if req.Turn == "" {
		req.Turn = g.turn
	}
	return g.do("checkpoint", func() (*Result, error) { return g.e.Checkpoint(ctx, req) })
}

// do runs an operation of the group and notes its id. Operations of a group wait for each other, so
// that their order is that of the calls.
func (g *Group) do(command string, run func() (*Result, error)) (*Result, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		res := g.e.newResult(command)
		res.finish(g.e.o.now())
		return res, res.failOperation(ErrGroupClosed)
	}
	res, err := run()
	if res.ID != "" {
		g.ids = append(g.ids, res.ID)
	}
	return res, err
}

// Operations returns the ids of the group's operations, oldest first.
func (g *Group) Operations() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.ids)
}

// Rollback takes everything back that the group's operations did and that still stands, as one
// operation, and closes the group. What a checkpoint of the group recorded comes back as it was then,
// whoever changed it since. Any other file must be as the group left it; otherwise nothing is
// changed, the error is ErrDrift, and the group stays open: put the file right and roll back again, or
// take the operations back with UndoRequest.IDs and Merge or Force.
func (g *Group) Rollback(ctx context.Context) (*Result, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		res := g.e.newResult("undo")
		res.finish(g.e.o.now())
		return res, res.failOperation(ErrGroupClosed)
	}
	if len(g.ids) == 0 {
		res := g.e.newResult("undo")
		res.OK, res.Exact, g.closed = true, true, true
		res.finish(g.e.o.now())
		return res, nil
	}
	res, err := g.e.reverse(ctx, &reversal{command: "undo", choose: choice{ids: slices.Clone(g.ids), group: true}})
	g.closed = err == nil
	return res, err
}

// Commit closes the group; its operations stay. It can be called once.
func (g *Group) Commit() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrGroupClosed
	}
	g.closed = true
	return nil
}
