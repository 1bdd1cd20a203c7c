// How the scans split their work; shared by both sides, so that both add in the same order and give the same bits.
//
// Elements are cut into tiles, and a tile among the threads of a block, kScanItems neighbours each. A thread adds its
// items in order. The sums of a warp's threads are scanned by doubling distances (1, 2, 4, 8, 16); the warps' sums are
// added in order, starting with what lies before the tile. Then each thread adds its items to what lies before it.
// Sums of whole tiles are made first, as reduce_math.h has it, and scanned as tiles of their own by one block.
#pragma once

#include "kernels/builtin/numbers.h"

namespace weft::kernels {

inline constexpr int kScanThreads = 256;
inline constexpr int kScanWarps = kScanThreads / 32;
inline constexpr int kScanItems = 8;
inline constexpr int64_t kScanTile = kScanThreads * kScanItems;  // as in schema_parts.h

enum class ScanKind { kInclusive, kExclusive };

WEFT_HOST_DEVICE int64_t TileCount(int64_t n) { return (n + kScanTile - 1) / kScanTile; }

}  // namespace weft::kernels
