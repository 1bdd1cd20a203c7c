#!/usr/bin/env python3
"""Compares the outputs of one demo from two runs (two drivers): the same files, shapes and types, and values within

  .png                    1 level (rounding of filtered pixels)
  .npy of integers        exactly
  .npy of floats          1e-5 relative to the largest magnitude (sums in another order);
                          f16, and what bf16 and tf32 in the name say was rounded so: 1e-2
  marks*.npy              not compared: time stamps

  compare_outputs.py FOLDER_A FOLDER_B
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'data'))
import png_file  # noqa: E402


def load(path):
    return png_file.read(path) if path.endswith('.png') else np.load(path)


def difference(path_a, path_b):
    """(largest difference, allowed difference) or a text saying why they cannot be compared."""
    a, b = load(path_a), load(path_b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return f'{a.dtype}{a.shape} against {b.dtype}{b.shape}'
    if a.size == 0:
        return 0.0, 0.0
    worst = float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))))
    if path_a.endswith('.png'):
        return worst, 1.0
    if np.issubdtype(a.dtype, np.integer):
        return worst, 0.0
    is_short = a.dtype == np.float16 or any(word in os.path.basename(path_a) for word in ('bf16', 'tf32'))
    return worst, (1e-2 if is_short else 1e-5) * float(np.max(np.abs(a.astype(np.float64))))


def main():
    folder_a, folder_b = sys.argv[1], sys.argv[2]
    names_a, names_b = sorted(os.listdir(folder_a)), sorted(os.listdir(folder_b))
    good = names_a == names_b and bool(names_a)
    if not good:
        print(f'different files: {names_a} and {names_b}')
    for name in sorted(set(names_a) & set(names_b)):
        if name.startswith('mark') or not name.endswith(('.png', '.npy')):
            continue
        result = difference(os.path.join(folder_a, name), os.path.join(folder_b, name))
        if isinstance(result, str):
            print(f'{name}: {result}')
            good = False
        else:
            worst, allowed = result
            print(f'{name}: largest difference {worst:g}, allowed {allowed:g}')
            good = good and worst <= allowed
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
