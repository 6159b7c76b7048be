package oxpatch_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

// What is dropped from the history while it is read is no damage.
func TestLogOfWhatIsForgottenMeanwhile(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("a.txt", "1\n")
	ids := []string{}
	for _, next := range [][2]string{{"1", "2"}, {"2", "3"}, {"3", "4"}} {
		ids = append(ids, g.apply(replacement("a.txt", next[0], next[1])).ID)
	}
	var listed []string
	for op, err := range g.open().Log(context.Background(), oxpatch.LogRequest{}) {
		require.NoError(t, err)
		listed = append(listed, op.ID)
		if len(listed) == 1 {
			_, err := g.open().Forget(context.Background(), oxpatch.ForgetRequest{IDs: ids[1:2]})
			require.NoError(t, err)
		}
	}
	assert.Equal(t, []string{ids[2], ids[0]}, listed)
}

// A store that cannot be read at all is one problem, not two.
func TestLogOfAnUnreadableStore(t *testing.T) {
	t.Parallel()
	g := newRepo(t)
	g.write("a.txt", "1\n")
	g.apply(replacement("a.txt", "1", "2"))
	g.write(".git/oxpatch/store/format", "nonsense\n")
	failed := 0
	for _, err := range g.open().Log(context.Background(), oxpatch.LogRequest{}) {
		require.Error(t, err)
		failed++
	}
	assert.Equal(t, 1, failed)
}
