package snapshot

import (
	"fmt"
	"slices"
)

// Fits returns a *TooLargeError if a record of the entries would be over a limit, as Put would; 0 is
// no limit. Nothing is written.
//
// What counts are the contents before and after, uncompressed, each once; of a content that is written
// as a delta only the delta.
func Fits(limit int64, entries []Entry, patches [][]byte) error {
	var most int64
	for _, e := range entries {
		most += int64(len(e.Before.Content) + len(e.After.Content))
	}
	if limit <= 0 || most <= limit {
		return nil // without having to work out deltas
	}
	d := newDraft()
	d.addPatches(patches)
	d.addEntries(entries)
	return d.within(limit, entries)
}

// within returns a *TooLargeError if the contents of the draft are over a limit; 0 is no limit.
func (d *draft) within(limit int64, entries []Entry) error {
	var sum int64
	for _, w := range d.weights {
		sum += w
	}
	if limit <= 0 || sum <= limit {
		return nil
	}
	worst := slices.Index(d.weights, slices.Max(d.weights))
	return &TooLargeError{Size: sum, Limit: limit, Path: entries[worst].Path, PathSize: d.weights[worst]}
}

// FormatSize writes a number of bytes in the unit that suits it: 1.5 MiB.
func FormatSize(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	value, unit := float64(n), 0
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
