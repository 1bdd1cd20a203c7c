#!/usr/bin/env python3
"""Writes the edges of a graph of 300 nodes, as a sparse matrix in CSR form: graph_offsets.npy and graph_columns.npy.

    python3 make_graph.py
"""

import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
NODES = 300
EDGES = 1500


def main():
    random = np.random.default_rng(20)
    rows = np.sort(random.integers(0, NODES, EDGES))
    offsets = np.searchsorted(rows, np.arange(NODES + 1)).astype(np.int32)
    columns = random.integers(1, NODES, EDGES).astype(np.int32)
    np.save(os.path.join(HERE, "graph_offsets.npy"), offsets)
    np.save(os.path.join(HERE, "graph_columns.npy"), columns)


if __name__ == "__main__":
    main()
