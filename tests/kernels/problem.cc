#include "tests/kernels/problem.h"

#include <cmath>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace weft::kernels::testing {
namespace {

uint64_t CountOf(const std::vector<uint64_t>& shape) {
  uint64_t count = 1;
  for (const uint64_t extent : shape) count *= extent;
  return count;
}

// The tolerance of a buffer with what does not change between its elements worked out.
class Allowance {
 public:
  explicit Allowance(const ProblemBuffer& buffer) {
    const Tolerance& tolerance = buffer.tolerance;
    floor_ = IsFloat(buffer.dtype) ? TinyOf(buffer.dtype) : tolerance.levels;
    of_scale_ = tolerance.compute * EpsilonOf(ComputeType(buffer.dtype));
    of_value_ = tolerance.output * EpsilonOf(buffer.dtype);
  }
  double For(const Expected& expected) const {
    return of_scale_ * expected.scale + of_value_ * std::fabs(static_cast<double>(expected.value)) +
           floor_;
  }

 private:
  double floor_;
  double of_scale_;
  double of_value_;
};

bool Near(Value got, Value want, double allowed) {
  if (std::isnan(want)) return std::isnan(got);
  if (got == want) return true;
  if (std::isinf(want)) return false;
  return std::fabs(got - want) <= static_cast<Value>(allowed);
}

template <typename Want, typename Allowed>
std::string FirstDifference(const ProblemBuffer& buffer, absl::Span<const uint8_t> bytes, Want want,
                            Allowed allowed_for) {
  const Values values = Decode(buffer.dtype, bytes);
  uint64_t wrong = 0;
  std::ostringstream text;
  text.precision(20);
  for (uint64_t i = 0; i < values.size(); ++i) {
    const Value wanted = want(i);
    if (values[i] == wanted) continue;
    const double allowed = allowed_for(i);
    if (Near(values[i], wanted, allowed)) continue;
    if (wrong++ == 0) {
      text << buffer.name << "[" << i << "] is " << values[i] << ", not " << wanted << " (± "
           << allowed << ")";
    }
  }
  if (wrong > 0) text << "; " << wrong << " of " << values.size() << " elements differ";
  return text.str();
}

}  // namespace

std::string ToString(const Extents& extents) {
  return absl::StrCat(extents.a, "x", extents.b, "x", extents.c);
}

Problem::Problem(const KernelSchema& schema, std::vector<DType> key, Extents extents)
    : schema_(&schema),
      key_(std::move(key)),
      extents_(extents),
      random_(extents.a * 1000003 + extents.b * 1009 + extents.c) {}

Values Problem::Input(absl::string_view name, DType dtype, std::vector<uint64_t> shape) {
  std::vector<uint8_t> bytes = RandomBytes(dtype, CountOf(shape), random_);
  return Input(name, dtype, std::move(shape), std::move(bytes));
}

Values Problem::Input(absl::string_view name, DType dtype, std::vector<uint64_t> shape,
                      std::vector<uint8_t> bytes) {
  Add(name, dtype, std::move(shape), std::move(bytes));
  return Decode(dtype, buffers_.back().bytes);
}

Values Problem::InOut(absl::string_view name, DType dtype, std::vector<uint64_t> shape) {
  return Input(name, dtype, std::move(shape));
}

void Problem::Output(absl::string_view name, DType dtype, std::vector<uint64_t> shape) {
  constexpr uint8_t kPoison = 0xcb;
  std::vector<uint8_t> bytes(CountOf(shape) * SizeOf(dtype), kPoison);
  Add(name, dtype, std::move(shape), std::move(bytes));
}

void Problem::Scalar(absl::string_view name, Number value) {
  scalars_.emplace_back(std::string(name), value);
}

void Problem::Add(absl::string_view name, DType dtype, std::vector<uint64_t> shape,
                  std::vector<uint8_t> bytes) {
  ProblemBuffer buffer;
  buffer.name = std::string(name);
  buffer.dtype = dtype;
  buffer.shape = std::move(shape);
  buffer.bytes = std::move(bytes);
  buffers_.push_back(std::move(buffer));
}

std::string Difference(const ProblemBuffer& buffer, absl::Span<const uint8_t> bytes) {
  const Allowance allowance(buffer);
  return FirstDifference(
      buffer, bytes, [&](uint64_t i) { return buffer.expected[i].value; },
      [&](uint64_t i) { return allowance.For(buffer.expected[i]); });
}

std::string Difference(const ProblemBuffer& buffer, absl::Span<const uint8_t> one,
                       absl::Span<const uint8_t> other) {
  const Allowance allowance(buffer);
  const Values reference = Decode(buffer.dtype, other);
  return FirstDifference(
      buffer, one, [&](uint64_t i) { return reference[i]; },
      [&](uint64_t i) { return 2 * allowance.For(buffer.expected[i]); });
}

}  // namespace weft::kernels::testing
