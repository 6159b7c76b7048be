package oxpatch

import (
	"os"
	"time"

	"github.com/openoxide/oxpatch/snapshot"
	"github.com/openoxide/oxpatch/worktree"
)

// Durability says what survives a loss of power. Whatever it is, an operation that a killed process
// left half done is settled by the next one.
type Durability = snapshot.Durability

const (
	// DurabilityRecord syncs the record before the first write: a loss of power can tear a file, but
	// its bytes are in the record. This is the default.
	DurabilityRecord = snapshot.DurabilityRecord
	// DurabilityPower syncs files and folders too.
	DurabilityPower = snapshot.DurabilityPower
	// DurabilityProcess syncs nothing.
	DurabilityProcess = snapshot.DurabilityProcess
)

// Option sets how an Engine works; nil sets nothing.
type Option func(*options)

type options struct {
	durability  Durability
	inPlace     bool
	noSnapshot  bool
	lockTimeout time.Duration
	env         func(string) string
	now         func() time.Time
	tool        string
	maxFile     int64
	maxSnapshot int64
	retention   snapshot.Retention
	settings    bool // look for them where Open is told to, see WithSettings
	// fault hooks, for tests
	treeEffects  func(op worktree.Op, path string) error
	storeEffects func(e snapshot.Effect, path string) error
	steps        func(s step) error
}

func defaultOptions() options {
	return options{
		durability:  DurabilityRecord,
		lockTimeout: snapshot.DefaultLockTimeout,
		env:         os.Getenv,
		now:         time.Now,
		tool:        "oxpatch",
		maxFile:     512 << 20,
		maxSnapshot: DefaultCheckpointBytes,
		retention:   snapshot.DefaultRetention(),
	}
}

// with applies options in their order.
func (o *options) with(opts []Option) {
	for _, set := range opts {
		if set != nil {
			set(o)
		}
	}
}

// WithDurability sets what survives a loss of power; DurabilityRecord without it.
func WithDurability(d Durability) Option { return func(o *options) { o.durability = d } }

// WithInPlace writes into existing files instead of replacing them: inode, owner and hard links
// stay, but a crash can leave a file torn until the next operation repairs it.
func WithInPlace() Option { return func(o *options) { o.inPlace = true } }

// WithoutSnapshot records nothing; what is applied cannot be undone.
func WithoutSnapshot() Option { return func(o *options) { o.noSnapshot = true } }

// WithLockTimeout sets how long another operation on the same tree is waited for; 10 s without it.
// A negative duration tries once.
func WithLockTimeout(d time.Duration) Option { return func(o *options) { o.lockTimeout = d } }

// WithMaxSnapshot sets how many bytes the contents before and after an operation may take up in its
// record, uncompressed, those that are written as a delta by their delta; 256 MiB without it. An
// operation over it is refused with ErrTooLarge. 0 is no limit.
func WithMaxSnapshot(n int64) Option { return func(o *options) { o.maxSnapshot = n } }

// WithKeepOperations sets how many operations of a root are kept; 200 without it. This limit, like the
// next two, holds for the pruning that follows an operation, and for Prune; a negative number is none.
func WithKeepOperations(n int) Option { return func(o *options) { o.retention.Operations = n } }

// WithKeepAge sets how long operations are kept; 30 days without it.
func WithKeepAge(d time.Duration) Option { return func(o *options) { o.retention.Age = d } }

// WithKeepBytes sets how many bytes a store may have, which may serve several roots; 512 MiB without it.
func WithKeepBytes(n int64) Option { return func(o *options) { o.retention.Bytes = n } }

// WithEnv sets where environment variables are looked up; os.Getenv without it. Used are GIT_…,
// OXPATCH_STORE, XDG_STATE_HOME, XDG_CONFIG_HOME and HOME, and with WithSettings OXPATCH_….
func WithEnv(env func(string) string) Option { return func(o *options) { o.env = env } }

// WithClock sets the clock that times and ids of operations are taken from; time.Now without it.
func WithClock(now func() time.Time) Option { return func(o *options) { o.now = now } }

// WithTool sets the name and version that records carry.
func WithTool(name string) Option { return func(o *options) { o.tool = name } }

// WithMaxFile sets the size in bytes above which a file is refused; 512 MiB without it.
func WithMaxFile(n int64) Option { return func(o *options) { o.maxFile = n } }
