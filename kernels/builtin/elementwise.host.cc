// CPU twins of elementwise.cu.
#include <iterator>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/elementwise_math.h"
#include "kernels/builtin/host_tables.h"

namespace weft::kernels {
namespace {

template <typename T>
void Fill(T* dst, Compute<T> value, int64_t n) {
  const T stored = Store<T>(value);
  for (int64_t i = 0; i < n; ++i) dst[i] = stored;
}
template <typename T>
void Iota(T* dst, Compute<T> start, Compute<T> step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = IotaElement<T>(start, step, i);
}
template <typename T>
void Axpy(const T* x, T* y, Compute<T> a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = AxpyElement(x[i], y[i], a);
}
template <typename T>
void Scale(const T* x, T* y, Compute<T> a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = ScaleElement(x[i], a);
}
template <typename T>
void Add(const T* a, const T* b, T* dst, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = AddElement(a[i], b[i]);
}
template <typename T>
void Mul(const T* a, const T* b, T* dst, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = MulElement(a[i], b[i]);
}
template <typename T>
void Clamp(const T* x, T* y, Compute<T> low, Compute<T> high, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = ClampElement(x[i], low, high);
}
template <typename T>
void Copy(const T* src, T* dst, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = src[i];
}
template <typename From, typename To>
void Cast(const From* src, To* dst, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = CastElement<From, To>(src[i]);
}

#define WEFT_ENTRY(name, T)                                                               \
  HostEntry<&Fill<T>>("weft_fill_" #name), HostEntry<&Iota<T>>("weft_iota_" #name),       \
      HostEntry<&Axpy<T>>("weft_axpy_" #name), HostEntry<&Scale<T>>("weft_scale_" #name), \
      HostEntry<&Add<T>>("weft_add_" #name), HostEntry<&Mul<T>>("weft_mul_" #name),       \
      HostEntry<&Clamp<T>>("weft_clamp_" #name),
#define WEFT_COPY_ENTRY(name, T) HostEntry<&Copy<T>>("weft_copy_" #name),
#define WEFT_CAST_ENTRY(from, From)                               \
  HostEntry<&Cast<From, float>>("weft_cast_" #from "_f32"),       \
      HostEntry<&Cast<From, double>>("weft_cast_" #from "_f64"),  \
      HostEntry<&Cast<From, F16>>("weft_cast_" #from "_f16"),     \
      HostEntry<&Cast<From, BF16>>("weft_cast_" #from "_bf16"),   \
      HostEntry<&Cast<From, int32_t>>("weft_cast_" #from "_i32"), \
      HostEntry<&Cast<From, uint8_t>>("weft_cast_" #from "_u8"),

constexpr weft_host_kernel kEntries[] = {WEFT_ARITHMETIC_TYPES(WEFT_ENTRY) WEFT_WIDTHS(
    WEFT_COPY_ENTRY) WEFT_ARITHMETIC_TYPES(WEFT_CAST_ENTRY)};

}  // namespace

HostEntries ElementwiseEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
