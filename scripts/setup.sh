#!/bin/sh
# Brings a checkout into a state that can run: packages, build, and tmux. Idempotent; when nothing is
# missing it only compares a few file times.
set -eu
cd "$(dirname -- "$0")/.."

say() { printf 'ao setup: %s\n' "$*" >&2; }
die() {
  say "$1"
  [ -z "${2-}" ] || printf 'hint: %s\n' "$2" >&2
  exit 5
}

command -v node >/dev/null 2>&1 || die "Node.js 20 or newer is needed and was not found" "install it from your system's packages or nodejs.org"
[ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 20')" = true ] || die "Node.js 20 or newer is needed, this is $(node --version)" "install a newer Node.js"

# One setup at a time in a checkout: the second waits for the first.
lock=.setup.lock
tries=0
until mkdir "$lock" 2>/dev/null; do
  holder=$(cat "$lock/pid" 2>/dev/null || echo)
  if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then
    rm -rf "$lock"
    continue
  fi
  tries=$((tries + 1))
  [ "$tries" -le 600 ] || die "another setup has held $lock for ten minutes" "remove the folder $lock when no setup is running"
  sleep 1
done
echo $$ >"$lock/pid"
trap 'rm -rf "$lock"' EXIT
trap 'exit 130' INT TERM

if [ ! -e node_modules/.ao-installed ] || [ package-lock.json -nt node_modules/.ao-installed ]; then
  # npm ci begins with removing what is in it: through a link that would be another checkout's.
  [ ! -L node_modules ] || die "node_modules is a link, and an installation would empty what it leads to" "rm node_modules, then again"
  say "installing packages (the first time compiles SQLite; some minutes)"
  # Named for npm's compiler as npm itself reads it; what a user has named comes first.
  headers=${npm_config_nodedir:-$(node scripts/node-headers.mjs)}
  [ -z "$headers" ] || export npm_config_nodedir="$headers"
  npm ci --no-audit --no-fund --loglevel=error >&2 || die "npm ci failed, see above" "when it is about better-sqlite3 or node-gyp: apt-get install g++ make python3, or xcode-select --install; when it is about the network: Node's headers have to be fetched from nodejs.org, or named with npm_config_nodedir"
  node -e 'new (require("better-sqlite3"))(":memory:").close()' 2>/dev/null || die "better-sqlite3 was installed but does not load" "apt-get install g++ make python3 (or xcode-select --install), then rm -rf node_modules and again"
  : >node_modules/.ao-installed
fi

if [ ! -e dist/ao.js ] || [ -n "$(find src cmd package.json package-lock.json scripts/build.mjs scripts/code-cache.mjs -newer dist/ao.js -print 2>/dev/null | head -n 1)" ]; then
  say "building"
  node scripts/build.mjs >&2
fi

if ! command -v tmux >/dev/null 2>&1; then
  if command -v apt-get >/dev/null 2>&1; then
    install="apt-get update && apt-get install -y tmux"
    root=
    [ "$(id -u)" = 0 ] || root="sudo -n"
    say "installing tmux"
    { $root apt-get update -qq && $root apt-get install -y -qq tmux; } >/dev/null 2>&1 || die "tmux is needed and could not be installed" "run: sudo sh -c '$install'"
  elif command -v brew >/dev/null 2>&1; then
    say "installing tmux"
    brew install --quiet tmux >&2 || die "tmux is needed and could not be installed" "run: brew install tmux"
  else
    die "tmux 3.2 or newer is needed and was not found" "install it with your system's package manager"
  fi
fi
command -v git >/dev/null 2>&1 || die "git is needed and was not found" "install it with your system's package manager"

# `./ao` starts at once while nothing is newer than this.
: >node_modules/.ao-ready
