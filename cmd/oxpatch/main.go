// Command oxpatch applies patches to a working tree and takes them back. Called as apply_patch it
// does what Codex's command of that name does.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	collectLate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args, system())
	stop()
	os.Exit(code)
}
