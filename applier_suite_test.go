package oxpatch_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
	"github.com/openoxide/oxpatch/internal/appliertest"
)

func TestAppliersKeepTheSamePromises(t *testing.T) {
	t.Parallel()
	for name, applier := range map[string]func(*oxpatch.Engine) oxpatch.PatchApplier{
		"text":   func(e *oxpatch.Engine) oxpatch.PatchApplier { return oxpatch.TextApplier{Engine: e} },
		"git":    func(e *oxpatch.Engine) oxpatch.PatchApplier { return oxpatch.GitApplier{Engine: e} },
		"engine": func(e *oxpatch.Engine) oxpatch.PatchApplier { return e },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			appliertest.Run(t,
				func(t testing.TB, dir string) oxpatch.PatchApplier { return applier(suiteEngine(t, dir)) },
				func(t testing.TB, dir string) error {
					_, err := suiteEngine(t, dir).Undo(context.Background(), oxpatch.UndoRequest{})
					return err
				})
		})
	}
}

func suiteEngine(t testing.TB, dir string) *oxpatch.Engine {
	t.Helper()
	state := filepath.Join(filepath.Dir(dir), "state")
	g := &ground{t: t, dir: dir, env: map[string]string{"XDG_STATE_HOME": state, "HOME": state}}
	e := g.open()
	require.Equal(t, dir, e.Root())
	return e
}
