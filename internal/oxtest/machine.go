package oxtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Lacks skips a test that needs what this machine has not, and says which machine that is.
func Lacks(t testing.TB, what string, args ...any) {
	t.Helper()
	host, _ := os.Hostname()
	t.Skipf("machine %q (%s/%s, user id %d) lacks %s", host, runtime.GOOS, runtime.GOARCH, os.Geteuid(), fmt.Sprintf(what, args...))
}

// NeedProgram skips a test on a machine without a program on its PATH.
func NeedProgram(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		Lacks(t, "the program %s on its PATH", name)
	}
}

// NeedRoot skips a test that only root can do.
func NeedRoot(t testing.TB, why string) {
	t.Helper()
	if os.Geteuid() != 0 {
		Lacks(t, "a test run by root, who alone can %s", why)
	}
}

// NeedPlainNames skips a case about names where the file system of temporary folders takes names that
// differ for the same: in upper and lower case, or in the Unicode form of a letter.
func (c *Case) NeedPlainNames(t testing.TB) {
	t.Helper()
	if c.Group != "path" && c.Group != "move" {
		return
	}
	dir := t.TempDir()
	for name, other := range map[string]string{"case": "CASE", "\u00e9": "e\u0301"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(dir, other)); err == nil {
			Lacks(t, "a file system for temporary folders that tells %q from %q", name, other)
		}
	}
}
