package main

import (
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/openoxide/oxpatch/internal/oxtest"
)

// The test binary is the program too: started under one of these names it runs main, as a process
// of its own.
func TestMain(m *testing.M) {
	setUmask()
	commands := map[string]func(){"oxpatch": main, "apply_patch": main, "applypatch": main}
	if runtime.GOOS == "linux" { // elsewhere a file system may take these for the same name
		commands["APPLY_PATCH"], commands["Apply_Patch.exe"] = main, main
		commands["apply_patches"] = main
	}
	commands["asnobody"] = asNobody
	testscript.Main(m, commands)
}

// checker returns the compiled schema, which all tests share.
var checker = sync.OnceValue(func() *oxtest.Checker {
	c, err := oxtest.NewChecker()
	if err != nil {
		panic(err)
	}
	return c
})

// cleanEnv returns an environment in which neither the user's settings nor an enclosing repository
// are seen.
func cleanEnv(home string, more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "TMPDIR=" + os.TempDir(), "LC_ALL=C", "TZ=UTC",
		"GORACE=atexit_sleep_ms=0", // with -race every process would sleep for a second at its end
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
	}, more...)
}
