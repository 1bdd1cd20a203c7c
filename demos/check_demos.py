#!/usr/bin/env python3
"""Compares what the demo jobs wrote with NumPy and SciPy, which share no code with Weft.

    python3 check_demos.py FOLDER [DEMO …]

FOLDER: where the outputs are (`weft run demos/jobs/edges.textproto` writes to demos/out). Without names, all are
checked. Exit status 0 when everything agrees; else 1, and one line a difference.
"""

import os
import sys

import numpy as np
from scipy import ndimage, signal, sparse, stats

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


def diffused(heat):
    wide = np.pad(heat, 1, mode="edge")
    return heat + 0.25 * (wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] - 4 * heat)


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


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def check_library_matmul(folder):
    weights = lambda name: np.load(os.path.join(DATA, f"mlp_{name}.npy")).astype(np.float64)
    load = lambda name: np.load(os.path.join(folder, f"{name}.npy")).astype(np.float64)
    hidden = np.maximum(weights("input") @ weights("weights1") + weights("bias1"), 0)
    logits = hidden @ weights("weights2") + weights("bias2")
    power = np.exp(logits - logits.max(axis=1, keepdims=True))
    classes = power / power.sum(axis=1, keepdims=True)
    halves = gelu(0.125 * load("half_a") @ load("half_b").T + 2 * load("half_c"))
    brains = load("bf16_a") @ load("bf16_b")
    singles = load("single_a").T @ load("single_b")
    terms = np.abs(load("single_a")).T @ np.abs(load("single_b"))
    # One rounding to the type of the result, and those of f32 sums; tf32 rounds both operands to 10 bits.
    return (expect_close("library_classes", load("library_classes"), classes, 2e-6) +
            expect_close("half_d", load("half_d"), halves, np.abs(halves).max() * 2 ** -11 + 1e-4) +
            expect_close("bf16_d", load("bf16_d"), brains, np.abs(brains).max() * 2 ** -8) +
            expect_close("tf32_d", load("tf32_d"), singles, terms.max() * 2 ** -10))


def check_library_fft(folder):
    def load(name):
        return np.load(os.path.join(folder, f"{name}.npy")).astype(np.float64)

    def load_complex(name):
        pairs = load(name)
        return pairs[..., 0] + 1j * pairs[..., 1]

    def expect_spectrum(name, expected, one):
        mean = lambda values: np.sqrt(np.mean(np.abs(values) ** 2))
        allowed = one * np.log2(expected.size) * mean(expected)
        error = mean(load_complex(name) - expected)
        return [] if error <= allowed else [f"{name}: off by {error} in the mean, allowed {allowed}"]

    gray = gray_photo().astype(float)
    signals = load_complex("signals")
    return (expect_spectrum("spectrum", np.fft.rfft2(gray), 1e-6) +
            expect_close("photo_back", load("photo_back"), gray, 1e-3) +
            expect_spectrum("signals_fft", np.fft.ifft(signals) * signals.shape[1], 1e-15) +
            expect_spectrum("prime_fft", np.fft.rfft(load("prime")), 1e-6) +
            expect_spectrum("volume_fft", np.fft.fftn(load_complex("volume")), 1e-6) +
            expect_spectrum("plane_fft", np.fft.fft2(load_complex("plane")), 1e-15) +
            expect_close("prime_back", load("prime_back") / 1009, load("prime"), 1e-4) +
            expect_spectrum("block_fft", np.fft.rfftn(load("block")), 1e-15) +
            expect_close("block_back", load("block_back") / 900, load("block"), 1e-13))


def check_own_textures(folder):
    load = lambda name: np.load(os.path.join(folder, f"textures_{name}.npy"))
    gray = gray_photo()
    # Four times as large, from (200, 100): pixels have their middles at halves. A GPU filters 8-bit values to 16 bits.
    rows, columns = np.mgrid[0:256, 0:256] / 4 - 0.5
    zoomed = ndimage.map_coordinates(gray / 255, [100 + rows, 200 + columns], order=1)
    # Beyond its edges the board is mirrored, and texels have two channels.
    board = np.arange(16 * 32 * 2, dtype=np.float64).reshape(16, 32, 2)
    mirrored = np.pad(board, ((16, 16), (32, 32), (0, 0)), mode="symmetric")
    # Entries before the first are zeros.
    table = np.where(gray >= 16, gray - 16.0, 0)
    return (expect_close("own_textures: zoomed", load("zoomed"), zoomed, 2 ** -16) +
            expect_close("own_textures: mirrored", load("mirrored"), mirrored, 0) +
            expect_close("own_textures: looked_up", load("looked_up"), table, 0))


