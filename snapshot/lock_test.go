package snapshot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openoxide/oxpatch/internal/oxtest"
)

const helperVar = "OXPATCH_TEST_HELPER"

// TestMain lets the test binary play the other processes of these tests.
func TestMain(m *testing.M) {
	if role := os.Getenv(helperVar); role != "" {
		if err := helper(role, os.Args[1:]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func helper(role string, args []string) error {
	site, err := Locate(args[0], os.Getenv)
	if err != nil {
		return err
	}
	switch role {
	case "hold": // take the lock, say so, keep it until stdin ends
		release, err := site.Lock(context.Background(), 0)
		if err != nil {
			return err
		}
		fmt.Println("locked")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		release()
		return nil
	case "count":
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		for range n {
			if err := countOnce(site, args[2]); err != nil {
				return err
			}
		}
		return nil
	case "publish":
		store, err := site.Open(Options{})
		if err != nil {
			return err
		}
		r, err := store.Put(context.Background(), Meta{ID: store.NewID(time.Now()), Kind: KindApply}, numbered(1), nil)
		if err != nil {
			return err
		}
		fmt.Println(store.Place().Dir)
		for _, u := range store.Skipped() {
			fmt.Println("skipped", u.Place.Dir, u.Err)
		}
		if err := store.Publish(r); err != nil {
			return err
		}
		ops, err := site.History().Ops()
		for _, o := range ops {
			if _, err := o.Read(); err != nil {
				return err
			}
		}
		fmt.Println("operations", len(ops))
		return err
	}
	return fmt.Errorf("no such role: %s", role)
}

// countOnce does under the lock what two must not do at once: it records an operation with a new
// id and adds one to a number in a file.
func countOnce(site *Site, counter string) error {
	release, err := site.Lock(context.Background(), time.Minute)
	if err != nil {
		return err
	}
	defer release()
	data, err := os.ReadFile(counter)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		return err
	}
	store, err := site.Open(Options{Durability: DurabilityProcess})
	if err != nil {
		return err
	}
	unlock, err := store.Lock(context.Background(), time.Minute)
	if err != nil {
		return err
	}
	defer unlock()
	meta := Meta{ID: store.NewID(time.Unix(1_700_000_000, 0)), Kind: KindApply, Label: string(data)}
	r, err := store.Put(context.Background(), meta, numbered(1), nil)
	if err != nil {
		return err
	}
	if err := store.Publish(r); err != nil {
		return err
	}
	return os.WriteFile(counter, []byte(strconv.Itoa(n+1)), 0o600)
}

func helperCommand(t *testing.T, role string, env envMap, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{helperVar + "=" + role, "PATH=" + os.Getenv("PATH")}
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return cmd
}

// holdElsewhere has another process take the root's lock.
func holdElsewhere(t *testing.T, dir string, env envMap) (cmd *exec.Cmd, release func()) {
	t.Helper()
	cmd = helperCommand(t, "hold", env, dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "locked\n", line)
	var once sync.Once
	release = func() { once.Do(func() { in.Close(); _ = cmd.Wait() }) }
	t.Cleanup(release)
	return cmd, release
}

func TestOneOperationAtATime(t *testing.T) {
	t.Parallel()
	dir, env := tempDir(t), stateEnv(t)
	counter := filepath.Join(tempDir(t), "counter")
	require.NoError(t, os.WriteFile(counter, []byte("0"), 0o600))
	site := locate(t, dir, env)
	open(t, site, Options{})
	const threads, processes, rounds = 8, 3, 5
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			for range rounds {
				assert.NoError(t, countOnce(site, counter))
			}
		})
	}
	for range processes {
		wg.Go(func() {
			out, err := helperCommand(t, "count", env, dir, strconv.Itoa(rounds), counter).CombinedOutput()
			assert.NoError(t, err, string(out))
		})
	}
	wg.Wait()
	data, err := os.ReadFile(counter)
	require.NoError(t, err)
	const all = (threads + processes) * rounds
	assert.Equal(t, strconv.Itoa(all), string(data))
	ops, err := site.History().Ops()
	require.NoError(t, err)
	require.Len(t, ops, all, "every id is another")
	for i, o := range ops { // ids rise in the order in which the lock was held
		r, err := o.Read()
		require.NoError(t, err)
		assert.Equal(t, strconv.Itoa(all-1-i), r.Meta.Label)
	}
}

