#!/usr/bin/env python3
"""Paints photo.png: a mountain lake in the evening, 640 x 480 RGB. NumPy alone; same bytes every time.

    python3 make_photo.py [photo.png]
"""

import os
import sys

import numpy as np

import png_file

WIDTH, HEIGHT = 640, 480
SHORE = 318  # row where land ends and water starts


def smooth_noise(random, height, width, cell):
    """Noise in 0..1 with features of about `cell` pixels: random values, joined by smooth curves."""
    grid = random.random_sample((height // cell + 3, width // cell + 3))
    y, x = np.arange(height) / cell, np.arange(width) / cell
    yi, xi = y.astype(int), x.astype(int)
    fy, fx = (t * t * (3 - 2 * t) for t in (y - yi, x - xi))
    fy = fy[:, None]
    top = grid[yi][:, xi] * (1 - fx) + grid[yi][:, xi + 1] * fx
    bottom = grid[yi + 1][:, xi] * (1 - fx) + grid[yi + 1][:, xi + 1] * fx
    return top * (1 - fy) + bottom * fy


def fractal(random, height, width, cell, octaves):
    total, weight, norm = np.zeros((height, width)), 1.0, 0.0
    for _ in range(octaves):
        total += weight * smooth_noise(random, height, width, max(cell, 1))
        norm += weight
        weight, cell = weight * 0.5, cell // 2
    return total / norm


def mix(a, b, t):
    return a * (1 - t[..., None]) + np.asarray(b, float) * t[..., None]


def sky(random):
    y = np.linspace(0, 1, SHORE)[:, None] * np.ones(WIDTH)
    image = mix(np.ones((SHORE, WIDTH, 3)) * [58, 96, 158], [246, 196, 140], y ** 1.4)
    yy, xx = np.mgrid[0:SHORE, 0:WIDTH]
    distance = np.hypot(yy - 168, xx - 448)
    image = mix(image, [255, 236, 190], np.exp(-distance / 70.0) * 0.85)
    image = mix(image, [255, 250, 232], 1 / (1 + np.exp((distance - 21) * 1.5)))
    clouds = fractal(random, SHORE * 3, WIDTH, 96, 6)[::3]  # stretched sideways
    cover = np.clip((clouds - 0.52) * 4.2, 0, 0.85) * np.clip(1.25 - y, 0, 1)
    return mix(image, [250, 224, 208], cover)


def ridge(random, base, height, cell):
    """The height of a mountain range by column, as rows from the top."""
    return base - height * fractal(random, 1, WIDTH, cell, 7)[0]


def mountains(random, image):
    y = np.arange(SHORE)[:, None]
    layers = [(300, 205, 190, [132, 140, 168]), (312, 150, 120, [92, 104, 128]),
              (322, 95, 150, [58, 74, 82])]
    for base, height, cell, color in layers:
        top = ridge(random, base, height, cell)
        inside = np.clip(y - top, 0, 1)
        relief = fractal(random, SHORE, WIDTH, 40, 6)
        # Lit from the upper right, over a surface that the relief and the fall line make.
        surface = relief * 90 + 0.35 * (y - top)
        down, right = np.gradient(surface)
        light = np.clip(0.95 - 0.16 * right + 0.05 * down, 0.55, 1.3)
        rock = np.asarray(color, float) * light[..., None] * 1.15
        if base == 300:  # snow on the farthest range, in patches below its line
            snow = np.clip((150 - y + 60 * (relief - 0.5)) / 22.0, 0, 1)
            rock = mix(rock, [236, 232, 238], snow * np.clip(light, 0, 1) ** 2)
        haze = np.clip((y - top) / 260.0, 0, 0.45)
        rock = mix(rock, [214, 190, 176], haze)
        image = image * (1 - inside[..., None]) + rock * inside[..., None]
    return image


def forest(random, image):
    """Firs along the shore: triangles with ragged edges."""
    y, x = np.mgrid[0:SHORE, 0:WIDTH]
    for _ in range(150):
        center, height = random.uniform(-10, WIDTH + 10), random.uniform(14, 44)
        if 250 < center < 400:
            height *= 0.45
        base = SHORE - random.uniform(0, 5)
        reach = (y - (base - height)) * 0.24
        ragged = reach * (0.72 + 0.28 * np.cos(y * 1.9 + center))
        inside = (np.abs(x - center) < ragged) & (y < base) & (y > base - height)
        image[inside] = np.array([24, 40, 34]) + random.uniform(-6, 10) + \
            np.array([10, 9, 3]) * (x[inside] > center)[:, None]
    return image


def cabin(image):
    y, x = np.mgrid[0:image.shape[0], 0:WIDTH]
    wall = (x > 296) & (x < 338) & (y > 292) & (y < 316)
    image[wall] = np.array([112, 72, 50]) - 9.0 * ((y[wall] % 5) == 0)[:, None]
    roof = (y > 274) & (y <= 293) & (np.abs(x - 317) < (y - 272) * 1.35)
    image[roof] = [66, 48, 46]
    for left in (303, 323):
        window = (x >= left) & (x < left + 8) & (y > 298) & (y < 307)
        image[window] = [255, 214, 120]
    return image


def water(random, land):
    """The land mirrored, darker with depth, shifted by waves that grow towards the viewer."""
    rows = HEIGHT - SHORE
    depth = np.arange(rows)
    source = np.clip(SHORE - 1 - (depth * 1.55).astype(int), 0, SHORE - 1)
    waves = (fractal(random, rows * 6, WIDTH, 48, 4)[::6] - 0.5) * (2 + depth[:, None] * 0.22)
    columns = np.clip(np.arange(WIDTH) + waves * 3, 0, WIDTH - 1).astype(int)
    lines = np.clip(source[:, None] + waves.astype(int), 0, SHORE - 1)
    image = land[lines, columns]
    image = mix(image, [22, 50, 72], np.broadcast_to(0.25 + depth[:, None] / rows * 0.4,
                                                     (rows, WIDTH)))
    glint = np.clip((waves - 1.1) / 5.0, 0, 0.5)
    return mix(image, [255, 232, 196], glint)


def stones(random, image):
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    for _ in range(26):
        cy, cx = random.uniform(430, 492), random.uniform(-10, 300)
        ry = random.uniform(7, 22)
        rx = ry * random.uniform(1.4, 2.2)
        distance = ((y - cy) / ry) ** 2 + ((x - cx) / rx) ** 2
        shade = np.clip(1.15 - 0.55 * (y - cy + ry) / ry + 0.2 * (x - cx) / rx, 0.25, 1.3)
        tone = random.uniform(60, 108)
        inside = distance < 1
        image[inside] = (np.array([tone, tone * 0.95, tone * 0.9]) * shade[..., None])[inside]
    grain = (fractal(random, HEIGHT, WIDTH, 6, 3) - 0.5) * 22
    near = np.clip((y - 420) / 40.0, 0, 1) * (x < 330)
    return image + (grain * near)[..., None]


def main():
    random = np.random.RandomState(20240917)  # its stream is frozen in all NumPy versions
    land = cabin(forest(random, mountains(random, sky(random))))
    image = stones(random, np.concatenate([land, water(random, land)]))
    yy, xx = np.mgrid[0:HEIGHT, 0:WIDTH]
    vignette = 1 - 0.22 * ((yy / HEIGHT - 0.5) ** 2 + (xx / WIDTH - 0.5) ** 2) * 2
    image = image * vignette[..., None] + random.normal(0, 0.7, (HEIGHT, WIDTH))[..., None]
    path = sys.argv[1] if len(sys.argv) > 1 else \
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "photo.png")
    png_file.write(path, np.clip(image + 0.5, 0, 255).astype(np.uint8))


if __name__ == "__main__":
    main()
