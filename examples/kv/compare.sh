#!/bin/sh
# compare.sh FOLDER [PAIRS]: seconds of before and after, in turn, and the median ratio of the pairs.
set -eu
out=$1
pairs=${2:-9}

seconds() {
    "$1" | sed 's/.* seconds=//'
}

"$out/before" >/dev/null
"$out/after" >/dev/null
for _ in $(seq "$pairs"); do
    b=$(seconds "$out/before")
    a=$(seconds "$out/after")
    echo "$b $a" | awk '{ printf "%.4f %.3f %.3f\n", $1 / $2, $1, $2 }'
done | sort -n | awk '{ r[NR] = $1; b[NR] = $2; a[NR] = $3 }
    END {
        m = int((NR + 1) / 2)
        printf "speedup of after: median %.3f (%.3f to %.3f) of %d pairs; e.g. %.3f s before, %.3f s after\n",
            r[m], r[1], r[NR], NR, b[m], a[m]
    }'