def check_library_prim(folder):
    load = lambda name: np.load(os.path.join(folder, f"prim_{name}.npy"))
    normal, group, flags = load("normal"), load("group"), load("flags")
    filled = lambda values: np.pad(values, (0, normal.size - values.size))
    places = np.argsort(group, kind="stable")
    present, starts, lengths = np.unique(group[places], return_index=True, return_counts=True)
    kept = normal[flags != 0]
    inside = normal[(normal >= -2) & (normal < 2)]
    expected = {
        "words_sorted": np.sort(load("words")), "normal_falling": np.sort(normal)[::-1],
        "group_sorted": group[places], "normal_grouped": normal[places],
        "group_keys": filled(present), "group_lowest": filled(np.minimum.reduceat(normal[places], starts)),
        "group_count": np.array([present.size]), "run_values": filled(present), "run_lengths": filled(lengths),
        "run_count": np.array([present.size]), "run_starts": np.cumsum(filled(lengths)) - filled(lengths),
        "groups_present": filled(present), "present_count": np.array([present.size]), "kept": filled(kept),
        "kept_count": np.array([kept.size]), "running_max": np.maximum.accumulate(filled(kept)),
        "bins": np.bincount(np.floor((inside.astype(np.float64) + 2) * 16).astype(int), minlength=64),
    }
    terms = np.abs(kept.astype(np.float64)).sum()
    return ([fault for name, value in expected.items() for fault in expect_close(f"prim: {name}", load(name), value, 0)] +
            expect_close("prim: total", load("total"), np.array([kept.astype(np.float64).sum()]), terms * 2 ** -24 * 1000))


def check_expressions(folder):
    load = lambda name: np.load(os.path.join(folder, f"expressions_{name}.npy"))
    x, b = np.arange(1000, dtype=np.float64), load("b").astype(np.float64)
    y = 0.25 * x + np.sin(b)
    k = np.arange(1000, dtype=np.int32)
    # C's division rounds to zero, and by 0 it gives 0 here.
    quotient = np.trunc(np.divide(1000.0, k - 10, out=np.zeros(1000), where=k != 10)).astype(np.int32)
    mixed = np.where(k % 7 == 0, -k, k * k * k * k) + quotient
    guess = x / 8 + 1
    for _ in range(5):
        guess = (guess + (x + 1) / guess) / 2
    negative = png_file.read(os.path.join(folder, "expressions_negative.png"))
    return (expect_close("expressions: y", load("y"), y, 1e-4) +
            expect_close("expressions: share", load("share"), np.maximum(y, 0) / y.sum(), 1e-7) +
            expect_close("expressions: radius", load("radius"), np.hypot(x, 3 * b) * np.exp(-x / 500), 1e-12 * 1000) +
            expect_close("expressions: mixed", load("mixed"), mixed, 0) +
            expect_close("expressions: negative", negative, 255 - png_file.read(os.path.join(DATA, "photo.png")), 0) +
            expect_close("expressions: guess", load("guess"), guess, 1e-12))


