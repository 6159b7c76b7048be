package gitapply_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/internal/oxtest"
)

// corpus returns the recorded runs of one version of git.
func corpus(t testing.TB, version string) []oxtest.GitCase {
	t.Helper()
	cases, err := oxtest.ReadGitCases("../testdata")
	require.NoError(t, err)
	var all []oxtest.GitCase
	for _, c := range cases {
		if c.Git == version {
			all = append(all, c)
		}
	}
	return all
}
