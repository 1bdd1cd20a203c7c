// One call of a kernel: arguments, and what the reference expects of every buffer that it writes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernels/schema.h"
#include "tests/kernels/values.h"

namespace weft::kernels::testing {

// Extents of a problem; kernels of vectors use `a` alone, of matrices a rows and b columns, matmul
// all three (m, n, k).
struct Extents {
  uint64_t a = 0;
  uint64_t b = 1;
  uint64_t c = 1;
};
std::string ToString(const Extents& extents);

// How far a float result may lie from the reference:
// compute × ε(compute type) × scale + output × ε(dtype) × |reference| + the dtype's smallest value.
// Integers: at most `levels` apart.
struct Tolerance {
  double compute = 0;
  double output = 1;
  double levels = 0;
};

inline constexpr Tolerance kExact{0, 0, 0};

// The reference's value of an element, and the sum of the magnitudes that went into it.
struct Expected {
  Value value = 0;
  double scale = 0;
};

struct ProblemBuffer {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;
  std::vector<uint8_t> bytes;  // content before the call
  bool written = false;
  std::vector<Expected> expected;  // of a written buffer
  Tolerance tolerance;
};

class Problem {
 public:
  // `key`: the dtypes of the arguments that select the instantiation.
  Problem(const KernelSchema& schema, std::vector<DType> key, Extents extents);

  const KernelSchema& schema() const { return *schema_; }
  const Extents& extents() const { return extents_; }
  DType dtype(size_t index = 0) const { return key_[index]; }
  const std::vector<ProblemBuffer>& buffers() const { return buffers_; }
  const std::vector<std::pair<std::string, Number>>& scalars() const { return scalars_; }
  Random& random() { return random_; }

  // Adds a buffer that is read, with random content or `bytes`; returns its elements.
  Values Input(absl::string_view name, DType dtype, std::vector<uint64_t> shape);
  Values Input(absl::string_view name, DType dtype, std::vector<uint64_t> shape,
               std::vector<uint8_t> bytes);
  // Adds a buffer that is read and written.
  Values InOut(absl::string_view name, DType dtype, std::vector<uint64_t> shape);
  // Adds a buffer that is written; Expect must follow.
  void Output(absl::string_view name, DType dtype, std::vector<uint64_t> shape);
  void Scalar(absl::string_view name, Number value);

  // What the buffer added last holds afterwards: element(i) → Expected.
  template <typename F>
  void Expect(const Tolerance& tolerance, F element) {
    ProblemBuffer& buffer = buffers_.back();
    buffer.tolerance = tolerance;
    buffer.written = true;
    const uint64_t count = buffer.bytes.size() / SizeOf(buffer.dtype);
    buffer.expected.reserve(count);
    for (uint64_t i = 0; i < count; ++i) buffer.expected.push_back(element(i));
  }

 private:
  void Add(absl::string_view name, DType dtype, std::vector<uint64_t> shape,
           std::vector<uint8_t> bytes);

  const KernelSchema* schema_;
  std::vector<DType> key_;
  Extents extents_;
  Random random_;
  std::vector<ProblemBuffer> buffers_;
  std::vector<std::pair<std::string, Number>> scalars_;
};

// "" when `bytes` are what the buffer expects; otherwise the first element that is not, with its
// position, value, reference and tolerance, and how many there are.
std::string Difference(const ProblemBuffer& buffer, absl::Span<const uint8_t> bytes);
// The same between the results of two devices, which may be twice the tolerance apart.
std::string Difference(const ProblemBuffer& buffer, absl::Span<const uint8_t> one,
                       absl::Span<const uint8_t> other);

}  // namespace weft::kernels::testing
