// Package textapply places patches by content. It holds what every text dialect parses into
// (Patch), the rules by which a chunk finds its place and lines are spliced (Policy, Seek), and
// the planner that turns a patch into file changes (MakePlan).
//
// The package is pure: it reads files only through the Tree it is given and writes none. Text is
// treated as bytes; a file is split into lines without decoding it, and an edit never touches a
// byte outside the lines it replaces.
//
// A section costs time and memory linear in its file and in its own text, also where both are made
// of the same few lines. Sections for one file are planned one after the other on its whole text.
package textapply
