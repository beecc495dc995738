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
PRESTORE_RUSTC_WRAPPER=${RUSTC_WRAPPER-} RUSTC_WRAPPER=$PWD/scripts/rustc-for-tests.sh \
    cargo test $flags --no-run --message-format=json-render-diagnostics >"$work/messages"
jq -r 'select(.executable and .profile.test) | [(.manifest_path | sub("/[^/]*$"; "")), .executable, .target.name] | @tsv' \
    "$work/messages" >"$work/found"
[ -s "$work/found" ] || { echo "tests.sh: cargo named no test program" >&2; exit 1; }

# The long ones first, so that none of them is left over in the end.
long='csmith repro crash pm whatif rebuild transparency signals random_blocks c_abi processes verdict_suite kernel kernels programs'
long="$long verdicts found_programs found_code hangs crash_images"
for name in $long; do
    awk -F '\t' -v name="$name" '$3 == name' "$work/found"
done >"$work/order"
awk -F '\t' -v long=" $long " '!index(long, " " $3 " ")' "$work/found" >>"$work/order"

printf '#!/bin/sh\nexec cargo test %s --doc --no-fail-fast\n' "$flags" >"$work/documentation-examples"
chmod +x "$work/documentation-examples"

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
# The examples of the documentation are one more: cargo has them run one crate after the other.
printf '%s\t%s\n' "$PWD" "$work/documentation-examples" | cat - "$work/order" | awk -F '\t' '{ print $1; print $2 }' |
    CARGO_TERM_COLOR=never xargs -d '\n' -n 2 -P "$at_a_time" sh -c 'sh "$0/one" "$1" "$2" "$0"' "$work" || true

touch "$work/ended"
sort "$work/ended" >"$work/ended.sorted"
{ cut -f 2 "$work/found" && echo "$work/documentation-examples"; } | sort |
    comm -23 - "$work/ended.sorted" | sed 's/$/ (it was not run to its end)/' >>"$work/failed"
if [ -s "$work/failed" ]; then
    echo 'These failed:' >&2
    cat "$work/failed" >&2
    exit 1
fi
