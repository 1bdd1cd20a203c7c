// CPU twins of compact.cu.
#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/builtin/compact_math.h"
#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/host_tables.h"
#include "kernels/builtin/scan_math.h"

namespace weft::kernels {
namespace {

template <typename T>
void CountKept(const T*, const uint8_t* mask, T*, int64_t*, int64_t n, int64_t* counts) {
  for (int64_t tile = 0; tile < TileCount(n); ++tile) {
    const int64_t end = std::min(n, (tile + 1) * kScanTile);
    counts[tile] = std::count_if(mask + tile * kScanTile, mask + end, IsKept);
  }
}

template <typename T>
void PlaceTiles(const T*, const uint8_t*, T*, int64_t* count, int64_t n, int64_t* counts) {
  int64_t before = 0;
  for (int64_t tile = 0; tile < TileCount(n); ++tile) {
    before += std::exchange(counts[tile], before);
  }
  *count = before;
}

template <typename T>
void MoveKept(const T* src, const uint8_t* mask, T* dst, int64_t* count, int64_t n, int64_t*) {
  T* place = dst;
  for (int64_t i = 0; i < n; ++i) {
    if (IsKept(mask[i])) *place++ = src[i];
  }
  std::fill(dst + *count, dst + n, T{0});
}

#define WEFT_ENTRY(name, T)                                      \
  HostEntry<&CountKept<T>>("weft_compact_" #name "_count"),      \
      HostEntry<&PlaceTiles<T>>("weft_compact_" #name "_place"), \
      HostEntry<&MoveKept<T>>("weft_compact_" #name "_move"),

constexpr weft_host_kernel kEntries[] = {WEFT_WIDTHS(WEFT_ENTRY)};

}  // namespace

HostEntries CompactEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
