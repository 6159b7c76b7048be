#!/bin/sh
# Shows oxpatch in a throw-away repository: apply a patch, look at the diff, undo, and prove that
# every byte and mode is as before. Needs git and an oxpatch in the PATH; exits non-zero if anything
# is not as promised.
set -eu

work=$(mktemp -d "${TMPDIR:-/tmp}/oxpatch-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Nothing of the user's own settings, and no repository around us, is to have a say.
for name in $(env | sed -n 's/^\(GIT_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
unset XDG_STATE_HOME OXPATCH_STORE OXPATCH_SNAPSHOT OXPATCH_SESSION
export HOME="$work/home" LC_ALL=C TZ=UTC GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=Demo GIT_AUTHOR_EMAIL=demo@example.com GIT_AUTHOR_DATE=2026-01-01T00:00:00Z
export GIT_COMMITTER_NAME=Demo GIT_COMMITTER_EMAIL=demo@example.com GIT_COMMITTER_DATE=2026-01-01T00:00:00Z
mkdir "$HOME" "$work/shop"
cd "$work/shop"

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'demo: %s\n' "$*" >&2; exit 1; }

# checksums prints mode, SHA-256 and path of everything in the tree, and the targets of links.
if command -v sha256sum >/dev/null 2>&1; then sha256() { sha256sum; }; else sha256() { shasum -a 256; }; fi
checksums() {
	find . -path ./.git -prune -o -print | sort | while IFS= read -r path; do
		mode=$(ls -ld "$path" | cut -c1-10)
		if [ -L "$path" ]; then sum="-> $(readlink "$path")"
		elif [ -f "$path" ]; then sum=$(sha256 <"$path" | cut -d' ' -f1)
		else sum=folder; fi
		printf '%s  %s  %s\n' "$mode" "$sum" "$path"
	done
}

git init -q .
mkdir -p cmd docs
printf '*.local\n' >.gitignore
cat >price.go <<'EOF'
package shop

// Total adds up the prices of all items, in cents.
func Total(items []Item) int {
	sum := 0
	for _, it := range items {
		sum += it.Price
	}
	return sum
}
EOF
printf 'package shop\n\n// Round is not used any more.\nfunc Round(cents int) int { return cents / 100 * 100 }\n' >round.go
printf '#!/bin/sh\ngo build ./...\n' >cmd/build
chmod 755 cmd/build
git add . && git commit -q -m 'a small shop'
printf 'SECRET=swordfish' >env.local                      # ignored, and without a final newline
printf 'call the supplier\r\nbuy tape\r\n' >docs/notes.txt # untracked, with CRLF
chmod 600 env.local

cat >../change.patch <<'EOF'
*** Begin Patch
*** Update File: price.go
@@ func Total(items []Item) int {
 	for _, it := range items {
-		sum += it.Price
+		sum += it.Price * it.Count
 	}
*** Add File: item.go
+package shop
+
+// Item is one line of an order.
+type Item struct {
+	Name         string
+	Price, Count int
+}
*** Update File: cmd/build
*** Move to: tools/build.sh
@@
 #!/bin/sh
+set -e
 go build ./...
*** Update File: docs/notes.txt
@@
 call the supplier
-buy tape
+buy string
*** Delete File: round.go
*** Delete File: env.local
*** End Patch
EOF

say 'a patch as a coding agent writes it'
cat ../change.patch
before=$(checksums)

say 'oxpatch apply change.patch'
oxpatch apply ../change.patch
applied=$(checksums)
[ "$applied" != "$before" ] || fail 'the patch changed nothing'
[ ! -e env.local ] && [ ! -e round.go ] && [ ! -e cmd ] && [ -x tools/build.sh ] || fail 'the patch was not applied'

say 'git status --short, git diff'
git status --short --untracked-files=all
git --no-pager diff --no-color

say 'oxpatch undo'
oxpatch undo
after=$(checksums)

say 'mode, SHA-256 and path of everything, after the undo'
printf '%s\n' "$after"
if [ "$after" != "$before" ]; then
	printf 'before:\n%s\n' "$before" >&2
	fail 'the tree is not as it was'
fi
[ "$(git status --short --untracked-files=all)" = '?? docs/notes.txt' ] || fail 'git sees a change'
say 'identical to the tree before the patch: every file, byte and mode'
