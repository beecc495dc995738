#!/usr/bin/env python3
"""Runs long programs natively, under `advise --budget all` and with a budget in turn, and prints medians of ratios.

Beside them: at how many of the places that both judge the verdicts differ, and by how much their shares of
the writing do at most. Nothing is asserted: the figures are for people to judge.
"""

import argparse
import json
import subprocess

from overhead import PRESTORE, paired, spread

PROGRAMS = {
    "stencil": ["build/workloads/stencil", "--threads=2", "--n=192", "--steps=40"],
    "kv": ["build/workloads/kv", "--threads=2", "--ops=8000000"],
    "trie": ["build/workloads/trie", "--threads=2", "--ops=8000000"],
    "sparse": ["build/workloads/sparse", "--threads=2", "--rows=400000", "--iters=40"],
}


def places(budget, command):
    """Verdict and share of the writing by place."""
    out = subprocess.run(
        [PRESTORE, "advise", "--quiet", "--budget", budget, "--format", "json", "--"] + command,
        capture_output=True, text=True, check=True,
    ).stdout
    found = json.loads(out[out.index("{"):])["findings"]
    return {(f["function"], f["line"]): (f["verdict"], f["write_share"]) for f in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--budget", default="auto")
    parser.add_argument("--only", help="this program alone")
    asked = parser.parse_args()
    runs, asked_for = asked.runs, asked.budget
    print(f"program      native s  exact, times native  budget {asked_for}, times native  verdicts differ  shares differ by")
    for name, command in PROGRAMS.items():
        if asked.only not in (None, name):
            continue
        ratios = []
        for budget in ["all", asked_for]:
            traced = [PRESTORE, "advise", "--quiet", "--budget", budget, "--"] + command
            factors, native, _ = paired(command, traced, runs)
            ratios.append(spread(factors))
        exact, part = places("all", command), places(asked_for, command)
        both = exact.keys() & part.keys()
        other = sum(exact[p][0] != part[p][0] for p in both)
        apart = max((abs(exact[p][1] - part[p][1]) for p in both), default=0.0)
        print(f"{name:12} {native:8.2f}  {ratios[0]:>19}  {ratios[1]:>23}  {other} of {len(both):9}  {apart:.3f}")


if __name__ == "__main__":
    main()
