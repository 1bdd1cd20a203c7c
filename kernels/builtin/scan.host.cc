// CPU twins of scan.cu: tile sums, their offsets, and the scan of every tile, as on the GPU.
#include <algorithm>
#include <iterator>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/host_tables.h"
#include "kernels/builtin/numbers.h"

namespace weft::kernels {
namespace {

constexpr int64_t kScanTile = 1024;

template <typename T>
void TileSums(const T* src, Sum<T>*, int64_t n, Sum<T>* work) {
  for (int64_t first = 0; first < n; first += kScanTile) {
    Sum<T> sum = 0;
    for (int64_t i = first; i < std::min(n, first + kScanTile); ++i) {
      sum = Plus(sum, static_cast<Sum<T>>(Load(src[i])));
    }
    work[first / kScanTile] = sum;
  }
}

template <typename T>
void TileOffsets(const T*, Sum<T>*, int64_t n, Sum<T>* work) {
  Sum<T> before = 0;
  for (int64_t tile = 0; tile * kScanTile < n; ++tile) {
    const Sum<T> sum = work[tile];
    work[tile] = before;
    before = Plus(before, sum);
  }
}

template <bool kInclusive, typename T>
void AddOffsets(const T* src, Sum<T>* dst, int64_t n, Sum<T>* work) {
  for (int64_t first = 0; first < n; first += kScanTile) {
    Sum<T> sum = 0;
    for (int64_t i = first; i < std::min(n, first + kScanTile); ++i) {
      const Sum<T> before = sum;
      sum = Plus(sum, static_cast<Sum<T>>(Load(src[i])));
      dst[i] = Plus(work[first / kScanTile], kInclusive ? sum : before);
    }
  }
}

#define WEFT_ENTRY(name, T)                                                 \
  HostEntry<&TileSums<T>>("weft_scan_" #name "_sums"),                      \
      HostEntry<&TileOffsets<T>>("weft_scan_" #name "_offsets"),            \
      HostEntry<&AddOffsets<true, T>>("weft_inclusive_scan_" #name "_add"), \
      HostEntry<&AddOffsets<false, T>>("weft_exclusive_scan_" #name "_add"),

constexpr weft_host_kernel kEntries[] = {WEFT_ARITHMETIC_TYPES(WEFT_ENTRY)};

}  // namespace

HostEntries ScanEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
