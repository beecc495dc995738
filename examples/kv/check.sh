#!/bin/sh
# check.sh FOLDER PRESTORE: before and after compute the same; the advice for before names the place that the diff changes.
set -eu
out=$1
prestore=$2

before=$("$out/before" 20000 | sed 's/ seconds=.*//')
after=$("$out/after" 20000 | sed 's/ seconds=.*//')
if [ -z "$before" ] || [ "$before" != "$after" ]; then
    echo "examples/kv: before says '$before', after says '$after'" >&2
    exit 1
fi
advice=$("$prestore" advise --quiet -- "$out/before" 200000)
if ! echo "$advice" | grep -q '^1\. craft_value: \(skip\|clean\)$'; then
    echo "examples/kv: the advice does not begin with craft_value:" >&2
    echo "$advice" >&2
    exit 1
fi
echo "examples/kv: all checks passed"
