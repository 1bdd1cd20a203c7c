#!/usr/bin/env python3
"""Makes the weights and the input of mlp.textproto as .npy files, always the same bytes.

    python3 make_mlp.py [directory]
"""

import os
import sys

import numpy as np

BATCH, INPUTS, HIDDEN, CLASSES = 32, 64, 48, 10


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    random = np.random.RandomState(1986)  # its stream is frozen in all NumPy versions
    arrays = {
        "mlp_input": random.standard_normal((BATCH, INPUTS)),
        "mlp_weights1": random.standard_normal((INPUTS, HIDDEN)) / np.sqrt(INPUTS),
        "mlp_bias1": random.standard_normal(HIDDEN) * 0.1,
        "mlp_weights2": random.standard_normal((HIDDEN, CLASSES)) / np.sqrt(HIDDEN),
        "mlp_bias2": random.standard_normal(CLASSES) * 0.1,
    }
    for name, array in arrays.items():
        np.save(os.path.join(directory, name + ".npy"), array.astype(np.float32))


if __name__ == "__main__":
    main()
