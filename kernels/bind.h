// Binds the arguments of a job's node to a kernel's schema: fills defaults, gives scalars their
// type, and finds everything that is wrong.
//
// Thread safety: pure functions. Cost: linear in the number of arguments; no driver call.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/error_context.h"
#include "kernels/scalar.h"
#include "kernels/schema.h"

namespace weft::kernels {

// A buffer as the job gives it. Its bytes start at `offset_bytes` of an allocation that is aligned
// to at least 256 bytes.
struct GivenBuffer {
  std::optional<DType> dtype;  // nullopt: untyped bytes, which take the type the schema asks for
  absl::Span<const uint64_t> shape;  // outermost first; empty: not declared
  uint64_t size_bytes = 0;
  uint64_t offset_bytes = 0;
  // Which allocation it is a part of, for the check of overlaps; nullopt: not checked.
  std::optional<uint64_t> storage;
};

// The views must outlive the call of Bind alone.
struct GivenArgument {
  absl::string_view name;
  std::variant<GivenBuffer, Number, absl::string_view> value;  // a text: one of the choices
};

enum class Origin : uint8_t {
  kGiven,
  kDefault,
  kLeftOut,  // an optional buffer
};

struct BoundArgument {
  DType dtype = DType::kF32;
  Origin origin = Origin::kGiven;
  uint64_t touched_bytes = 0;  // buffer: bytes from its start that the kernel may access
  ScalarValue scalar;          // scalar: its value; of a choice: its position
};

// The arguments of one call, in schema order.
struct BoundCall {
  std::vector<BoundArgument> arguments;
  uint64_t workspace_bytes = 0;

  // REQUIRES: a buffer argument.
  bool IsGiven(uint32_t argument) const { return arguments[argument].origin == Origin::kGiven; }
  // REQUIRES: a scalar of type i64.
  int64_t I64(uint32_t argument) const {
    return static_cast<int64_t>(arguments[argument].scalar.bits);
  }
  // REQUIRES: a choice.
  uint32_t Choice(uint32_t argument) const {
    return static_cast<uint32_t>(arguments[argument].scalar.bits);
  }
};

// `violations` name the argument in `field`; `call` is complete only when there are none.
struct BindResult {
  BoundCall call;
  std::vector<FieldViolation> violations;
  bool ok() const { return violations.empty(); }
};

// Reports, all at once: unknown (with the nearest name), repeated and missing arguments, a buffer
// for a scalar and the reverse, texts that are no choice, dtypes not allowed, values that the type cannot hold or outside the
// limits, buffers too small (with figures), misaligned offsets, shapes that contradict a defaulted
// extent, sizes that overflow, and overlaps that the kernel does not allow.
BindResult Bind(const KernelSchema& schema, absl::Span<const GivenArgument> given);

// The product's value; nullopt when it does not fit 64 bits.
std::optional<uint64_t> Evaluate(const Product& product, const BoundCall& call);

}  // namespace weft::kernels
