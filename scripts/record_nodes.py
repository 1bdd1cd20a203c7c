#!/usr/bin/env -S python3 -B
"""Runs every demo job of an installed tree on one driver, holds its outputs to NumPy and SciPy, and records which kinds
of node, library calls and kinds of buffer and code it went through: one column of docs/nodes.md.

    scripts/record_nodes.py PREFIX cpu|cuda --device NAME --out docs/runs/NAME.json [--only two_devices|gpu]

PREFIX: an installed tree with the demos. Needs Python 3 with NumPy and SciPy. Exit status 0 when all passed. The copies
between devices (demos/two_devices) run where there are two; the jobs of demos/gpu need NVRTC and nvcc, and must be refused
on a CPU device. --only records these or those alone, into a record that is there, and needs no SciPy.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import demo_jobs
import gpu_jobs
import two_devices

def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, (done.stdout + done.stderr).strip()[-500:]


def record_two_devices(arguments, rows):
    """False when it failed."""
    result = two_devices.run(arguments.prefix, arguments.driver)
    if result is None:
        print("not run  two_devices: there is one device")
        return True
    good, said = result
    print(f"{'ok    ' if good else 'FAILED'}  two_devices" + ("" if good else f"\n{said}"))
    for row in two_devices.ROWS:
        names = ["two_devices/peer_copies"]
        rows[row] = {"passed": names if good else [], "failed": [] if good else names}
    return good


def record_gpu_jobs(arguments, rows):
    """The names of those that failed."""
    failed = []
    for name, its_rows, said in gpu_jobs.run(arguments.prefix, arguments.driver):
        print(f"{'FAILED' if said else 'ok    '}  gpu/{name}" + (f"\n{said}" if said else ""))
        names = [f"gpu/{name}"]
        for row in its_rows:
            rows[row] = {"passed": [] if said else names, "failed": names if said else []}
            if arguments.driver == "cpu":
                rows[row]["refused"] = True
        if said:
            failed += names
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("driver", choices=["cpu", "cuda"])
    parser.add_argument("--device", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", choices=["two_devices", "gpu"])
    arguments = parser.parse_args()
    demos = os.path.join(arguments.prefix, "share", "weft", "demos")
    weft = os.path.join(arguments.prefix, "bin", "weft")
    rows = {}
    failed = []
    if arguments.only:
        with open(arguments.out, encoding="utf-8") as record:
            rows = json.load(record)["rows"]
    for file in [] if arguments.only else sorted(os.listdir(os.path.join(demos, "jobs"))):
        name, ending = os.path.splitext(file)
        if ending != ".textproto":
            continue
        path = os.path.join(demos, "jobs", file)
        with tempfile.TemporaryDirectory() as folder:
            good, said = run([weft, "run", "--local", "--driver", arguments.driver, path, "--out-dir", folder])
            if good:
                good, said = run([sys.executable, "-B", os.path.join(demos, "check_demos.py"), folder, name])
        print(f"{'ok    ' if good else 'FAILED'}  {name}" + ("" if good else f"\n{said}"))
        if not good:
            failed.append(name)
        with open(path, encoding="utf-8") as text:
            for row in demo_jobs.rows_of(text.read()):
                entry = rows.setdefault(row, {"passed": [], "failed": []})
                entry["passed" if good else "failed"].append(name)
    if arguments.only != "gpu" and not record_two_devices(arguments, rows):
        failed.append("two_devices")
    if arguments.only != "two_devices":
        failed += record_gpu_jobs(arguments, rows)
    with open(arguments.out, "w", encoding="utf-8") as out:
        json.dump({"device": arguments.device, "driver": arguments.driver, "rows": dict(sorted(rows.items()))}, out,
                  indent=1, ensure_ascii=False)
        out.write("\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
