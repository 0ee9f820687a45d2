#!/bin/sh
# Installs Lockstep from the files of a release, after checking their SHA-256 sums.
#
# Usage: install.sh [--to DIR]       install below DIR (~/.local): bin/lockstep, man pages and completions
#        install.sh --remove [--to DIR]   remove the installed files
#
# LOCKSTEP_BASE_URL names the directory of the release files (https:// or file://).
set -eu

to=${HOME:-}/.local
remove=
say() { printf '%s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

while [ $# -gt 0 ]; do
    case $1 in
        --to)
            [ $# -ge 2 ] || fail '--to needs a directory'
            to=$2
            shift
            ;;
        --remove) remove=1 ;;
        -h | --help)
            sed -n '2,7s/^# \{0,1\}//p' "$0"
            exit 0
            ;;
        *) fail "unknown argument '$1'" ;;
    esac
    shift
done

list=$to/share/lockstep/installed-files
if [ -n "$remove" ]; then
    [ -f "$list" ] || fail "nothing was installed below $to by this script: $list does not exist"
    while IFS= read -r file; do rm -f "$to/$file"; done < "$list"
    rm -f "$list"
    rmdir "$to/share/lockstep" 2>/dev/null || true
    say "removed Lockstep from $to"
    exit 0
fi

base=${LOCKSTEP_BASE_URL:-}
[ -n "$base" ] || fail 'set LOCKSTEP_BASE_URL to the directory of a release'

case $(uname -m) in
    x86_64 | amd64) cpu=x86_64 ;;
    aarch64 | arm64) cpu=aarch64 ;;
    *) fail "there is no build for the processor $(uname -m)" ;;
esac
case $(uname -s) in
    Linux) systems="$cpu-unknown-linux-musl $cpu-unknown-linux-gnu" ;;
    Darwin) systems=$cpu-apple-darwin ;;
    *) fail "there is no build for $(uname -s)" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

download() {
    case $1 in
        file://*) cp "${1#file://}" "$2" ;;
        *)
            if command -v curl >/dev/null 2>&1; then
                curl --fail --silent --show-error --location --output "$2" "$1"
            elif command -v wget >/dev/null 2>&1; then
                wget --quiet --output-document="$2" "$1"
            else
                fail 'curl or wget is needed'
            fi
            ;;
    esac
}
sum() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum < "$1"
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 < "$1"
    else
        fail 'sha256sum or shasum is needed to check the download'
    fi | cut -d ' ' -f 1
}

download "$base/SHA256SUMS" "$work/sums" || fail "cannot download $base/SHA256SUMS"
name=
for system in $systems; do
    line=$(grep -e "  lockstep-[0-9][^ ]*-$system\.tar\.gz\$" "$work/sums" | head -n 1) || true
    if [ -n "$line" ]; then
        expected=${line%% *}
        name=${line##* }
        break
    fi
done
[ -n "$name" ] || fail "the release has no build for $systems"
download "$base/$name" "$work/archive" || fail "cannot download $base/$name"
found=$(sum "$work/archive")
[ "$found" = "$expected" ] || fail "$name has the SHA-256 $found, but SHA256SUMS says $expected; nothing was installed"

mkdir "$work/files"
tar -xzf "$work/archive" -C "$work/files" --strip-components=1
(cd "$work/files" && find bin share -type f | sort) > "$work/list"
while IFS= read -r file; do
    mkdir -p "$to/$(dirname "$file")"
    # A running program can be replaced, but not written to.
    cp "$work/files/$file" "$to/$file.lockstep-new"
    mv -f "$to/$file.lockstep-new" "$to/$file"
done < "$work/list"
mkdir -p "$to/share/lockstep"
cp "$work/list" "$list"

say "installed $("$to/bin/lockstep" --version) to $to/bin/lockstep"
case :$PATH: in
    *":$to/bin:"*) ;;
    *) say "note: $to/bin is not on PATH; add it, so that the hooks of a client find the program" ;;
esac
