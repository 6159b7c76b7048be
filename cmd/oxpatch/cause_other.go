//go:build !unix

package main

// codexCause says why the working folder is not known.
func codexCause(err error) string { return err.Error() }