func TestBusyNamesTheHolder(t *testing.T) {
	t.Parallel()
	dir, env := newRepo(t), stateEnv(t)
	site := locate(t, dir, env)
	open(t, site, Options{})
	holder, release := holdElsewhere(t, dir, env)
	begun := time.Now()
	_, err := site.Lock(context.Background(), 50*time.Millisecond)
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	require.ErrorIs(t, err, ErrBusy)
	assert.Equal(t, holder.Process.Pid, busy.PID)
	assert.Contains(t, busy.What, filepath.Base(os.Args[0]))
	assert.GreaterOrEqual(t, time.Since(begun), 50*time.Millisecond)
	_, err = site.Lock(context.Background(), -1)
	require.ErrorIs(t, err, ErrBusy)

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	_, err = site.Lock(ctx, time.Minute)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	go release()
	unlock, err := site.Lock(context.Background(), 0)
	require.NoError(t, err)
	unlock()
	unlock()
}

func TestTheKernelFreesTheLockOfTheDead(t *testing.T) {
	t.Parallel()
	dir, env := tempDir(t), stateEnv(t)
	holder, _ := holdElsewhere(t, dir, env)
	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait()
	release, err := locate(t, dir, env).Lock(context.Background(), 5*time.Second)
	require.NoError(t, err)
	release()
}

func TestTheLockWorksWithoutAStore(t *testing.T) {
	t.Parallel()
	blocked := filepath.Join(tempDir(t), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o644))
	dir, env := tempDir(t), envMap{"XDG_STATE_HOME": blocked}
	site := locate(t, dir, env)
	release, err := site.Lock(context.Background(), -1)
	if err != nil {
		require.ErrorIs(t, err, ErrNoStore)
		oxtest.Lacks(t, "locks that need no file in the store")
	}
	_, err = site.Lock(context.Background(), -1)
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	assert.Zero(t, busy.PID)
	release()
	release, err = site.Lock(context.Background(), -1)
	require.NoError(t, err)
	release()
}

// On a file system that cannot lock folders a file in the store is locked instead, which keeps those
// apart who use the same store. Other failures stay failures.
func TestLocksWhereFoldersCannotBeLocked(t *testing.T) {
	t.Parallel()
	failing := func(why error) func(string) (*flock.Flock, error) {
		return func(path string) (*flock.Flock, error) { return nil, &fs.PathError{Op: "open", Path: path, Err: why} }
	}
	blocked := filepath.Join(tempDir(t), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o644))
	for name, c := range map[string]struct {
		dir string
		env envMap
		at  string // the store with the lock
	}{
		"in a repository": {dir: newRepo(t), env: stateEnv(t), at: ".git/oxpatch/store"},
		"without one":     {dir: tempDir(t), env: envMap{"XDG_STATE_HOME": tempDir(t)}},
		"no store at all": {dir: tempDir(t), env: envMap{"XDG_STATE_HOME": blocked}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := locate(t, c.dir, c.env), locate(t, c.dir, c.env)
			first.lockFolder, second.lockFolder = failing(syscall.EISDIR), failing(syscall.EISDIR)
			release, err := first.Lock(context.Background(), -1)
			if name == "no store at all" {
				require.ErrorIs(t, err, ErrNoStore)
				return
			}
			require.NoError(t, err)
			assert.FileExists(t, filepath.Join(first.Write[0].Dir, "worktrees", first.Write[0].Worktree, "lock"))
			if c.at != "" {
				assert.Equal(t, filepath.Join(c.dir, c.at), first.Write[0].Dir)
			}
			r := publish(t, open(t, first, Options{}), Meta{}, numbered(1)...)
			assert.Equal(t, first.Write[0].Dir, r.Place().Dir, "the lock is no obstacle to making the store")
			_, err = second.Lock(context.Background(), -1)
			var busy *BusyError
			require.ErrorAs(t, err, &busy)
			assert.Equal(t, os.Getpid(), busy.PID)
			release()
			release, err = second.Lock(context.Background(), -1)
			require.NoError(t, err)
			release()
			fsck(t, r.Place().Dir)
		})
	}
	site := locate(t, tempDir(t), stateEnv(t))
	site.lockFolder = failing(fs.ErrPermission)
	_, err := site.Lock(context.Background(), -1)
	if foldersLock {
		require.ErrorIs(t, err, fs.ErrPermission)
	}
}

