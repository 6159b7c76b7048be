package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/openoxide/oxpatch"
)

// setting is a flag for something that the environment and git's configuration can set too. Its option
// is nil where the flag is not given, so that those hold; its error is wrong usage.
type setting interface {
	flag(fl *pflag.FlagSet)
	option() (oxpatch.Option, error)
}

// chosen returns the options of several settings.
func chosen(settings ...setting) ([]oxpatch.Option, error) {
	var opts []oxpatch.Option
	for _, s := range settings {
		o, err := s.option()
		if err != nil {
			return nil, err
		}
		opts = append(opts, o)
	}
	return opts, nil
}

// durability is the value of the flag --durability.
type durability struct {
	word  string
	flags *pflag.FlagSet
}

func (d *durability) flag(fl *pflag.FlagSet) {
	d.flags = fl
	fl.StringVar(&d.word, "durability", "record", "what survives a loss of power: `record, power or process`")
}

func (d *durability) option() (oxpatch.Option, error) {
	if !d.flags.Changed("durability") {
		return nil, nil
	}
	v, err := choose("durability", d.word, map[string]oxpatch.Durability{
		"record": oxpatch.DurabilityRecord, "power": oxpatch.DurabilityPower, "process": oxpatch.DurabilityProcess})
	return oxpatch.WithDurability(v), err
}

// maxSnapshot is the value of the flag --max-snapshot.
type maxSnapshot struct {
	size  string
	flags *pflag.FlagSet
}

func (m *maxSnapshot) flag(fl *pflag.FlagSet) {
	m.flags = fl
	fl.StringVar(&m.size, "max-snapshot", "256M", "refuse what would take more than `SIZE` to record; 0 for no limit")
}

func (m *maxSnapshot) option() (oxpatch.Option, error) {
	if !m.flags.Changed("max-snapshot") {
		return nil, nil
	}
	n, err := size("max-snapshot", m.size)
	return oxpatch.WithMaxSnapshot(max(n, 0)), err
}

// size reads the value of a flag for a number of bytes.
func size(flag, value string) (int64, error) {
	n, ok := oxpatch.ParseSize(value)
	if !ok {
		return 0, fmt.Errorf("--%s: %q is not a size such as 256M", flag, value)
	}
	return n, nil
}

// openProblem describes why the engine could not be opened.
func (a *app) openProblem(err error, hint string) oxpatch.Problem {
	switch {
	case errors.Is(err, oxpatch.ErrSetting):
		hint = "correct or remove the setting"
	case errors.Is(err, oxpatch.ErrGitConfig):
		hint = "correct the file; git config --list says what git makes of it"
	}
	return oxpatch.Problem{Kind: oxpatch.KindUsage, Message: err.Error(), Hint: hint}
}
