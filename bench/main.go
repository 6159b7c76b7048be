// Command bench times oxpatch as whole processes against another patch applier and against a
// floor, and prints one Markdown table.
//
//	go run ./bench [-n runs] [-only regexp] [-bin path] [-dir folder]
//
// The other program, the peer, is named by the environment variable OXPATCH_BENCH_PEER: the path of
// a program that takes an envelope patch on its standard input. Without one the ratios are those to
// the floor, a program that only reads the patch and the files it names, hashes each line once and
// writes the files. A binary that is not there (see -bin) is left out with a note.
//
// The programs of a row run in turn, round after round, each on a fresh copy of the same tree, so
// that whatever else the machine does meets all of them. Copying is not timed. After every run the
// outcome is compared with what the patch asks for; a row with a wrong outcome fails, and with it
// the whole command. Times are medians; a ratio is the median of the ratios of the rounds. The aim
// is for the wall time on an idle machine; on a busy one the CPU time tells more.
//
// On Linux the peak memory of a process counts that of the process it was started from. So this
// command stays small: the workloads are made by a process of their own, and files are only
// streamed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run dispatches between the command and the two parts of it that run as processes of their own.
func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case floorCommand:
			return floor(os.Stdin, os.Stdout)
		case makeCommand:
			return makeWork(args[1:])
		}
	}
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	return o.measure()
}

// options are what the command line and the environment say.
type options struct {
	runs int
	only *regexp.Regexp
	bin  string // absolute path of oxpatch, "" where it is not built
	peer string // absolute path, or ""
	dir  string // where the temporary folder is made
}

func parseOptions(args []string) (options, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	runs := flags.Int("n", 5, "runs of each program and row")
	only := flags.String("only", "", "measure only the rows whose name matches this regular expression")
	bin := flags.String("bin", filepath.Join("bin", "oxpatch"), "the oxpatch binary")
	dir := flags.String("dir", "", "folder for the temporary trees (default: the system's)")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 || *runs < 1 {
		return options{}, errors.New("usage: bench [-n runs] [-only regexp] [-bin path] [-dir folder], with at least one run")
	}
	o := options{runs: *runs, dir: *dir}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	if o.bin, err = program(*bin); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v: oxpatch is left out\n", err)
	}
	if peer := os.Getenv("OXPATCH_BENCH_PEER"); peer != "" {
		if o.peer, err = program(peer); err != nil {
			return o, fmt.Errorf("OXPATCH_BENCH_PEER: %w", err)
		}
	}
	return o, nil
}

// program returns the absolute path of an existing file, "" with the error otherwise.
func program(path string) (string, error) {
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// measure runs every chosen row and prints the table as it grows.
func (o options) measure() error {
	temp, err := os.MkdirTemp(o.dir, "oxpatch-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	s, err := newStage(o, temp)
	if err != nil {
		return err
	}
	fmt.Print(tableHead)
	var failed []error
	for _, r := range rows() {
		if !o.only.MatchString(r.name) {
			continue
		}
		results, err := s.row(r)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.name, err))
			fmt.Printf("| %s | failed | | | | | | |\n", r.name)
			continue
		}
		printRow(os.Stdout, r, results)
	}
	return errors.Join(failed...)
}
