// CPU twins of scan.cu, in the order of additions that scan_math.h lays down.
#include <algorithm>
#include <array>
#include <iterator>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/host_tables.h"
#include "kernels/builtin/reduce_host.h"
#include "kernels/builtin/scan_math.h"

namespace weft::kernels {
namespace {

// Inclusive scan of a warp's 32 values, by doubling distances.
template <typename A>
void ScanWarp(A* values) {
  for (int distance = 1; distance < 32; distance *= 2) {
    // From the end, so that every addition reads values of the step before.
    for (int i = 31; i >= distance; --i) values[i] = Plus(values[i - distance], values[i]);
  }
}

// See ScanTile of scan.cu.
template <ScanKind kKind, typename T>
Sum<T> ScanTile(const T* src, Sum<T>* dst, int64_t first, int64_t n, Sum<T> before) {
  using A = Sum<T>;
  const int64_t count = std::min(kScanTile, n - first);
  std::array<A, kScanTile> items{};
  for (int64_t i = 0; i < count; ++i) items[i] = static_cast<A>(Load(src[first + i]));
  std::array<A, kScanThreads> sums;
  for (int64_t thread = 0; thread < kScanThreads; ++thread) {
    A sum = 0;
    for (int64_t j = 0; j < kScanItems; ++j) sum = Plus(sum, items[thread * kScanItems + j]);
    sums[thread] = sum;
  }
  for (int64_t warp = 0; warp < kScanWarps; ++warp) {
    ScanWarp(&sums[warp * 32]);
    for (int64_t lane = 0; lane < 32; ++lane) {
      const int64_t thread = warp * 32 + lane;
      A running = lane == 0 ? before : Plus(before, sums[thread - 1]);
      for (int64_t i = thread * kScanItems; i < (thread + 1) * kScanItems; ++i) {
        const A with_own = Plus(running, items[i]);
        items[i] = kKind == ScanKind::kInclusive ? with_own : running;
        running = with_own;
      }
    }
    before = Plus(before, sums[warp * 32 + 31]);
  }
  std::copy(items.begin(), items.begin() + count, dst + first);
  return before;
}

template <typename T>
void TileSums(const T* src, Sum<T>*, int64_t n, Sum<T>* work) {
  for (int64_t tile = 0; tile < TileCount(n); ++tile) {
    work[tile] =
        ReduceChunk<SumOp, Sum<T>>(src, tile * kScanTile, std::min(n, (tile + 1) * kScanTile));
  }
}

template <typename T>
void TileOffsets(const T*, Sum<T>*, int64_t n, Sum<T>* work) {
  const int64_t count = TileCount(n);
  Sum<T> before = 0;
  for (int64_t first = 0; first < count; first += kScanTile) {
    before = ScanTile<ScanKind::kExclusive, Sum<T>>(work, work, first, count, before);
  }
}

template <ScanKind kKind, typename T>
void ScanTiles(const T* src, Sum<T>* dst, int64_t n, Sum<T>* work) {
  for (int64_t tile = 0; tile < TileCount(n); ++tile) {
    ScanTile<kKind>(src, dst, tile * kScanTile, n, work[tile]);
  }
}

#define WEFT_ENTRY(name, T)                                                                \
  HostEntry<&TileSums<T>>("weft_scan_" #name "_sums"),                                     \
      HostEntry<&TileOffsets<T>>("weft_scan_" #name "_offsets"),                           \
      HostEntry<&ScanTiles<ScanKind::kInclusive, T>>("weft_inclusive_scan_" #name "_add"), \
      HostEntry<&ScanTiles<ScanKind::kExclusive, T>>("weft_exclusive_scan_" #name "_add"),

constexpr weft_host_kernel kEntries[] = {WEFT_ARITHMETIC_TYPES(WEFT_ENTRY)};

}  // namespace

HostEntries ScanEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
