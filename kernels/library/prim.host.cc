// CPU twins of prim.*, by the C++ standard library.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <vector>

#include "kernels/library/host_call.h"
#include "kernels/library/prim_math.h"
#include "kernels/library/prim_schemas.h"

namespace weft::kernels {
namespace {

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <typename T>
constexpr PrimKind KindOf() {
  if constexpr (std::is_floating_point_v<T>) return PrimKind::kFloat;
  return std::is_signed_v<T> ? PrimKind::kSigned : PrimKind::kUnsigned;
}

template <typename T>
std::vector<BitsOf<T>> OrderedKeys(const T* keys, int64_t n, const PrimOrder<BitsOf<T>>& order) {
  std::vector<BitsOf<T>> ordered(static_cast<size_t>(n));
  std::transform(keys, keys + n, ordered.begin(),
                 [&](T key) { return order.Ordered(std::bit_cast<BitsOf<T>>(key)); });
  return ordered;
}

template <typename T>
PrimOrder<BitsOf<T>> OrderOf(int32_t order) {
  return {KindOf<T>(), order == static_cast<int32_t>(PrimChoices::Order::kDescending)};
}

template <typename T>
void PrimSort(const T* src, T* dst, int32_t direction, int64_t n, void* /*workspace*/) {
  const auto order = OrderOf<T>(direction);
  std::vector<BitsOf<T>> keys = OrderedKeys(src, n, order);
  std::sort(keys.begin(), keys.end());
  std::transform(keys.begin(), keys.end(), dst,
                 [&](BitsOf<T> key) { return std::bit_cast<T>(order.Restored(key)); });
}

template <typename K, typename V>
void PrimSortByKey(const K* keys, const V* values, K* sorted_keys, V* sorted_values,
                   int32_t direction, int64_t n, void* /*workspace*/) {
  const std::vector<BitsOf<K>> ordered = OrderedKeys(keys, n, OrderOf<K>(direction));
  std::vector<int32_t> places(ordered.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(),
                   [&](int32_t a, int32_t b) { return ordered[a] < ordered[b]; });
  for (size_t i = 0; i < places.size(); ++i) {
    sorted_keys[i] = keys[places[i]];
    sorted_values[i] = values[places[i]];
  }
}

// Of typed elements, the combination of bits.
template <typename T>
class CombineTyped {
 public:
  explicit CombineTyped(int32_t operation)
      : combine_{static_cast<uint32_t>(operation), KindOf<T>()} {}
  T operator()(T a, T b) const {
    return std::bit_cast<T>(combine_(std::bit_cast<BitsOf<T>>(a), std::bit_cast<BitsOf<T>>(b)));
  }
  T Identity() const { return std::bit_cast<T>(combine_.Identity()); }

