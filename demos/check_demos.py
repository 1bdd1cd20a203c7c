#!/usr/bin/env python3
"""Compares what the demo jobs wrote with NumPy and SciPy, which share no code with Weft.

    python3 check_demos.py FOLDER [edges] [streams] [mlp] [pipeline] [own_kernels] [own_symbols]

FOLDER: where the outputs are (`weft run demos/jobs/edges.textproto` writes to demos/out). Without names, all are
checked. Exit status 0 when everything agrees; else 1, and one line a difference.
"""

import os
import sys

import numpy as np
from scipy import ndimage

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data")
sys.path.insert(0, DATA)

import png_file  # noqa: E402  (beside the data)


def gray_photo():
    rgb = png_file.read(os.path.join(DATA, "photo.png")).astype(np.int64)
    return (rgb @ [77, 150, 29] + 128) // 256  # BT.601 luma in 1/256


def blurred(gray, sigma):
    radius = int(np.ceil(3 * sigma))
    return ndimage.gaussian_filter(gray.astype(float), sigma, mode="nearest", truncate=radius / sigma)


def expect_close(name, actual, expected, tolerance):
    if actual.shape != expected.shape:
        return [f"{name}: shape {actual.shape}, expected {expected.shape}"]
    worst = np.abs(actual.astype(float) - expected.astype(float)).max()
    return [] if worst <= tolerance else [f"{name}: off by {worst}, allowed {tolerance}"]


def check_edges(folder):
    gray = gray_photo()
    smooth = blurred(gray, 1.4)
    slope = np.hypot(ndimage.sobel(smooth, 0, mode="nearest"), ndimage.sobel(smooth, 1, mode="nearest"))
    edges = np.clip(np.floor(slope), 0, 255)
    counts = np.bincount(gray.ravel(), minlength=256)
    return (expect_close("edges.png", png_file.read(os.path.join(folder, "edges.png")), edges, 1) +
            expect_close("histogram.npy", np.load(os.path.join(folder, "histogram.npy")), counts, 0))


def check_streams(folder):
    (start1, end1), (start3, end3) = np.load(os.path.join(folder, "marks_1_3.npy"))
    start2, end2 = np.load(os.path.join(folder, "marks_2.npy"))
    faults = []
    if min(start2, start3) < end1:
        faults.append("streams: kernel 2 or 3 started before kernel 1 had ended")
    if max(start2, start3) >= min(end2, end3):
        faults.append("streams: kernels 2 and 3 did not overlap")
    return faults


def check_mlp(folder):
    load = lambda name: np.load(os.path.join(DATA, f"mlp_{name}.npy")).astype(np.float64)
    hidden = np.maximum(load("input") @ load("weights1") + load("bias1"), 0)
    logits = hidden @ load("weights2") + load("bias2")
    power = np.exp(logits - logits.max(axis=1, keepdims=True))
    return expect_close("classes.npy", np.load(os.path.join(folder, "classes.npy")),
                        power / power.sum(axis=1, keepdims=True), 2e-6)


def check_pipeline(folder):
    gray = gray_photo()
    return [fault for i in range(6)
            for fault in expect_close(f"frame{i}.png", png_file.read(os.path.join(folder, f"frame{i}.png")),
                                      np.floor(blurred(gray, 0.5 + i) + 0.5), 1)]


def check_own_kernels(folder):
    load = lambda name: np.load(os.path.join(folder, f"own_{name}.npy"))
    expected = (np.float32(0.5) * np.arange(1000003, dtype=np.float32)) + np.float32(3)
    return (expect_close("own_kernels: y", load("y"), expected, 0) +
            expect_close("own_kernels: y of the built-in kernel", load("y_ref"), expected, 0) +
            expect_close("own_kernels: sum of ones", load("count"), np.array([1000003.0]), 0))


def check_own_symbols(folder):
    load = lambda name: np.load(os.path.join(folder, f"symbols_{name}.npy"))
    x = np.arange(5000, dtype=np.float32)
    return [fault for name, taps in (("smooth", [0.25, 0.5, 0.25]), ("sums", [1, 1, 1]))
            for fault in expect_close(f"own_symbols: {name}", load(name), 2 * ndimage.correlate1d(
                x.astype(np.float64), taps, mode="constant"), 1e-6)]


CHECKS = {"edges": check_edges, "streams": check_streams, "mlp": check_mlp, "pipeline": check_pipeline,
          "own_kernels": check_own_kernels, "own_symbols": check_own_symbols}


def main():
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(CHECKS):
        sys.exit(__doc__)
    names = sys.argv[2:] or list(CHECKS)
    faults = [fault for name in names for fault in CHECKS[name](sys.argv[1])]
    print("\n".join(faults) or f"{', '.join(names)}: as NumPy and SciPy compute")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
