package snapshot

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// go-git's root package and its objects pull in openpgp, ssh and an HTTP client, which double the
// time that every call of the program takes to start.
func TestHeavyPackagesAreNotLinked(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".", "../gitrepo").CombinedOutput()
	require.NoError(t, err, string(out))
	deps := strings.Fields(string(out))
	require.Contains(t, deps, "github.com/go-git/go-git/v5/storage/filesystem")
	for _, dep := range deps {
		for _, heavy := range []string{"openpgp", "crypto/ssh", "net/http", "crypto/tls", "go-git/v5/plumbing/object"} {
			assert.NotContains(t, dep, heavy)
		}
		assert.NotEqual(t, "github.com/go-git/go-git/v5", dep)
	}
}
