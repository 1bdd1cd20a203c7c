// What a kernel is to everything above it: its arguments, their types, access and constraints, the
// memory it needs, and the launches it is made of. Plain data, without CUDA.
//
//   const KernelSchema* axpy = Registry::Builtin().Find("axpy");   // registry.h
//   BindResult bound = Bind(*axpy, given);                         // bind.h: defaults, violations
//   LaunchPlan plan = *PlanLaunch(*axpy, bound.call, limits);      // launch_shape.h: grids, blocks
//   ParameterPack pack = *PackParameters(*axpy, bound.call, addresses, workspace);  // parameters.h
//
// A kernel may be several launches in a row ("phases", for example per-block partial sums and then
// their sum). All phases take the same parameters: the arguments in schema order (a buffer is a
// device address of 8 bytes, a scalar has the size of its type), then the address of the workspace
// if the schema has one. The phases of one kernel must run in order; each one sees what those
// before it wrote.
//
// Thread safety: values; a schema of the registry is immutable.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/error_context.h"
#include "kernels/dtype.h"

namespace weft::kernels {

enum class Access : uint8_t { kRead, kWrite, kReadWrite };
absl::string_view NameOf(Access access);  // "read", "write", "read_write"
constexpr bool Reads(Access access) { return access != Access::kWrite; }
constexpr bool Writes(Access access) { return access != Access::kRead; }

struct BoundCall;     // bind.h
struct KernelSchema;  // below

// A number as it is written in a job, before it has the type of an argument.
using Number = std::variant<int64_t, uint64_t, double>;

// One factor of a product: the value of scalar argument `argument` (a position in
// KernelSchema::arguments), or a constant.
struct Factor {
  enum class Take : uint8_t {
    kValue,
    kHalf,     // value / 2 + 1: the complex numbers that the Fourier transform of so many reals has
    kPlusOne,  // value + 1: where so many rows start, and where the last ends
  };
  std::optional<uint32_t> argument;
  uint64_t constant = 1;
  Take take = Take::kValue;
  friend bool operator==(const Factor&, const Factor&) = default;
};
// A product of factors; empty means 1.
using Product = std::vector<Factor>;

// Where an argument's dtype comes from.
struct DTypeRule {
  enum class Kind : uint8_t {
    kOneOf,      // `allowed` lists what may be given (a scalar has exactly one)
    kSameAs,     // the dtype of buffer argument `argument`
    kSumOf,      // SumType of the dtype of buffer argument `argument`
    kComputeOf,  // ComputeType of it
  };
  Kind kind = Kind::kOneOf;
  std::vector<DType> allowed;
  uint32_t argument = 0;
};

struct BufferSchema {
  Access access = Access::kRead;
  // Elements must lie at a multiple of their size.
  DTypeRule dtype;
  // Extents, outermost first; the product is the number of elements that the kernel touches, always
  // from the start of the buffer.
  Product shape;
  // Buffer arguments that may be given exactly the same bytes as this one. Any other overlap with
  // an argument, where one of the two is written, is refused.
  std::vector<uint32_t> in_place_with;
  enum class Presence : uint8_t {
    kRequired,
    kOptional,  // may be left out; the kernel then gets the address 0
  };
  Presence presence = Presence::kRequired;
  uint32_t alignment = 1;  // offsets are multiples of so many elements
  // A choice argument: at a value other than 0, the last two extents of `shape` change places.
  std::optional<uint32_t> transposed_by = std::nullopt;
  // The number of elements touched, where the product of `shape` is not it; nullopt: it does not
  // fit 64 bits. Called with all scalars bound.
  std::optional<uint64_t> (*elements)(const BoundCall& call) = nullptr;
};

// The value of a scalar that the job leaves out.
struct ScalarDefault {
  enum class Kind : uint8_t {
    kRequired,      // none: the job must give it
    kConstant,      // `constant`
    kElementCount,  // number of elements of buffer argument `argument`
    kDimension,     // extent `dimension` of its shape, counted from the last (0 = last)
    kLeadingCount,  // product of all its extents but the last `dimension`
  };
  Kind kind = Kind::kRequired;
  Number constant = int64_t{0};
  uint32_t argument = 0;
  uint32_t dimension = 0;
  // Of kDimension: a choice argument, listed before this one. At a value other than 0, the last two
  // dimensions of the buffer change places.
  std::optional<uint32_t> transposed_by = std::nullopt;
};

struct ScalarSchema {
  DTypeRule dtype;
  ScalarDefault default_value;
  // Inclusive limits on top of those of the dtype.
  std::optional<Number> min;
  std::optional<Number> max;
  // Not empty: a choice. The job gives one of these texts; the value is its position.
  std::vector<std::string> choices = {};
};

struct ArgumentSchema {
  std::string name;
  std::string doc;
  std::variant<BufferSchema, ScalarSchema> kind;

