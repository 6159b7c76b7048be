package oxpatch

import (
	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// WithTreeEffects calls hook before each effect on the working tree; its error is that effect's
// failure, and worktree.ErrKilled ends everything as a kill would.
func WithTreeEffects(hook func(op worktree.Op, path string) error) Option {
	return func(o *options) { o.treeEffects = hook }
}

// WithSteps calls hook before each step of carrying out an operation, named as in operation.go; its
// error is that step's failure, and worktree.ErrKilled ends everything as a kill would.
func WithSteps(hook func(step string) error) Option {
	return func(o *options) { o.steps = func(s step) error { return hook(string(s)) } }
}

// WithStoreEffects is WithTreeEffects for the store, with snapshot.ErrKilled.
func WithStoreEffects(hook func(e snapshot.Effect, path string) error) Option {
	return func(o *options) { o.storeEffects = hook }
}
