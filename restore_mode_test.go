package oxpatch_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// A file that an operation made was not executable; restored, it is not so again.
func TestRestoreTakesTheExecuteBitBack(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	id := g.apply(addition("new.txt", "x")).ID
	left := g.image()
	require.NoError(t, os.Chmod(g.path("new.txt"), 0o755))
	was := g.image()
	_, err := g.open().Restore(context.Background(), oxpatch.RestoreRequest{ID: id})
	require.NoError(t, err)
	assert.Equal(t, left, g.image())
	g.undo()
	assert.Equal(t, was, g.image())
}