  const BufferSchema* buffer() const { return std::get_if<BufferSchema>(&kind); }
  const ScalarSchema* scalar() const { return std::get_if<ScalarSchema>(&kind); }
};

// One dimension of a grid: clamp(ceil(extent / per_block), 0, max_blocks). Built-in kernels stride
// by the grid, so fewer blocks than tiles is always correct.
struct GridRule {
  Product extent;
  uint32_t per_block = 1;
  uint32_t max_blocks = 0x7fffffff;
};

struct LaunchShape {
  enum class Block : uint8_t {
    kFixed,  // the kernel is written for exactly this block
    kAny,    // a job may choose another
  };
  std::array<GridRule, 3> grid;
  uint32_t block[3] = {1, 1, 1};
  Block block_rule = Block::kFixed;
  // Dynamic shared memory: product(shared_units) * shared_unit_bytes, or 0 where that is more than
  // shared_max_bytes (the kernel then takes its path without).
  Product shared_units;
  uint32_t shared_unit_bytes = 0;
  uint32_t shared_max_bytes = 0;
};

struct PhaseSchema {
  // Symbol: "weft_" + stem + the key of the instantiation + ("_" + suffix, where not empty).
  std::string stem;
  std::string suffix;
  LaunchShape shape;
};

// Memory that the phases share, its content undefined before and after:
// min(ceil(product(units) / per_unit), max_units) * unit_bytes, aligned to kWorkspaceAlignment.
struct WorkspaceRule {
  Product units;
  uint64_t per_unit = 1;
  uint64_t max_units = UINT64_MAX;
  uint32_t unit_bytes = 0;  // 0: the kernel takes no workspace
  // Not null: the bytes, instead of the formula above; nullopt: they do not fit 64 bits.
  std::optional<uint64_t> (*bytes)(const BoundCall& call) = nullptr;
};
inline constexpr uint64_t kWorkspaceAlignment = 256;

// How the instantiation is named: by the dtypes of `arguments` ("_f32", "_u8_f32"), or by their
// width in bits where the kernel only moves elements ("_b32").
struct SymbolKey {
  enum class Kind : uint8_t { kDType, kWidth };
  Kind kind = Kind::kDType;
  std::vector<uint32_t> arguments;
};

// Of a call of a library: what carries it out on a GPU. On CPU devices the phases do.
struct LibraryTraits {
  enum class Recording : uint8_t {
    kCaptured,  // recorded once, as a part of the job's graph
    kStreams,   // waits or allocates inside, so that it is made anew at every run, through streams
  };
  absl::string_view library;  // "cuBLASLt"
  Recording recording = Recording::kCaptured;
};

struct KernelSchema {
  std::string name;
  std::string summary;  // one line
  std::string doc;      // semantics in full: rounding, NaN, borders
  std::vector<ArgumentSchema> arguments;
  SymbolKey key;
  WorkspaceRule workspace;
  std::vector<PhaseSchema> phases;
  std::optional<LibraryTraits> library = std::nullopt;  // nullopt: a kernel of Weft's own
  // Rules that tie arguments together; what it returns names the argument in `field`. Called when
  // nothing else is wrong.
  std::vector<FieldViolation> (*check)(const KernelSchema& schema, const BoundCall& call) = nullptr;

  bool has_workspace() const { return workspace.unit_bytes != 0 || workspace.bytes != nullptr; }
  // "kernel" or "call": what messages call it.
  absl::string_view noun() const { return library.has_value() ? "call" : "kernel"; }
  // Number of parameters of every phase: arguments, and the workspace if there is one.
  uint32_t parameter_count() const {
    return static_cast<uint32_t>(arguments.size()) + (has_workspace() ? 1 : 0);
  }
  // Position of the argument of that name; nullopt when there is none.
  std::optional<uint32_t> FindArgument(absl::string_view argument_name) const;
};

// "f32, f64 or i32"; "same as x"; "sum type of x": for listings and messages.
std::string Describe(const KernelSchema& schema, const DTypeRule& rule);
// "" (required); "1.5"; "count(x)"; "dim(x, 0)"; "leading(x, 1)": for listings and messages.
std::string Describe(const KernelSchema& schema, const ScalarDefault& rule);
// "rows × cols"; "1" for an empty product.
std::string Describe(const KernelSchema& schema, const Product& product);
std::string Describe(const Number& number);

}  // namespace weft::kernels
