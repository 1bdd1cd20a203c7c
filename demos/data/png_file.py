"""Reads and writes 8-bit gray and RGB PNG files with NumPy and zlib alone."""

import struct
import zlib

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def _paeth(left, up, corner):
    estimate = left + up - corner
    d_left, d_up, d_corner = abs(estimate - left), abs(estimate - up), abs(estimate - corner)
    return np.where((d_left <= d_up) & (d_left <= d_corner), left,
                    np.where(d_up <= d_corner, up, corner))


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write(path, image):
    """image: uint8, (height, width) or (height, width, 3)."""
    image = np.ascontiguousarray(image, np.uint8)
    height, width = image.shape[:2]
    channels = 1 if image.ndim == 2 else image.shape[2]
    rows = image.reshape(height, width * channels).astype(np.int16)
    left = np.zeros_like(rows)
    left[:, channels:] = rows[:, :-channels]
    up = np.zeros_like(rows)
    up[1:] = rows[:-1]
    corner = np.zeros_like(rows)
    corner[1:, channels:] = rows[:-1, :-channels]
    filtered = np.stack([rows, rows - left, rows - up, rows - (left + up) // 2,
                         rows - _paeth(left, up, corner)]).astype(np.uint8)
    # The usual rule: of the five filters, the one whose bytes, read as signed, are smallest in sum.
    cost = np.abs(filtered.astype(np.int8).astype(np.int32)).sum(axis=2)
    best = cost.argmin(axis=0)
    lines = b"".join(bytes([f]) + filtered[f, y].tobytes() for y, f in enumerate(best))
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(_SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(lines, 9)) +
                   _chunk(b"IEND", b""))


def _unfilter_serial(kind, line, above, channels):
    """Filters in which a byte depends on the one to its left; `line` becomes the row."""
    for x in range(len(line)):
        left = line[x - channels] if x >= channels else 0
        up = above[x]
        if kind == 3:
            guess = (left + up) >> 1
        else:
            corner = above[x - channels] if x >= channels else 0
            d_left, d_up, d_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            guess = left if d_left <= d_up and d_left <= d_corner else up if d_up <= d_corner else corner
        line[x] = (line[x] + guess) & 255


def _unfilter(lines, height, stride, channels):
    rows, above = [], bytearray(stride)
    for y in range(height):
        kind = lines[y * (stride + 1)]
        line = bytearray(lines[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        if kind == 1:
            pixels = np.frombuffer(line, np.uint8).reshape(-1, channels)
            line = bytearray(pixels.cumsum(axis=0, dtype=np.uint8).tobytes())
        elif kind == 2:
            line = bytearray((np.frombuffer(line, np.uint8) + np.frombuffer(above, np.uint8)).tobytes())
        elif kind in (3, 4):
            _unfilter_serial(kind, line, above, channels)
        rows.append(bytes(line))
        above = line
    return np.frombuffer(b"".join(rows), np.uint8)


def read(path):
    """The image as uint8, (height, width) or (height, width, 3)."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != _SIGNATURE:
        raise ValueError(f"{path}: not a PNG file")
    position, header, compressed = 8, None, b""
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position:position + 8])
        body = data[position + 8:position + 8 + length]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            compressed += body
        position += 12 + length
    width, height, depth, color, _, _, interlace = header
    if depth != 8 or color not in (0, 2) or interlace:
        raise ValueError(f"{path}: only 8-bit gray and RGB without interlacing are read")
    channels = 3 if color == 2 else 1
    image = _unfilter(zlib.decompress(compressed), height, width * channels, channels)
    return image.reshape((height, width, 3) if channels == 3 else (height, width))
