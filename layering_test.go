package oxpatch_test

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/internal/oxtest"
)

const module = "github.com/openoxide/oxpatch"

// rule says what a package may depend on, all the way down.
type rule struct {
	project []string // packages of this module
	pure    bool     // neither files nor processes nor the network, as far as its own imports go
}

// layers has a row for every package below the root. The root may depend on all of them, commands
// on everything; what only tests use stands in no other row, so nothing else can depend on it.
func layers() map[string]rule {
	return map[string]rule{
		"change":              {pure: true},
		"outputparse":         {pure: true},
		"schema":              {pure: true},
		"linediff":            {pure: true},
		"gitrepo":             {},
		"textapply":           {project: []string{"change"}, pure: true},
		"textapply/envelope":  {project: []string{"change", "textapply"}, pure: true},
		"textapply/editblock": {project: []string{"change", "textapply"}, pure: true},
		"textapply/udiff":     {project: []string{"change", "textapply"}, pure: true},
		"unified":             {project: []string{"change", "linediff"}, pure: true},
		"merge3":              {project: []string{"linediff"}, pure: true},
		"worktree":            {project: []string{"change"}},
		"scan":                {project: []string{"change", "worktree"}},
		"snapshot":            {project: []string{"change", "gitrepo"}},
		"history":             {project: []string{"change", "gitrepo", "snapshot"}, pure: true},
		"gitapply":            {project: []string{"change", "gitrepo", "outputparse"}},
		"internal/oxtest":     {project: []string{"schema"}},
		"internal/appliertest": {project: []string{
			"", "change", "gitapply", "gitrepo", "history", "internal/oxtest", "linediff", "merge3", "outputparse", "scan", "schema", "snapshot",
			"textapply", "textapply/editblock", "textapply/envelope", "textapply/udiff", "unified", "worktree",
		}},
	}
}

// effects are the packages of the standard library that reach outside.
func effects() []string { return []string{"net", "net/http", "os", "os/exec", "syscall"} }

func TestImportsGoDownOnly(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			t.Parallel()
			packages := listPackages(t, goos)
			require.Contains(t, packages, "change", "the list of packages is not that of this module")
			for name, p := range packages {
				checkLayer(t, name, p)
			}
		})
	}
}

func checkLayer(t *testing.T, name string, p pkg) {
	t.Helper()
	if p.command {
		return
	}
	if name == "" {
		for _, d := range p.project {
			assert.False(t, strings.HasPrefix(d, "internal/"), "the root package depends on %s, which is for tests", d)
		}
		return
	}
	r, ok := layers()[name]
	if !assert.True(t, ok, "%s: no row in the table of layers", name) {
		return
	}
	for _, d := range p.project {
		assert.Contains(t, r.project, d, "%s depends on %s", name, d)
	}
	if r.pure {
		for _, i := range p.imports {
			assert.NotContains(t, effects(), i, "%s is pure", name)
		}
	}
}

// The program starts in the time of a handful of packages. The root package of go-git brings
// transports and signatures with it, which cost start-up time and open doors that nothing needs.
func TestTheProgramLinksNoNetworkCode(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			t.Parallel()
			packages := listPackages(t, goos)
			for _, name := range slices.Sorted(maps.Keys(packages)) {
				if !delivered(name, packages[name]) {
					continue
				}
				for _, d := range packages[name].all {
					assert.False(t, unwanted(d), "%q links %s", name, d)
				}
			}
		})
	}
}

// delivered reports whether users get the package: not what measures, not what only tests use.
func delivered(name string, p pkg) bool {
	if p.command {
		return strings.HasPrefix(name, "cmd/")
	}
	return !strings.HasPrefix(name, "internal/")
}

func unwanted(dependency string) bool {
	switch dependency {
	case "github.com/go-git/go-git/v5", "net/http":
		return true
	}
	parts := strings.Split(dependency, "/")
	return slices.Contains(parts, "openpgp") || slices.Contains(parts, "ssh")
}

// pkg is what the go command says of one package.
type pkg struct {
	command bool     // package main, which nothing can import
	imports []string // direct
	all     []string // direct and indirect
	project []string // those of all that belong to this module, without its name; "" is the root
}

// listPackages asks for the packages of the module that exist, by their path below it.
func listPackages(t *testing.T, goos string) map[string]pkg {
	t.Helper()
	oxtest.NeedProgram(t, "go")
	cmd := exec.Command("go", "list", "-e", "-f", `{{.ImportPath}}|{{.Name}}|{{join .Imports " "}}|{{join .Deps " "}}`, "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	packages := map[string]pkg{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		require.Len(t, fields, 4, line)
		p := pkg{command: fields[1] == "main", imports: strings.Fields(fields[2]), all: strings.Fields(fields[3])}
		for _, d := range p.all {
			if d == module || strings.HasPrefix(d, module+"/") {
				p.project = append(p.project, below(d))
			}
		}
		packages[below(fields[0])] = p
	}
	return packages
}

// below is the path of a package in this module.
func below(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
}
