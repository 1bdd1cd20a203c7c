"""Runs the jobs of demos/gpu, which need a GPU: there their outputs must be what NumPy computes; on a CPU device each must
be refused with a message that says so."""

import os
import shutil
import subprocess
import tempfile

ROWS = {
    "from_ptx": ["module, PTX"],
    "from_cubin": ["module, cubin"],
    "from_fatbin": ["module, fatbin"],
    "whole_device": ["user_kernel, cooperative", "user_kernel, more than 48 KiB of shared memory"],
}


def expected(name):
    """By output file."""
    import numpy as np  # pylint: disable=import-outside-toplevel  (not needed where all is refused)
    if name == "whole_device":
        count = np.arange(16384, dtype=np.float32)
        total = np.full(64, count[:1024].sum(dtype=np.float64), dtype=np.float32)
        return {"whole_total.npy": total, "whole_reversed.npy": count[::-1]}
    return {f"{name}.npy": np.arange(1000, dtype=np.float32) * np.float32(2.5) + 1}


def compile_code(weft, gpu, out):
    """What went wrong; empty: nothing."""
    source = os.path.join(gpu, "waves.cu")
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    for command in ([weft, "kernel", "build", source, "-o", os.path.join(out, "waves.ptx")],
                    [weft, "kernel", "build", source, "-o", os.path.join(out, "waves.cubin"), "--arch", "sm_90"],
                    [nvcc, "-fatbin", "-arch=sm_90", source, "-o", os.path.join(out, "waves.fatbin")]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return (done.stdout + done.stderr).strip()[-500:]
    return ""


def check(name, out):
    """What is wrong with the outputs; empty: nothing."""
    import numpy as np  # pylint: disable=import-outside-toplevel
    for file, values in expected(name).items():
        if not np.array_equal(np.load(os.path.join(out, file)), values):
            return f"{file} is not what NumPy computes"
    return ""


def run(prefix, driver):
    """(name, rows, what was said: empty where all is well) for each job."""
    weft = os.path.join(prefix, "bin", "weft")
    with tempfile.TemporaryDirectory() as folder:
        gpu, out = os.path.join(folder, "gpu"), os.path.join(folder, "out")
        shutil.copytree(os.path.join(prefix, "share", "weft", "demos", "gpu"), gpu)
        os.mkdir(out)
        fault = compile_code(weft, gpu, out)
        for name, rows in ROWS.items():
            said = fault
            if not said:
                done = subprocess.run(
                    [weft, "run", "--local", "--driver", driver, os.path.join(gpu, f"{name}.textproto"), "--out-dir", out],
                    capture_output=True, text=True, check=False)
                told = (done.stdout + done.stderr).strip()[-500:]
                if driver == "cpu":
                    is_refused = done.returncode == 2 and "GPU" in told
                    said = "" if is_refused else f"not refused as needing a GPU: {told}"
                else:
                    said = told if done.returncode != 0 else check(name, out)
            yield name, rows, said
