// Package outputparse reads what "git apply" prints and sorts the paths it names into applied,
// skipped and conflicted. It is pure: bytes in, values out.
//
// What git prints is a forecast, made before anything is written, and it is ambiguous: a name can
// look like a message, a message can lack its name, additions that succeed are not mentioned at
// all. So this package is for those who have nothing but the text, and for finding the reason of an
// outcome that is known from elsewhere. It gets better with what else is known: with the list of
// names in the patch, messages are searched for those names, byte for byte, instead of guessing
// where a name ends; with the exit code as well, git's rule that a patch is applied as a whole or
// not at all settles what the messages leave open.
//
// The messages are those of git 2.20 to 2.55 in English. Every one that is known stands in the table
// of messages.go.
package outputparse
