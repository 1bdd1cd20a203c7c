#include <cmath>

#include "tests/kernels/kernel_cases.h"

namespace weft::kernels::testing {
namespace {

// `value`, wrapped where the dtype is an integer.
Expected Result(DType dtype, Value value, Value scale) {
  return {IsFloat(dtype) ? value : Wrap(dtype, value), static_cast<double>(std::fabs(scale))};
}
Expected Exact(Value value) { return {value, 0}; }
// A factor that every arithmetic dtype holds exactly and that makes products round and wrap.
Number FactorFor(DType dtype) {
  return IsFloat(dtype) ? Number{1.640625} : Number{int64_t{-77777}};
}
Value AsValue(const Number& number) {
  return std::visit([](auto value) { return static_cast<Value>(value); }, number);
}

void Fill(Problem& p) {
  const Number value = FactorFor(p.dtype());
  p.Scalar("value", value);
  p.Output("dst", p.dtype(), {p.extents().a});
  p.Expect({}, [&](uint64_t) { return Result(p.dtype(), AsValue(value), 0); });
}

void Iota(Problem& p) {
  const Number start = int64_t{-3};
  const Number step = IsFloat(p.dtype()) ? Number{0.25} : Number{int64_t{70001}};
  p.Scalar("start", start);
  p.Scalar("step", step);
  p.Output("dst", p.dtype(), {p.extents().a});
  p.Expect({1, 1}, [&](uint64_t i) {
    const Value value = AsValue(start) + AsValue(step) * i;
    // Halfway between the largest f16, 65504, and the next power of two rounds to infinity.
    return Result(p.dtype(),
                  std::fabs(value) >= 65520 && p.dtype() == DType::kF16 ? INFINITY : value, value);
  });
}

void Copy(Problem& p) {
  const Values src = p.Input("src", p.dtype(), {p.extents().a});
  p.Output("dst", p.dtype(), {p.extents().a});
  p.Expect(kExact, [&](uint64_t i) { return Exact(src[i]); });
}

// Float → integer truncates and saturates; integer → integer keeps the low bits.
void Cast(Problem& p) {
  const DType to = p.dtype(1);
  const Values src = p.Input("src", p.dtype(0), {p.extents().a});
  p.Output("dst", to, {p.extents().a});
  p.Expect({0.5, 0.5}, [&](uint64_t i) {
    if (IsFloat(to)) {
      const bool overflows = to == DType::kF16 && std::fabs(src[i]) >= 65520;
      return Result(to, overflows ? std::copysign(INFINITY, src[i]) : src[i], src[i]);
    }
    if (!IsFloat(p.dtype(0))) return Exact(Wrap(to, src[i]));
    return Exact(std::fmin(std::fmax(std::trunc(src[i]), LowestOf(to)), HighestOf(to)));
  });
}

void Axpy(Problem& p) {
  const Number a = FactorFor(p.dtype());
  p.Scalar("a", a);
  const Values x = p.Input("x", p.dtype(), {p.extents().a});
  const Values y = p.InOut("y", p.dtype(), {p.extents().a});
  p.Expect({1, 0.5}, [&](uint64_t i) {
    const Value product = AsValue(a) * x[i];
    return Result(p.dtype(), product + y[i], std::fabs(product) + std::fabs(y[i]));
  });
}

void Scale(Problem& p) {
  const Number a = FactorFor(p.dtype());
  p.Scalar("a", a);
  const Values x = p.Input("x", p.dtype(), {p.extents().a});
  p.Output("y", p.dtype(), {p.extents().a});
  p.Expect({0.5, 0.5},
           [&](uint64_t i) { return Result(p.dtype(), AsValue(a) * x[i], AsValue(a) * x[i]); });
}

template <typename F>
void Binary(Problem& p, F operation) {
  const Values a = p.Input("a", p.dtype(), {p.extents().a});
  const Values b = p.Input("b", p.dtype(), {p.extents().a});
  p.Output("dst", p.dtype(), {p.extents().a});
  p.Expect({0.5, 0.5}, [&](uint64_t i) {
    const Value value = operation(a[i], b[i]);
    return Result(p.dtype(), value, value);
  });
}
void Add(Problem& p) {
  Binary(p, [](Value a, Value b) { return a + b; });
}
void Mul(Problem& p) {
  Binary(p, [](Value a, Value b) { return a * b; });
}

void Clamp(Problem& p) {
  const Number low = IsFloat(p.dtype()) ? Number{-0.75} : Number{int64_t{17}};
  const Number high = IsFloat(p.dtype()) ? Number{1.5} : Number{int64_t{200}};
  p.Scalar("low", low);
  p.Scalar("high", high);
  const Values x = p.Input("x", p.dtype(), {p.extents().a});
  p.Output("y", p.dtype(), {p.extents().a});
  p.Expect(kExact, [&](uint64_t i) {
    return Exact(std::fmin(std::fmax(x[i], AsValue(low)), AsValue(high)));
  });
}

constexpr KernelCase kElementwiseCases[] = {
    {"fill", Sizes::kVector, Twins::kSameBits, Fill},
    {"iota", Sizes::kVector, Twins::kSameBits, Iota},
    {"copy", Sizes::kVector, Twins::kSameBits, Copy},
    {"cast", Sizes::kVector, Twins::kSameBits, Cast},
    {"axpy", Sizes::kVector, Twins::kSameBits, Axpy},
    {"scale", Sizes::kVector, Twins::kSameBits, Scale},
    {"add", Sizes::kVector, Twins::kSameBits, Add},
    {"mul", Sizes::kVector, Twins::kSameBits, Mul},
    {"clamp", Sizes::kVector, Twins::kSameBits, Clamp},
};

}  // namespace

absl::Span<const KernelCase> ElementwiseCases() { return kElementwiseCases; }

}  // namespace weft::kernels::testing