 private:
  PrimCombine<BitsOf<T>> combine_;
};

template <typename T>
void PrimReduce(const T* src, T* dst, int32_t operation, int64_t n, void* /*workspace*/) {
  const CombineTyped<T> combine(operation);
  *dst = std::accumulate(src, src + n, combine.Identity(), combine);
}

template <typename T>
void PrimScan(const T* src, T* dst, int32_t mode, int32_t operation, int64_t n,
              void* /*workspace*/) {
  const CombineTyped<T> combine(operation);
  if (mode == static_cast<int32_t>(PrimChoices::Mode::kInclusive)) {
    std::inclusive_scan(src, src + n, dst, combine);
  } else {
    std::exclusive_scan(src, src + n, dst, combine.Identity(), combine);
  }
}

template <typename T>
bool SameBits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Calls found(first, end) for each run of equal keys.
template <typename K, typename Found>
void ForEachRun(const K* keys, int64_t n, Found found) {
  for (int64_t first = 0; first < n;) {
    int64_t end = first + 1;
    while (end < n && SameBits(keys[first], keys[end])) ++end;
    found(first, end);
    first = end;
  }
}

// The parameters are those of the schema, which fixes their number.
template <typename K, typename V>  // NOLINTNEXTLINE(readability-function-size)
void PrimReduceByKey(const K* keys, const V* values, K* runs, V* results, int64_t* count,
                     int32_t operation, int64_t n, void* /*workspace*/) {
  const CombineTyped<V> combine(operation);
  int64_t found = 0;
  ForEachRun(keys, n, [&](int64_t first, int64_t end) {
    runs[found] = keys[first];
    results[found] = std::accumulate(values + first + 1, values + end, values[first], combine);
    ++found;
  });
  *count = found;
  std::fill(runs + found, runs + n, K{0});
  std::fill(results + found, results + n, V{0});
}

template <typename Bits>
void PrimSelect(const Bits* src, const uint8_t* flags, Bits* dst, int64_t* count, int64_t n,
                void* /*workspace*/) {
  int64_t kept = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (flags[i] != 0) dst[kept++] = src[i];
  }
  *count = kept;
  std::fill(dst + kept, dst + n, Bits{0});
}

template <typename Bits>
void PrimUnique(const Bits* src, Bits* dst, int64_t* count, int64_t n, void* /*workspace*/) {
  Bits* const end = std::unique_copy(src, src + n, dst);
  *count = end - dst;
  std::fill(end, dst + n, Bits{0});
}

template <typename Bits>
void PrimRunLengthEncode(const Bits* src, Bits* runs, int32_t* lengths, int64_t* count, int64_t n,
                         void* /*workspace*/) {
  int64_t found = 0;
  ForEachRun(src, n, [&](int64_t first, int64_t end) {
    runs[found] = src[first];
    lengths[found] = static_cast<int32_t>(end - first);
    ++found;
  });
  *count = found;
  std::fill(runs + found, runs + n, Bits{0});
  std::fill(lengths + found, lengths + n, 0);
}

template <typename T>
void PrimHistogram(const T* src, uint32_t* counts, double lower, double upper, int64_t bins,
                   int64_t n, void* /*workspace*/) {
  const PrimBins even = MakePrimBins(lower, upper, bins);
  std::fill(counts, counts + bins, 0);
  for (int64_t i = 0; i < n; ++i) {
    const int32_t bin = even.Of(static_cast<double>(src[i]));
    if (bin >= 0) ++counts[bin];
  }
}

#define WEFT_PRIM_OF_TYPE(T, name)                        \
  HostCall<&PrimSort<T>>("weft_prim_sort_" name),         \
      HostCall<&PrimReduce<T>>("weft_prim_reduce_" name), \
      HostCall<&PrimScan<T>>("weft_prim_scan_" name),     \
      HostCall<&PrimHistogram<T>>("weft_prim_histogram_" name)
#define WEFT_PRIM_OF_PAIR(K, V, name)                            \
  HostCall<&PrimSortByKey<K, V>>("weft_prim_sort_by_key_" name), \
      HostCall<&PrimReduceByKey<K, V>>("weft_prim_reduce_by_key_" name)
#define WEFT_PRIM_OF_KEY(K, name)                                                           \
  WEFT_PRIM_OF_PAIR(K, int32_t, name "_i32"), WEFT_PRIM_OF_PAIR(K, uint32_t, name "_u32"),  \
      WEFT_PRIM_OF_PAIR(K, float, name "_f32"), WEFT_PRIM_OF_PAIR(K, int64_t, name "_i64"), \
      WEFT_PRIM_OF_PAIR(K, uint64_t, name "_u64"), WEFT_PRIM_OF_PAIR(K, double, name "_f64")
#define WEFT_PRIM_OF_WIDTH(Bits, name)                       \
  HostCall<&PrimSelect<Bits>>("weft_prim_select_" name),     \
      HostCall<&PrimUnique<Bits>>("weft_prim_unique_" name), \
      HostCall<&PrimRunLengthEncode<Bits>>("weft_prim_run_length_encode_" name)

constexpr weft_host_kernel kPrimEntries[] = {
    WEFT_PRIM_OF_TYPE(int32_t, "i32"),
    WEFT_PRIM_OF_TYPE(uint32_t, "u32"),
    WEFT_PRIM_OF_TYPE(float, "f32"),
    WEFT_PRIM_OF_TYPE(int64_t, "i64"),
    WEFT_PRIM_OF_TYPE(uint64_t, "u64"),
    WEFT_PRIM_OF_TYPE(double, "f64"),
    HostCall<&PrimHistogram<uint8_t>>("weft_prim_histogram_u8"),
    WEFT_PRIM_OF_KEY(int32_t, "i32"),
    WEFT_PRIM_OF_KEY(uint32_t, "u32"),
    WEFT_PRIM_OF_KEY(float, "f32"),
    WEFT_PRIM_OF_KEY(int64_t, "i64"),
    WEFT_PRIM_OF_KEY(uint64_t, "u64"),
    WEFT_PRIM_OF_KEY(double, "f64"),
    WEFT_PRIM_OF_WIDTH(uint32_t, "b32"),
    WEFT_PRIM_OF_WIDTH(uint64_t, "b64"),
};
#undef WEFT_PRIM_OF_TYPE
#undef WEFT_PRIM_OF_PAIR
#undef WEFT_PRIM_OF_KEY
#undef WEFT_PRIM_OF_WIDTH

}  // namespace

HostEntries PrimEntries() { return {kPrimEntries, std::size(kPrimEntries)}; }

}  // namespace weft::kernels