def check_library_solver(folder):
    load = lambda name: np.load(os.path.join(folder, f"solver_{name}.npy")).astype(np.float64)
    g, spd, a, b, tall = (load(name) for name in ("g", "spd", "a", "b", "tall"))
    w, v = np.linalg.eigh(spd)
    faults = [f"library_solver: {name}_info is {load(name + '_info')}, expected 0"
              for name in ("lower", "x", "w", "wide", "tall") if load(name + "_info").any()]
    faults += expect_close("solver_lower", np.tril(load("lower")), np.linalg.cholesky(spd), 2e-4)
    faults += expect_close("solver_x", load("x"), np.linalg.solve(a, b), 1e-9)
    faults += expect_close("solver_w", load("w"), w, 1e-3)
    # A vector of either sign.
    faults += expect_close("solver_v", np.abs(np.diag(load("v") @ v)), np.ones(40), 1e-3)
    faults += expect_close("solver_v, orthonormal", load("v") @ load("v").T, np.eye(40), 1e-4)
    for name, matrix, one in (("wide", g, 1e-4), ("tall", tall, 1e-12)):
        u, s, vt = load(f"{name}_u"), load(f"{name}_s"), load(f"{name}_vt")
        faults += expect_close(f"solver_{name}_s", s, np.linalg.svd(matrix, compute_uv=False), one)
        faults += expect_close(f"solver_{name}: u s vt", u * s @ vt, matrix, one)
        faults += expect_close(f"solver_{name}_u, orthonormal", u.T @ u, np.eye(s.size), one)
        faults += expect_close(f"solver_{name}_vt, orthonormal", vt @ vt.T, np.eye(s.size), one)
    return faults


def check_library_sparse(folder):
    load = lambda name: np.load(os.path.join(folder, f"sparse_{name}.npy"))
    offsets, columns = (np.load(os.path.join(DATA, f"graph_{name}.npy")) for name in ("offsets", "columns"))
    matrix = lambda values: sparse.csr_matrix((values.astype(np.float64), columns, offsets), shape=(300, 300))
    return (expect_close("sparse_y", load("y"), matrix(load("values")) @ load("x").astype(np.float64), 1e-5) +
            expect_close("sparse_c", load("c"), 0.5 * (matrix(load("weights")) @ load("b")), 1e-13) +
            expect_close("sparse_y_info", load("y_info"), np.zeros(1), 0) +
            expect_close("sparse_c_info", load("c_info"), np.zeros(1), 0) +
            expect_close("sparse_bad_y", load("bad_y"), np.zeros(300), 0) +
            expect_close("sparse_bad_info", load("bad_info"), np.ones(1), 0))


