#!/usr/bin/env python3
"""Writes docs/nodes.md to standard output from the records in docs/runs (scripts/record_nodes.py).

    scripts/make_nodes_doc.py BUILD >docs/nodes.md
"""

import json
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
INTRO = """# Nodes: what was run where

Each cell is from a run: the demo jobs (`demos/jobs`) that go through this kind of node, library call, or kind of buffer,
all of whose outputs agreed with NumPy and SciPy (`demos/check_demos.py`), which share no code with Weft.
`scripts/record_nodes.py` makes a column, `scripts/make_nodes_doc.py` this page. Every built-in kernel is also held, on
every dtype, to a reference of its own by `weft_kernel_tests`, on both drivers; docs/gpu-runs.md has those runs.
`demos/gpu` has the jobs that a CPU device must refuse.
"copy, between devices" is `demos/two_devices`, on a server with two devices; the H200 of these runs had none beside it.
docs/job-format.md says what each one does.

"""
LIBRARIES = """
## Library calls on a GPU

A call is recorded into the job's CUDA graph, or the graph is cut there: the call is made to the launch's stream between two
graphs (or all of the job goes through streams, where that takes little longer; `weft plan` shows it). `prefetch` nodes cut
a graph as well, and so do `wait` nodes, behind which the job goes on when the value is there. On a CPU device a call is a
kernel.

| call | library | in the graph |
|---|---|---|
"""


def main():
    folder = os.path.join(ROOT, "docs", "runs")
    records = []
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file), encoding="utf-8") as text:
            records.append(json.load(text))
    records.sort(key=lambda record: record["driver"])
    rows = sorted({row for record in records for row in record["rows"]})
    print(INTRO, end="")
    print("| node | " + " | ".join(record["device"] for record in records) + " | checked against |")
    print("|---|" + "---|" * len(records) + "---|")
    for row in rows:
        cells = []
        jobs = set()
        for record in records:
            entry = record["rows"].get(row)
            if entry is None:
                cells.append("not run")
                continue
            jobs |= set(entry["passed"]) | set(entry["failed"])
            good = "refused, and says why" if entry.get("refused") else "passed"
            cells.append(good if not entry["failed"] else "FAILED: " + ", ".join(entry["failed"]))
        print(f"| {row} | " + " | ".join(cells) + " | " + ", ".join(sorted(jobs)) + " |")
    print(LIBRARIES, end="")
    weft = os.path.join(sys.argv[1], "bin", "weft")
    listing = subprocess.run([weft, "kernels", "--json"], capture_output=True, check=True).stdout
    for kernel in json.loads(listing)["kernels"]:
        if kernel["library"]:
            print(f"| {kernel['name']} | {kernel['library']} | {'cuts it' if kernel['cuts_graph'] else 'recorded'} |")


if __name__ == "__main__":
    main()
