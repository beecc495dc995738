#!/usr/bin/env python3
"""How much faster `prestore simulate --sample` is than the whole simulation of 10^9 accesses on machine A, and how far off.

Processor time, as the two do not fit into one short stretch of an idle machine. Nothing is asserted: the
figures are for people to judge.
"""

import argparse
import json
import os
import subprocess
import tempfile

PRESTORE = os.environ.get("PRESTORE", "target/release/prestore")
GOAL = 20


def simulate(trace, options):
    """Processor seconds and results of a simulation."""
    args = [PRESTORE, "simulate", trace, "--machine", "machine-a", "--quiet", "--format", "json"]
    process = subprocess.Popen([*args, *options], stdout=subprocess.PIPE, text=True)
    results = json.loads(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(args)} failed")
    return usage.ru_utime + usage.ru_stime, results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="seeds")
    parser.add_argument("--steps", type=int, default=260, help="of the stencil: 4 M accesses each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        command = ["build/workloads/stencil", f"--steps={options.steps}"]
        record = [PRESTORE, "record", "--quiet", "-o", trace, "--", *command]
        subprocess.run(record, check=True, stdout=subprocess.DEVNULL)
        whole, truth = simulate(trace, [])
        cycles = truth["cycles"]
        print(
            f"prestore simulate --sample, stencil of {truth['accesses'] / 1e6:.0f} M accesses on machine-a; "
            f"whole: {whole:.1f} s of processor time"
        )
        held = 0
        for seed in range(1, options.runs + 1):
            took, results = simulate(trace, ["--sample", f"--seed={seed}"])
            estimate = results["sampled"]["cycles"]
            inside = estimate["least"] <= cycles <= estimate["most"]
            held += inside
            print(
                f"  seed {seed}: {took:.1f} s, {whole / took:.0f} times as fast (goal {GOAL}); "
                f"{100 * (estimate['value'] / cycles - 1):+.2f} % off, says ± "
                f"{results['sampled']['within_percent']:.2f} %{'' if inside else ', outside'}"
            )
        print(f"  {held} of {options.runs} intervals hold the whole's time")


if __name__ == "__main__":
    main()
