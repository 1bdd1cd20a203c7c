#include "kernels/bind.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/byte_range.h"
#include "kernels/nearest_name.h"

namespace weft::kernels {
namespace {

using Given = std::variant<GivenBuffer, Number, absl::string_view>;

// What a job writes for the argument.
absl::string_view KindOf(const ArgumentSchema& argument) {
  if (argument.buffer() != nullptr) return "buffer";
  return argument.scalar()->choices.empty() ? "number" : "text";
}
absl::string_view KindOf(const Given& given) {
  constexpr absl::string_view kKinds[] = {"buffer", "number", "text"};
  static_assert(std::size(kKinds) == std::variant_size_v<Given>);
  return kKinds[given.index()];
}

// Longest part of a text that a message repeats.
constexpr size_t kMaxQuotedBytes = 64;

uint64_t Taken(const Factor& factor, uint64_t extent) {
  switch (factor.take) {
    case Factor::Take::kHalf:
      return extent / 2 + 1;
    case Factor::Take::kPlusOne:
      return extent + 1;
    case Factor::Take::kValue:
      break;
  }
  return extent;
}

// One call of Bind. A step that finds something wrong with an argument marks it unknown, and the
// steps behind it leave out what depends on it, so that each mistake is reported once.
class Binder {
 public:
  Binder(const KernelSchema& schema, absl::Span<const GivenArgument> given)
      : schema_(schema),
        given_(schema.arguments.size(), nullptr),
        known_(schema.arguments.size(), true) {
    result_.call.arguments.resize(schema.arguments.size());
    MatchNames(given);
  }

  BindResult Run() {
    ForEach(&Binder::ChooseDType, DTypeRule::Kind::kOneOf);
    for (const auto kind :
         {DTypeRule::Kind::kSameAs, DTypeRule::Kind::kSumOf, DTypeRule::Kind::kComputeOf}) {
      ForEach(&Binder::ChooseDType, kind);
    }
    for (uint32_t i = 0; i < schema_.arguments.size(); ++i) BindScalar(i);
    for (uint32_t i = 0; i < schema_.arguments.size(); ++i) BindBuffer(i);
    CheckOverlaps();
    BindWorkspace();
    CheckRules();
    return std::move(result_);
  }

 private:
  using Step = void (Binder::*)(uint32_t argument, const DTypeRule& rule);

  std::string Subject() const { return absl::StrCat(schema_.noun(), " ", schema_.name); }
  void MatchNames(absl::Span<const GivenArgument> given);
  void CheckGiven(uint32_t argument);
  void ForEach(Step step, DTypeRule::Kind kind);
  void ChooseDType(uint32_t argument, const DTypeRule& rule);
  std::optional<DType> DTypeOf(const DTypeRule& rule) const;
  void BindScalar(uint32_t argument);
  void BindChoice(uint32_t argument, const ScalarSchema& scalar);
  void CheckLimits(uint32_t argument, const Number& number);
  std::optional<Number> DefaultOf(const ScalarDefault& rule) const;
  void BindBuffer(uint32_t argument);
  void CheckShape(uint32_t argument);
  void CheckExtent(uint32_t argument, const Factor& factor, uint64_t extent);
  void CheckOverlaps();
  void CheckOverlap(uint32_t a, uint32_t b);
  void BindWorkspace();
  void CheckRules();

  bool IsKnown(const Product& product) const {
    return std::all_of(product.begin(), product.end(), [this](const Factor& factor) {
      return !factor.argument.has_value() || known_[*factor.argument];
    });
  }
  // All that its number of elements depends on is known.
  bool CanCount(const BufferSchema& buffer) const {
    if (buffer.elements == nullptr) return IsKnown(buffer.shape);
    for (uint32_t i = 0; i < schema_.arguments.size(); ++i) {
      if (schema_.arguments[i].scalar() != nullptr && !known_[i]) return false;
    }
    return true;
  }
  const GivenBuffer* Buffer(uint32_t argument) const {
    return given_[argument] == nullptr ? nullptr : std::get_if<GivenBuffer>(given_[argument]);
  }
  // An optional buffer.
  bool IsLeftOut(uint32_t argument) const {
    return schema_.arguments[argument].buffer() != nullptr && given_[argument] == nullptr;
  }
  BoundArgument& Bound(uint32_t argument) { return result_.call.arguments[argument]; }
  const std::string& Name(uint32_t argument) const { return schema_.arguments[argument].name; }
  void Violate(uint32_t argument, std::string description) {
    known_[argument] = false;
    result_.violations.push_back({Name(argument), std::move(description)});
  }

