// CPU twins of reduce.cu.
#include <iterator>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/host_tables.h"
#include "kernels/builtin/reduce_math.h"

namespace weft::kernels {
namespace {

template <typename Op, typename T>
using Accumulator = typename Op::template Accumulator<T>;
template <typename Op, typename T>
using Result = typename Op::template Result<T>;

// Partial results of runs of 1024 elements: the error of a long float sum grows with the number of runs, not of
// elements, and the phases stay what they are on the GPU.
template <typename Op, typename T>
void Partial(const T* src, Result<Op, T>*, int64_t n, Accumulator<Op, T>* partials) {
  const int64_t count = PartialCount(n);
  for (int64_t block = 0; block < count; ++block) {
    auto value = Op::template Identity<Accumulator<Op, T>>();
    const int64_t first = block * n / count;
    const int64_t last = (block + 1) * n / count;
    for (int64_t i = first; i < last; ++i) {
      value = Op::Combine(value, static_cast<Accumulator<Op, T>>(Load(src[i])));
    }
    partials[block] = value;
  }
}

template <typename Op, typename T>
void Final(const T*, Result<Op, T>* dst, int64_t n, Accumulator<Op, T>* partials) {
  auto value = Op::template Identity<Accumulator<Op, T>>();
  for (int64_t i = 0; i < PartialCount(n); ++i) value = Op::Combine(value, partials[i]);
  dst[0] = Op::template Finish<T>(value);
}

#define WEFT_OP_ENTRY(op, Op, name, T)                                 \
  HostEntry<&Partial<Op, T>>("weft_reduce_" #op "_" #name "_partial"), \
      HostEntry<&Final<Op, T>>("weft_reduce_" #op "_" #name "_final"),
#define WEFT_ENTRY(name, T)          \
  WEFT_OP_ENTRY(sum, SumOp, name, T) \
  WEFT_OP_ENTRY(min, MinOp, name, T) WEFT_OP_ENTRY(max, MaxOp, name, T)

constexpr weft_host_kernel kEntries[] = {WEFT_ARITHMETIC_TYPES(WEFT_ENTRY)};

}  // namespace

HostEntries ReduceEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