def correlated(images, filters, bias, pad, stride):
    images = np.pad(images, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    planes = [[sum(signal.correlate2d(image[c], kernel[c], "valid") for c in range(len(kernel)))[::stride, ::stride]
               for kernel in filters] for image in images]
    return np.array(planes) + bias[:, None, None]


def check_library_dnn(folder):
    load = lambda name: np.load(os.path.join(folder, f"dnn_{name}.npy")).astype(np.float64)
    features = correlated(gray_photo()[None, None].astype(float), load("filters"), load("bias"), 2, 2)
    halves = correlated(load("wide_x"), load("wide_filters"), load("wide_bias"), 1, 1)
    return (expect_close("dnn_features", load("features"), np.maximum(features, 0), 0.02) +
            expect_close("dnn_wide_y", load("wide_y"), halves, np.abs(halves).max() * 2 ** -11 + 1e-4))


def philox_blocks(seed, blocks, upper):
    """Philox4x32-10 (Salmon et al., SC'11), four words a row: the counter is `blocks` and, above it, `upper`."""
    mask = np.uint64(0xffffffff)
    c0, c1 = blocks & mask, blocks >> np.uint64(32)
    c2, c3 = upper & mask, upper >> np.uint64(32)
    k0, k1 = np.uint64(seed & 0xffffffff), np.uint64(seed >> 32)
    for _ in range(10):
        high, low = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (low >> np.uint64(32)) ^ c1 ^ k0, low & mask, (high >> np.uint64(32)) ^ c3 ^ k1, high & mask
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & mask, (k1 + np.uint64(0xBB67AE85)) & mask
    return np.stack([c0, c1, c2, c3], axis=1).astype(np.uint32)


def philox_words(seed, offset, count):
    """Words offset … of the sequence whose counter is the number of the block of four."""
    blocks = np.arange(offset // 4, (offset + count + 3) // 4, dtype=np.uint64)
    return philox_blocks(seed, blocks, np.zeros_like(blocks)).ravel()[offset % 4:][:count]


def check_library_rand(folder):
    load = lambda name: np.load(os.path.join(folder, f"rand_{name}.npy"))
    # cuRAND's legacy order: each of 65536 subsequences makes four numbers, then the next.
    turns = np.arange(260, dtype=np.uint64)
    first = philox_blocks(7, np.zeros_like(turns), turns)
    second = philox_blocks(7, np.ones_like(turns), turns)
    single = (first.ravel()[3:1003].astype(np.float32) / np.float32(2**32) + np.float32(2**-33)).astype(np.float32)
    words = np.concatenate([first, second], axis=1).astype(np.uint64).reshape(-1, 2)[:1000]
    double = (words[:, 0] ^ (words[:, 1] << np.uint64(21))).astype(np.float64) / 2**53 + 2**-54
    faults = (expect_close("rand_uniform_f32", load("uniform_f32"), single, 0) +
              expect_close("rand_uniform_f64", load("uniform_f64"), double, 0))
    for name, distribution in (("normal_f32", stats.norm(1, 2)), ("normal_f64", stats.norm()),
                               ("log_normal_f32", stats.lognorm(0.5))):
        values = load(name).astype(np.float64)
        if stats.kstest(values, distribution.cdf).pvalue < 1e-3:
            faults.append(f"rand_{name}: not of its distribution")
        for what, actual, expected, spread in (("mean", values.mean(), distribution.mean(), distribution.std()),
                                               ("deviation", values.std(), distribution.std(), 2 * distribution.std())):
            if abs(actual - expected) > 5 * spread / values.size**0.5:
                faults.append(f"rand_{name}: {what} {actual}, expected {expected}")
    return faults


def check_builtins(folder):
    load = lambda name: np.load(os.path.join(folder, f"builtins_{name}.npy"))
    words = philox_words(7, 3, 1000)
    u32 = ((words >> 8).astype(np.float32) / np.float32(2**24)).reshape(25, 40)
    u = u32.astype(np.float64)
    spread = np.zeros(2000)
    spread[:1000] = u.ravel()[::-1]
    rows = (u - u.mean(1, keepdims=True)) / np.sqrt(u.var(1, keepdims=True) + 1e-5) * 2 + np.arange(40)
    edge = np.pad(u, 1, mode="edge")
    step = u + 0.25 * (edge[:-2, 1:-1] + edge[2:, 1:-1] + edge[1:-1, :-2] + edge[1:-1, 2:] - 4 * u)
    chosen = u.ravel()[(u32.ravel() * np.float32(3)).astype(np.uint8) != 0]
    normal = load("normal")
    expected = {
        "words": (words, 0), "u": (u, 0), "kept": (u, 0), "reversed": (u.ravel()[::-1].reshape(25, 40), 0),
        "spread": (spread, 0), "dot": (np.array([u.ravel() @ u.ravel()[::-1]]), 1e-4),
        "top": (np.array([u.argmax()]), 0), "bottom": (np.array([u.argmin()]), 0), "rows": (rows, 2e-5),
        "box": (ndimage.uniform_filter(u, 5, mode="nearest"), 1e-6), "sum": (np.array([u.sum()]), 1e-3),
        "max": (np.array([u.max()]), 0), "min": (np.array([u.min()]), 0),
        "upto": (np.cumsum(u).reshape(25, 40), 1e-3), "before": ((np.cumsum(u) - u.ravel()).reshape(25, 40), 1e-3),
        "turned": (u.T, 0), "step": (step, 1e-6), "mixed": (3 * u * u.ravel()[::-1].reshape(25, 40) + u, 1e-6),
        "chosen": (np.pad(chosen, (0, 1000 - chosen.size)), 0), "chosen_count": (np.array([chosen.size]), 0),
    }
    faults = [fault for name, (value, tolerance) in expected.items()
              for fault in expect_close(f"builtins: {name}", load(name), value, tolerance)]
    # Of 1000 draws: five standard errors of the mean, and of the deviation.
    if abs(normal.mean() - 1) > 5 * 2 / 1000**0.5 or abs(normal.std() - 2) > 5 * 2 / 2000**0.5:
        faults.append(f"builtins: normal has mean {normal.mean()} and deviation {normal.std()}, expected 1 and 2")
    return faults


def check_pitched(folder):
    photo = png_file.read(os.path.join(DATA, "photo.png"))
    tile = photo[192:288, 256:384]
    framed = photo.copy()
    framed[:16] = framed[-16:] = 255
    framed[:, :16] = framed[:, -16:] = 255
    framed[24:120, 40:168] = tile
    twins = photo.copy()
    twins[:, 320:] = photo[:, :320]
    cut = np.arange(32 * 24 * 40, dtype=np.float32).reshape(32, 24, 40)[4:12, 5:11, 6:16].copy()
    cut[2, :, 0] = -1
    image = lambda name: png_file.read(os.path.join(folder, f"pitched_{name}.png"))
    return (expect_close("pitched_tile.png", image("tile"), tile, 0) +
            expect_close("pitched_framed.png", image("framed"), framed, 0) +
            expect_close("pitched_twins.png", image("twins"), twins, 0) +
            expect_close("pitched_cut.npy", np.load(os.path.join(folder, "pitched_cut.npy")), cut, 0))


def check_managed(folder):
    load = lambda name: np.load(os.path.join(folder, f"managed_{name}.npy"))
    noise = np.arange(512 * 256, dtype=np.float32).reshape(512, 256) + 1
    table = np.arange(512 * 256, dtype=np.float32).reshape(512, 256) / 2
    return (expect_close("managed: noise", load("noise"), noise, 0) +
            expect_close("managed: result", load("result"), table + noise, 0))


def check_control_flow(folder):
    load = lambda name: np.load(os.path.join(folder, f"{name}.npy"))
    heat = np.zeros((34, 34))
    heat[17, 8:24] = 400
    rounds = 0
    while rounds == 0 or int(heat.max()) > 8:
        heat = diffused(heat)
        rounds += 1
    smooth = heat
    for radius in (1, 2, 1, 2):
        smooth = ndimage.uniform_filter(smooth, 2 * radius + 1, mode="nearest")
    return (expect_close("control_flow: rounds of the loop", load("rounds"), np.array([rounds]), 0) +
            expect_close("control_flow: heat", load("heat"), heat, 1e-3) +
            expect_close("control_flow: heat smoothed twice", load("smooth"), smooth, 1e-3) +
            expect_close("control_flow: IF and ELSE", load("chosen"), np.array([111, 222]), 0) +
            expect_close("control_flow: SWITCH", load("selected"), np.array([222]), 0) +
            expect_close("control_flow: semaphore", load("semaphore"), np.array([3] + 7 * [0]), 0) +
            expect_close("control_flow: row behind the wait", load("handed_over"), 2 * np.arange(1000), 0))


def check_progress(folder):
    load = lambda name: np.load(os.path.join(folder, f"progress_{name}.npy"))
    heat = np.zeros((64, 64))
    heat[28:36, 28:36] = 100
    faults = []
    for sweep in (1, 2, 3):
        for _ in range(8):
            heat = diffused(heat)
        faults += expect_close(f"progress: peak {sweep}", load(f"peak_{sweep}").ravel(), np.array([heat.max()]), 1e-3)
        if sweep == 2:
            faults += expect_close("progress: halfway", load("halfway"), heat, 1e-3)
    return faults + expect_close("progress: heat", load("heat"), heat, 1e-3)


def check_own_symbols(folder):
    load = lambda name: np.load(os.path.join(folder, f"symbols_{name}.npy"))
    x = np.arange(50000, dtype=np.float32)
    return [fault for name, taps in (("smooth", [0.25, 0.5, 0.25]), ("sums", [1, 1, 1]))
            for fault in expect_close(f"own_symbols: {name}", load(name), 2 * ndimage.correlate1d(
                x.astype(np.float64), taps, mode="constant"), 1e-6)]


# By the name of the job file.
CHECKS = {name[len("check_"):]: check for name, check in list(globals().items()) if name.startswith("check_")}


def main():
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(CHECKS):
        sys.exit(__doc__)
    names = sys.argv[2:] or list(CHECKS)
    faults = [fault for name in names for fault in CHECKS[name](sys.argv[1])]
    print("\n".join(faults) or f"{', '.join(names)}: as NumPy and SciPy compute")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