  const KernelSchema& schema_;
  std::vector<const Given*> given_;  // by position; nullptr: left out
  std::vector<bool> known_;          // nothing wrong was found with the argument so far
  BindResult result_;
};

void Binder::MatchNames(absl::Span<const GivenArgument> given) {
  for (const GivenArgument& argument : given) {
    const std::optional<uint32_t> index = schema_.FindArgument(argument.name);
    if (!index.has_value()) {
      std::vector<absl::string_view> names;
      for (const ArgumentSchema& known : schema_.arguments) names.push_back(known.name);
      result_.violations.push_back(
          {std::string(argument.name),
           absl::StrCat(Subject(), " has no such argument; it takes ", absl::StrJoin(names, ", "),
                        ".", DidYouMean(NearestName(argument.name, names)))});
    } else if (given_[*index] != nullptr) {
      Violate(*index, "is given twice; leave one out");
    } else {
      given_[*index] = &argument.value;
    }
  }
  for (uint32_t i = 0; i < schema_.arguments.size(); ++i) CheckGiven(i);
}

void Binder::CheckGiven(uint32_t argument) {
  const ArgumentSchema& wanted = schema_.arguments[argument];
  const BufferSchema* buffer = wanted.buffer();
  if (given_[argument] == nullptr) {
    const bool required =
        buffer != nullptr ? buffer->presence == BufferSchema::Presence::kRequired
                          : wanted.scalar()->default_value.kind == ScalarDefault::Kind::kRequired;
    if (!required) return;
    Violate(argument, absl::StrCat("is missing; ", Subject(), " needs this ",
                                   buffer != nullptr ? "buffer" : "scalar", " (", wanted.doc, ")"));
  } else if (KindOf(wanted) != KindOf(*given_[argument])) {
    Violate(argument, absl::StrCat("must be a ", KindOf(wanted), ", but a ",
                                   KindOf(*given_[argument]), " is given"));
  }
}

void Binder::ForEach(Step step, DTypeRule::Kind kind) {
  for (uint32_t i = 0; i < schema_.arguments.size(); ++i) {
    const ArgumentSchema& argument = schema_.arguments[i];
    const DTypeRule& rule =
        argument.buffer() != nullptr ? argument.buffer()->dtype : argument.scalar()->dtype;
    if (rule.kind == kind && known_[i]) (this->*step)(i, rule);
  }
}

// The dtype that the rule leaves no choice about.
std::optional<DType> Binder::DTypeOf(const DTypeRule& rule) const {
  const DType source = result_.call.arguments[rule.argument].dtype;
  switch (rule.kind) {
    case DTypeRule::Kind::kOneOf:
      if (rule.allowed.size() != 1) return std::nullopt;
      return rule.allowed[0];
    case DTypeRule::Kind::kSameAs:
      return source;
    case DTypeRule::Kind::kSumOf:
      return SumType(source);
    case DTypeRule::Kind::kComputeOf:
      return ComputeType(source);
  }
  return std::nullopt;
}

void Binder::ChooseDType(uint32_t argument, const DTypeRule& rule) {
  const bool derived = rule.kind != DTypeRule::Kind::kOneOf;
  if (derived && !known_[rule.argument]) {
    known_[argument] = false;  // reported for the argument that it depends on
    return;
  }
  const std::optional<DType> wanted = DTypeOf(rule);
  const GivenBuffer* buffer = Buffer(argument);
  if (IsLeftOut(argument)) {
    Bound(argument).origin = Origin::kLeftOut;
    if (wanted.has_value()) Bound(argument).dtype = *wanted;
    return;
  }
  if (buffer == nullptr || !buffer->dtype.has_value()) {
    if (wanted.has_value()) {
      Bound(argument).dtype = *wanted;
    } else {
      Violate(argument, absl::StrCat("has no dtype; ", Subject(), " takes ",
                                     Describe(schema_, rule), " here"));
    }
    return;
  }
  Bound(argument).dtype = *buffer->dtype;
  const bool allowed = derived ? *wanted == *buffer->dtype
                               : std::find(rule.allowed.begin(), rule.allowed.end(),
                                           *buffer->dtype) != rule.allowed.end();
  if (allowed) return;
  std::string text = absl::StrCat("is ", NameOf(*buffer->dtype), ", but ", Subject(), " takes ",
                                  wanted ? NameOf(*wanted) : Describe(schema_, rule));
  if (derived) absl::StrAppend(&text, " here (", Describe(schema_, rule), ")");
  Violate(argument, std::move(text));
}

std::optional<Number> Binder::DefaultOf(const ScalarDefault& rule) const {
  if (rule.kind == ScalarDefault::Kind::kConstant) return rule.constant;
  const GivenBuffer* buffer = Buffer(rule.argument);
  if (buffer == nullptr || !known_[rule.argument]) return std::nullopt;
  const absl::Span<const uint64_t> shape = buffer->shape;
  const bool from_shape = rule.kind != ScalarDefault::Kind::kElementCount;
  if (!from_shape && shape.empty()) {
    return buffer->size_bytes / SizeOf(result_.call.arguments[rule.argument].dtype);
  }
  if (rule.kind == ScalarDefault::Kind::kDimension) {
    const bool swapped = rule.transposed_by.has_value() && rule.dimension < 2 &&
                         result_.call.Choice(*rule.transposed_by) != 0;
    const uint32_t dimension = swapped ? 1 - rule.dimension : rule.dimension;
    if (dimension >= shape.size()) return std::nullopt;
    return shape[shape.size() - 1 - dimension];
  }
  if (from_shape && rule.dimension > shape.size()) return std::nullopt;
  if (from_shape && shape.empty()) return std::nullopt;
  uint64_t count = 1;
  for (size_t i = 0; i + (from_shape ? rule.dimension : 0) < shape.size(); ++i) {
    if (__builtin_mul_overflow(count, shape[i], &count)) return std::nullopt;
  }
  return count;
}

void Binder::BindScalar(uint32_t argument) {
  const ScalarSchema* scalar = schema_.arguments[argument].scalar();
  if (scalar == nullptr || !known_[argument]) return;
  BoundArgument& bound = Bound(argument);
  std::optional<Number> number;
  if (given_[argument] != nullptr) {
    if (!scalar->choices.empty()) return BindChoice(argument, *scalar);
    number = std::get<Number>(*given_[argument]);
  } else {
    bound.origin = Origin::kDefault;
    const std::optional<uint32_t> swap = scalar->default_value.transposed_by;
    if (swap.has_value() && !known_[*swap]) {
      known_[argument] = false;  // reported for the choice
      return;
    }
    number = DefaultOf(scalar->default_value);
  }
  if (!number.has_value()) {
    const uint32_t source = scalar->default_value.argument;
    known_[argument] = false;
    if (!known_[source]) return;
    Violate(argument,
            absl::StrCat("is left out, and its default ", Describe(schema_, scalar->default_value),
                         " needs a shape that buffer ", Name(source),
                         " does not have; give the value or declare the shape"));
    return;
  }
  const std::optional<ScalarValue> value = ConvertNumber(*number, bound.dtype);
  if (!value.has_value()) {
    Violate(argument,
            absl::StrCat(Describe(*number), " is not a value of type ", NameOf(bound.dtype)));
    return;
  }
  bound.scalar = *value;
  CheckLimits(argument, *number);
}

void Binder::BindChoice(uint32_t argument, const ScalarSchema& scalar) {
  const auto text = std::get<absl::string_view>(*given_[argument]);
  const auto found = std::find(scalar.choices.begin(), scalar.choices.end(), text);
  if (found == scalar.choices.end()) {
    const std::vector<absl::string_view> names(scalar.choices.begin(), scalar.choices.end());
    Violate(argument,
            absl::StrCat("\"", absl::CHexEscape(text.substr(0, kMaxQuotedBytes)), "\" is none of ",
                         absl::StrJoin(names, ", "), ".", DidYouMean(NearestName(text, names))));
    return;
  }
  Bound(argument).scalar = {Bound(argument).dtype,
                            static_cast<uint64_t>(found - scalar.choices.begin())};
}

void Binder::CheckLimits(uint32_t argument, const Number& number) {
  const ScalarSchema& scalar = *schema_.arguments[argument].scalar();
  const auto* real = std::get_if<double>(&number);
  const bool limited = scalar.min.has_value() || scalar.max.has_value();
  const bool is_nan = real != nullptr && *real != *real;
  if (limited && is_nan) {
    Violate(argument, "is NaN, but this argument has limits");
  } else if (scalar.min.has_value() && Less(number, *scalar.min)) {
    Violate(argument, absl::StrCat(Describe(number), " is below the smallest allowed value, ",
                                   Describe(*scalar.min)));
  } else if (scalar.max.has_value() && Less(*scalar.max, number)) {
    Violate(argument, absl::StrCat(Describe(number), " is above the largest allowed value, ",
                                   Describe(*scalar.max)));
  }
}

void Binder::BindBuffer(uint32_t argument) {
  const BufferSchema* buffer = schema_.arguments[argument].buffer();
  if (buffer == nullptr || !known_[argument] || !CanCount(*buffer) || IsLeftOut(argument)) return;
  const GivenBuffer& given = *Buffer(argument);
  BoundArgument& bound = Bound(argument);
  const uint32_t element = SizeOf(bound.dtype);
  CheckShape(argument);
  const std::optional<uint64_t> count = buffer->elements != nullptr
                                            ? buffer->elements(result_.call)
                                            : Evaluate(buffer->shape, result_.call);
  if (!count.has_value() ||
      __builtin_mul_overflow(*count, uint64_t{element}, &bound.touched_bytes)) {
    Violate(argument, absl::StrCat("would need ", Describe(schema_, buffer->shape),
                                   " elements, which is more bytes than 64 bits count"));
    return;
  }
  if (bound.touched_bytes > given.size_bytes) {
    Violate(argument, absl::StrCat("has ", given.size_bytes, " bytes, but ", Subject(), " needs ",
                                   bound.touched_bytes, " (",
                                   buffer->elements != nullptr
                                       ? ""
                                       : absl::StrCat(Describe(schema_, buffer->shape), " = "),
                                   *count, " elements of ", NameOf(bound.dtype), ")"));
  }
  const uint64_t alignment = uint64_t{element} * buffer->alignment;
  if (given.offset_bytes % alignment != 0) {
    Violate(argument,
            absl::StrCat("starts at byte ", given.offset_bytes, ", which is not a multiple of ",
                         alignment, ", the size of ",
                         buffer->alignment == 1 ? "" : absl::StrCat(buffer->alignment, " "),
                         NameOf(bound.dtype)));
  }
}

// Compares a declared shape with extents that were taken from other buffers. Extents that the job
// gives itself are its own reading of the bytes and are only held to the size.
void Binder::CheckShape(uint32_t argument) {
  const absl::Span<const uint64_t> shape = Buffer(argument)->shape;
  const BufferSchema& buffer = *schema_.arguments[argument].buffer();
  Product wanted = buffer.shape;
  if (shape.empty() || wanted.empty()) return;
  if (buffer.transposed_by.has_value() && result_.call.Choice(*buffer.transposed_by) != 0) {
    std::swap(wanted[wanted.size() - 1], wanted[wanted.size() - 2]);
  }
  // One of a batch, declared without the extent of the batch.
  if (shape.size() >= 2 && shape.size() + 1 == wanted.size()) wanted.erase(wanted.begin());
  if (shape.size() == wanted.size()) {
    for (size_t i = 0; i < wanted.size(); ++i) CheckExtent(argument, wanted[i], shape[i]);
  } else if (wanted.size() == 1) {
    uint64_t count = 1;
    for (const uint64_t extent : shape) {
      if (__builtin_mul_overflow(count, extent, &count)) return;
    }
    CheckExtent(argument, wanted[0], count);
  } else if (shape.size() > wanted.size()) {
    CheckExtent(argument, wanted.back(), shape.back());
  }
}

void Binder::CheckExtent(uint32_t argument, const Factor& factor, uint64_t extent) {
  if (!factor.argument.has_value()) return;
  const BoundArgument& scalar = Bound(*factor.argument);
  const uint64_t wanted = Taken(factor, scalar.scalar.AsExtent());
  if (scalar.origin == Origin::kGiven || wanted == extent) return;
  const ScalarDefault& rule = schema_.arguments[*factor.argument].scalar()->default_value;
  Violate(argument,
          absl::StrCat("has extent ", extent, " where ", Describe(schema_, Product{factor}), " = ",
                       wanted, " by default (", Describe(schema_, rule),
                       "); correct a shape, or give ", Name(*factor.argument)));
}

void Binder::CheckOverlaps() {
  for (uint32_t a = 0; a < schema_.arguments.size(); ++a) {
    for (uint32_t b = a + 1; b < schema_.arguments.size(); ++b) {
      const bool buffers =
          schema_.arguments[a].buffer() != nullptr && schema_.arguments[b].buffer() != nullptr;
      if (buffers && known_[a] && known_[b] && !IsLeftOut(a) && !IsLeftOut(b)) CheckOverlap(a, b);
    }
  }
}

void Binder::CheckOverlap(uint32_t a, uint32_t b) {
  const BufferSchema& first = *schema_.arguments[a].buffer();
  const BufferSchema& second = *schema_.arguments[b].buffer();
  const GivenBuffer& x = *Buffer(a);
  const GivenBuffer& y = *Buffer(b);
  if (!Writes(first.access) && !Writes(second.access)) return;
  if (!x.storage.has_value() || x.storage != y.storage) return;
  const ByteRange range_a{x.offset_bytes, Bound(a).touched_bytes};
  const ByteRange range_b{y.offset_bytes, Bound(b).touched_bytes};
  if (!range_a.valid() || !range_b.valid() || !range_a.overlaps(range_b)) return;
  const auto lists = [](const BufferSchema& schema, uint32_t other) {
    return std::find(schema.in_place_with.begin(), schema.in_place_with.end(), other) !=
           schema.in_place_with.end();
  };
  const bool in_place = lists(first, b) || lists(second, a);
  if (in_place && range_a == range_b) return;
  Violate(b, absl::StrCat(
                 "shares bytes [", std::max(range_a.offset, range_b.offset), ", ",
                 std::min(range_a.end(), range_b.end()), ") of one buffer with ", Name(a), "; ",
                 Subject(),
                 in_place ? " takes the two only apart or exactly the same" : " needs them apart"));
}

void Binder::CheckRules() {
  if (schema_.check == nullptr || !result_.violations.empty()) return;
  result_.violations = schema_.check(schema_, result_.call);
}

void Binder::BindWorkspace() {
  const WorkspaceRule& rule = schema_.workspace;
  if (!schema_.has_workspace() || !result_.violations.empty()) return;
  if (rule.bytes != nullptr) {
    const std::optional<uint64_t> bytes = rule.bytes(result_.call);
    if (!bytes.has_value()) {
      result_.violations.push_back(
          {"workspace",
           absl::StrCat(Subject(), " would need more bytes of workspace than 64 bits count")});
    }
    result_.call.workspace_bytes = bytes.value_or(0);
    return;
  }
  const std::optional<uint64_t> units = Evaluate(rule.units, result_.call);
  const uint64_t count =
      units.has_value() ? *units / rule.per_unit + (*units % rule.per_unit != 0 ? 1 : 0) : 0;
  uint64_t& bytes = result_.call.workspace_bytes;
  if (units.has_value() &&
      !__builtin_mul_overflow(std::min(count, rule.max_units), uint64_t{rule.unit_bytes}, &bytes)) {
    return;
  }
  result_.violations.push_back(
      {"workspace", absl::StrCat(Subject(), " would need ", Describe(schema_, rule.units),
                                 " units of workspace, which is "
                                 "more bytes than 64 bits count")});
}

}  // namespace

BindResult Bind(const KernelSchema& schema, absl::Span<const GivenArgument> given) {
  return Binder(schema, given).Run();
}

std::optional<uint64_t> Evaluate(const Product& product, const BoundCall& call) {
  const auto value = [&call](const Factor& factor) {
    if (!factor.argument.has_value()) return factor.constant;
    return Taken(factor, call.arguments[*factor.argument].scalar.AsExtent());
  };
  uint64_t result = 1;
  bool overflow = false;
  for (const Factor& factor : product) {
    const uint64_t extent = value(factor);
    if (extent == 0) return 0;
    overflow |= __builtin_mul_overflow(result, extent, &result);
  }
  if (overflow) return std::nullopt;
  return result;
}

}  // namespace weft::kernels
