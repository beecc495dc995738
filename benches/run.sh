#!/bin/sh
# Overheads and throughputs of Prestore, each pair measured in turn in one go, as medians of ratios.
# Usage: benches/run.sh [RUNS]  (after `make build workloads`; `make bench` does both)
set -eu
cd "$(dirname "$0")/.."
exec python3 benches/overhead.py --runs "${1:-5}"
