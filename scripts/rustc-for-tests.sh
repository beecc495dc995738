#!/usr/bin/env bash
# Stands before rustc while tests.sh builds (RUSTC_WRAPPER), not before that of a user. Most test programs only run what they
# test: to optimise them was most of their compilation, and that most of what a fresh clone compiles. Those named below compute
# much by themselves, with code of the libraries that is instantiated in them: they are optimised, but not once more across the
# units that the compiler divides them into. What is no test, the command above all, is compiled as the profile says.
# Bash, because other shells do not hand on variables like CARGO_BIN_EXE_record-summary.
set -eu

# What a user has put before rustc stays there.
[ -z "${PRESTORE_RUSTC_WRAPPER-}" ] || set -- "$PRESTORE_RUSTC_WRAPPER" "$@"
test=
for argument in "$@"; do
    [ "$argument" != --test ] || test=$CARGO_PKG_NAME/$CARGO_CRATE_NAME
done
case $test in
'') exec "$@" ;;
prestore/* | prestore-recompute/* | prestore-ring-model/* | prestore-sim/prestore_sim | prestore-crash/survivors | \
    prestore-cli/hand_offs | prestore-cli/rebuild | prestore-cli/sampled)
    exec "$@" -C lto=off -C debuginfo=0
    ;;
# Checks that come with opt-level 0 stay off: what is tested is the same however it is compiled.
*) exec "$@" -C opt-level=0 -C debuginfo=0 -C debug-assertions=off -C overflow-checks=off ;;
esac
