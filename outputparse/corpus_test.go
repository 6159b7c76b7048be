package outputparse_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/internal/oxtest"
)

func corpus(t *testing.T) []oxtest.GitCase {
	t.Helper()
	all, err := oxtest.ReadGitCases("../testdata")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}
