#!/usr/bin/env -S python3 -B
"""Runs every demo job of an installed tree on one driver, holds its outputs to NumPy and SciPy, and records which kinds
of node, library calls and kinds of buffer and code it went through: one column of docs/nodes.md.

    scripts/record_nodes.py PREFIX cpu|cuda --device NAME --out docs/runs/NAME.json [--only two_devices]

PREFIX: an installed tree with the demos. Needs Python 3 with NumPy and SciPy. Exit status 0 when all passed. The copies
between devices (demos/two_devices) run where there are two; --only records them alone, into a record that is there, and
needs Python alone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import demo_jobs
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("driver", choices=["cpu", "cuda"])
    parser.add_argument("--device", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", choices=["two_devices"])
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
    if not record_two_devices(arguments, rows):
        failed.append("two_devices")
    with open(arguments.out, "w", encoding="utf-8") as out:
        json.dump({"device": arguments.device, "driver": arguments.driver, "rows": dict(sorted(rows.items()))}, out,
                  indent=1, ensure_ascii=False)
        out.write("\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
