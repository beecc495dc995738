#!/bin/sh
# simulate.sh FOLDER PRESTORE [MACHINE] [REQUESTS]: before and after, recorded here and simulated on a machine that need
# not be here.
set -eu
out=$1
prestore=$2
machine=${3:-machine-a}
requests=${4:-200000}

# Seconds and write amplification.
simulated() {
    rm -rf "$out/recording"
    "$prestore" record --quiet -o "$out/recording" -- "$out/$1" "$requests" >/dev/null
    "$prestore" simulate "$out/recording" --quiet --machine "$machine" --format json |
        sed -nE 's/^  "(seconds|write_amplification)": ([0-9.e-]+),?$/\2/p'
    rm -rf "$out/recording"
}

before=$(simulated before)
after=$(simulated after)
echo $before $after | awk -v machine="$machine" '{
    printf "predicted speedup of after on %s: %.2f; write amplification %.2f before, %.2f after\n", machine, $1 / $3, $2, $4
}'
