#!/bin/sh
# Builds all tests, then runs the test programs, several at a time: most have one long test, beside which other cores would idle.
# What each prints comes in one piece when it has ended. Usage: tests.sh [PROGRAMS AT A TIME]
set -eu
cd "$(dirname "$0")/.."
at_a_time=${1:-$(($(nproc) / 4))}
[ "$at_a_time" -ge 2 ] || at_a_time=2
flags='--release --locked --workspace --all-features'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2086
cargo test $flags --no-run --message-format=json-render-diagnostics >"$work/messages"
jq -r 'select(.executable and .profile.test) | [(.manifest_path | sub("/[^/]*$"; "")), .executable, .target.name] | @tsv' \
    "$work/messages" >"$work/found"
[ -s "$work/found" ] || { echo "tests.sh: cargo named no test program" >&2; exit 1; }

# The long ones first, so that none of them is left over in the end.
long='csmith repro optane transparency pm verdict_suite whatif crash crash_images optane_beyond found_programs rebuild kernels'
for name in $long; do
    awk -F '\t' -v name="$name" '$3 == name' "$work/found"
done >"$work/order"
awk -F '\t' -v long=" $long " '!index(long, " " $3 " ")' "$work/found" >>"$work/order"

cat >"$work/one" <<'ONE'
set -u
folder=$1 program=$2 work=$3
log=$(mktemp "$work/log.XXXXXX")
cd "$folder"
CARGO_MANIFEST_DIR=$folder "$program" >"$log" 2>&1
status=$?
# In one piece, whoever else writes.
{ flock 9; printf '\n     Running %s\n' "$program"; cat "$log"; } 9>"$work/lock"
printf '%s\n' "$program" >>"$work/ended"
[ $status -eq 0 ] || printf '%s\n' "$program" >>"$work/failed"
ONE
awk -F '\t' '{ print $1; print $2 }' "$work/order" |
    CARGO_TERM_COLOR=never xargs -d '\n' -n 2 -P "$at_a_time" sh -c 'sh "$0/one" "$1" "$2" "$0"' "$work" || true

# shellcheck disable=SC2086
cargo test $flags --doc --no-fail-fast || echo 'the examples of the documentation' >>"$work/failed"

touch "$work/ended"
sort "$work/ended" >"$work/ended.sorted"
cut -f 2 "$work/found" | sort | comm -23 - "$work/ended.sorted" | sed 's/$/ (it was not run to its end)/' >>"$work/failed"
if [ -s "$work/failed" ]; then
    echo 'These failed:' >&2
    cat "$work/failed" >&2
    exit 1
fi
