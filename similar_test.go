package oxpatch_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch"
)

func TestHintsNameTheFileThatIsMeant(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ base, path, want string }{
		"a diff's prefix":               {"", "a/src/Main.go", "src/Main.go"},
		"quotes":                        {"", `"src/Main.go"`, "src/Main.go"},
		"backticks":                     {"", "`src/Main.go`", "src/Main.go"},
		"backslashes":                   {"", `src\Main.go`, "src/Main.go"},
		"other case":                    {"", "src/main.go", "src/Main.go"},
		"from the root, in a subfolder": {"src", "src/Main.go", "Main.go"},
		"nothing like it":               {"", "src/other.go", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRepo(t)
			g.write("src/Main.go", "x\n")
			req := request(envelope("*** Update File: "+tt.path, "@@", "-x", "+y"))
			req.Base = tt.base
			res, err := g.open().Apply(t.Context(), req)
			require.ErrorIs(t, err, oxpatch.ErrMissing)
			require.Len(t, res.Problems, 1)
			if tt.want == "" {
				assert.NotContains(t, res.Problems[0].Hint, "there is")
				return
			}
			assert.Equal(t, "there is "+tt.want+"; if that is meant, name it so", res.Problems[0].Hint)
		})
	}
}
