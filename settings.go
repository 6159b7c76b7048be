package oxpatch

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/openoxide/oxpatch/change"
	"github.com/openoxide/oxpatch/gitrepo"
)

// ErrSetting: a setting has a value that cannot be used. It comes as a *SettingError.
var ErrSetting = errors.New("bad setting")

// ErrGitConfig: git's configuration, where settings may stand, cannot be read.
var ErrGitConfig = errors.New("git's configuration cannot be read")

// SettingError reports a setting that cannot be used, in the environment or in git's configuration. It
// is an ErrSetting.
type SettingError struct {
	Name   string // as it is written there
	Value  string
	Origin string // the file, or "" for the environment
	Want   string // what the value can be
}

func (e *SettingError) Error() string {
	at := e.Name
	if e.Origin != "" {
		at = change.DisplayPath(e.Origin) + ": " + e.Name
	}
	return fmt.Sprintf("%s: %q is not %s", at, e.Value, e.Want)
}

// Is makes errors.Is(err, ErrSetting) true.
func (e *SettingError) Is(target error) bool { return target == ErrSetting }

// WithSettings makes Open look for settings in git's configuration (oxpatch.keepOperations, keepDays,
// keepBytes, maxSnapshot, durability, lockTimeout) and in the environment (OXPATCH_KEEP_OPERATIONS and so
// on), which comes before it. What other options say comes before both. Open's error is then also a
// *SettingError, or an ErrGitConfig.
func WithSettings() Option { return func(o *options) { o.settings = true } }

// setting is one of the settings.
type setting struct {
	key  string // in git's configuration, below "oxpatch."
	env  string // in the environment, behind "OXPATCH_"
	want string // what a value can be
	// set takes a value, if it is one.
	set func(o *options, value string) bool
}

const unlimited = "unlimited"

// settings lists what can be set.
func settings() []setting {
	return []setting{
		{"keepOperations", "KEEP_OPERATIONS", `a number of operations, or "unlimited"`, func(o *options, v string) (ok bool) {
			o.retention.Operations, ok = parseCount(v)
			return ok
		}},
		{"keepDays", "KEEP_DAYS", `a number of days, or "unlimited"`, func(o *options, v string) bool {
			days, ok := ParseDays(v)
			o.retention.Age = days
			return ok
		}},
		{"keepBytes", "KEEP_BYTES", `a size such as 512M, or "unlimited"`, func(o *options, v string) (ok bool) {
			o.retention.Bytes, ok = ParseSize(v)
			return ok
		}},
		{"maxSnapshot", "MAX_SNAPSHOT", `a size such as 256M, or "unlimited"`, func(o *options, v string) bool {
			n, ok := ParseSize(v)
			o.maxSnapshot = max(n, 0)
			return ok
		}},
		{"durability", "DURABILITY", "record, power or process", func(o *options, v string) bool {
			o.durability = Durability(v)
			return o.durability == DurabilityRecord || o.durability == DurabilityPower || o.durability == DurabilityProcess
		}},
		{"lockTimeout", "LOCK_TIMEOUT", "a duration such as 10s; 0 does not wait", func(o *options, v string) bool {
			d, err := time.ParseDuration(v)
			if seconds, notNumber := strconv.Atoi(v); notNumber == nil {
				d, err = time.Duration(seconds)*time.Second, nil
				if int64(seconds) > int64(math.MaxInt64/time.Second) {
					return false
				}
			}
			o.lockTimeout = d
			if d == 0 {
				o.lockTimeout = -1 // the option's word for one attempt
			}
			return err == nil && d >= 0
		}},
	}
}

// parseCount reads a number of things; negative stands for no limit.
func parseCount(v string) (int, bool) {
	if v == unlimited {
		return -1, true
	}
	n, err := strconv.Atoi(v)
	return n, err == nil && n >= 0
}

// ParseDays reads a number of days, as oxpatch.keepDays has it; negative for "unlimited". It is false
// for anything else.
func ParseDays(v string) (time.Duration, bool) {
	const day = 24 * time.Hour
	n, ok := parseCount(v)
	return time.Duration(n) * day, ok && n <= int(math.MaxInt64/day)
}

// ParseSize reads a number of bytes, as oxpatch.keepBytes has it: digits and perhaps k, m, g or t for
// powers of 1024, in either case and with "b" or "ib" behind it; negative for "unlimited". It is false
// for anything else.
func ParseSize(v string) (int64, bool) {
	if v == unlimited {
		return -1, true
	}
	text := strings.ToLower(v)
	digits := strings.TrimRight(text, "kmgtib")
	shift, known := map[string]int{
		"": 0, "b": 0, "k": 10, "kb": 10, "kib": 10, "m": 20, "mb": 20, "mib": 20,
		"g": 30, "gb": 30, "gib": 30, "t": 40, "tb": 40, "tib": 40,
	}[text[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !known || n < 0 || n > math.MaxInt64>>shift {
		return 0, false
	}
	return n << shift, true
}

// withSettings returns the options with what is set for the folder dir, and what opts say on top.
func withSettings(dir string, repo *gitrepo.Repo, env func(string) string, opts []Option) (options, error) {
	o := defaultOptions()
	entries, err := gitrepo.Section(dir, repo, env, "oxpatch")
	if err != nil {
		return o, fmt.Errorf("%w: %w", ErrGitConfig, err)
	}
	for _, s := range settings() {
		for _, e := range entries {
			if e.Key == "oxpatch."+strings.ToLower(s.key) && !s.set(&o, e.Value) {
				return o, &SettingError{Name: "oxpatch." + s.key, Value: e.Value, Origin: e.Origin, Want: s.want}
			}
		}
		name := "OXPATCH_" + s.env
		if v := env(name); v != "" && !s.set(&o, v) {
			return o, &SettingError{Name: name, Value: v, Want: s.want}
		}
	}
	o.with(opts)
	return o, nil
}
