package worktree

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsGitName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".git": true, ".GIT": true, ".Git": true,
		".git.": true, ".git ": true, ".git . .": true, ".git...": true,
		"git~1": true, "GIT~1": true, "git~1.": true, "git~1 ": true,
		".git::$INDEX_ALLOCATION": true, ".git:stream": true, ".GIT ::$DATA": true, "git~1:x": true,
		".g\u200cit": true, "\u200d.git": true, ".git\ufeff": true, ".gi\u202at": true, ".g\u206fit": true, ".\u200egit": true,
		".git\u200c.": true,
		`.git\hooks`:  true, `a\.git\b`: true, `a\git~1`: true,
		".gitignore": false, ".gitmodules": false, ".gitattributes": false, ".github": false,
		"git": false, "git~2": false, "git~10": false, ".git~1": false, "x.git": false, ".gitx": false,
		".git.x": false, ".git .x:y": false, "dot.git.": false, "": false, ".": false,
		".g\u200bit": false, ".g\xffit": false,
	} {
		assert.Equal(t, want, isGitName(name), "%q", name)
	}
}

func TestFixedOnWindows(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a.txt": true, "console": true, "com": true, "com10": true, "lpt.txt": true, ".a": true, "nul-a": true,
		"a.": false, "a ": false, "a:b": false, "NUL": false, "nul.txt": false, "con": false, "COM1": false,
		"com1.log": false, "lpt9": false, "aux .c": false, "com²": false, "conin$": false,
	} {
		assert.Equal(t, want, fixedOnWindows(name), "%q", name)
	}
}