// A child that outlives us must not keep our locks.
func TestChildrenDoNotInheritLocks(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	release, err := site.Lock(context.Background(), 0)
	require.NoError(t, err)
	unlock, err := store.LockExclusive(context.Background(), 0)
	require.NoError(t, err)
	child := exec.Command("sleep", "30")
	require.NoError(t, child.Start())
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	unlock()
	release()
	release, err = site.Lock(context.Background(), -1)
	require.NoError(t, err)
	release()
	unlock, err = store.LockExclusive(context.Background(), -1)
	require.NoError(t, err)
	unlock()
}

func TestWritersShareTheStoreAndRemovalIsAlone(t *testing.T) {
	t.Parallel()
	site, store := plainStore(t, Options{})
	first, err := store.Lock(context.Background(), -1)
	require.NoError(t, err)
	second, err := open(t, site, Options{}).Lock(context.Background(), -1)
	require.NoError(t, err)
	_, err = store.LockExclusive(context.Background(), -1)
	require.ErrorIs(t, err, ErrBusy)
	first()
	second()
	alone, err := store.LockExclusive(context.Background(), -1)
	require.NoError(t, err)
	_, err = store.Lock(context.Background(), -1)
	require.ErrorIs(t, err, ErrBusy)
	alone()
}

// While waiting for the lock of a folder that was replaced, the new folder is what gets locked.
func TestTheLockFollowsTheName(t *testing.T) {
	t.Parallel()
	env := stateEnv(t)
	dir := mkdir(t, tempDir(t), "root")
	site := locate(t, dir, env)
	release, err := site.Lock(context.Background(), 0)
	require.NoError(t, err)
	defer release()
	var done atomic.Bool
	go func() {
		time.Sleep(30 * time.Millisecond)
		_ = os.Rename(dir, dir+" old")
		done.Store(true)
		_ = os.Mkdir(dir, 0o755)
	}()
	second, err := site.Lock(context.Background(), 10*time.Second)
	for errors.Is(err, fs.ErrNotExist) { // between the two
		second, err = site.Lock(context.Background(), 10*time.Second)
	}
	require.NoError(t, err)
	defer second()
	assert.True(t, done.Load())
	_, err = site.Lock(context.Background(), -1)
	require.ErrorIs(t, err, ErrBusy)
}

// What is gone is not made by locking it, whether it is the root or the git directory with the store.
func TestLockingMakesNothingThatIsGone(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	env := stateEnv(t)
	site := locate(t, dir, env)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".git")))
	release, err := site.Lock(context.Background(), -1)
	require.NoError(t, err)
	r := publish(t, open(t, site, Options{}), Meta{}, numbered(1)...)
	release()
	assert.NoDirExists(t, filepath.Join(dir, ".git"))
	assert.True(t, r.Place().Shared)
	_, err = locate(t, dir, env).History().Read(r.Meta.ID)
	require.NoError(t, err, "who comes next finds it")

	require.NoError(t, os.RemoveAll(dir))
	_, err = site.Lock(context.Background(), -1)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = os.Lstat(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestBusyText(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "/r: locked by process 7 (oxpatch apply)", (&BusyError{Path: "/r", PID: 7, What: "oxpatch apply"}).Error())
	assert.True(t, strings.HasPrefix((&BusyError{Path: "/r"}).Error(), "/r: locked"))
}
