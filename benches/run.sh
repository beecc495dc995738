#!/bin/sh
# Overheads and throughputs of Prestore, each pair measured in turn in one go, as medians of ratios.
# Usage: benches/run.sh [RUNS]  (after `make build workloads`; `make bench` does both)
set -eu
cd "$(dirname "$0")/.."
runs=${1:-5}
python3 benches/table.py --runs "$runs" --long
python3 benches/overhead.py --runs "$runs"
python3 benches/budget.py --runs "$runs"
python3 benches/cold.py --runs "$runs"
python3 benches/simulate.py --runs "$runs"
python3 benches/sampled.py --runs "$runs"
python3 benches/values.py target/release/prestore build/workloads "$runs"
# Where a simulation's time goes, part by part.
cargo bench --locked -p prestore-sim --bench speed
# What failure-safe loops cost, beside checkpoints and transactions.
cargo bench --locked -p prestore-recompute --bench overhead -- 1024 "$runs"
