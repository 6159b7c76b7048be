@echo off
rem apply_patch for Windows: lies beside oxpatch.exe and hands the patch, its one argument, to it.
rem For a patch on standard input, copy oxpatch.exe to apply_patch.exe instead.
"%~dp0oxpatch.exe" --codex-run-as-apply-patch %*
