#include "kernels/parameters.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/byte_range.h"

namespace weft::kernels {
namespace {

constexpr uint32_t kAddressBytes = 8;

void Append(std::vector<ParameterSlot>& slots, uint32_t size) {
  const uint32_t end = slots.empty() ? 0 : slots.back().offset + slots.back().size;
  slots.push_back({static_cast<uint32_t>(AlignUp(end, size)), size});
}

}  // namespace

std::vector<ParameterSlot> ParameterLayout(const KernelSchema& schema, const BoundCall& call) {
  std::vector<ParameterSlot> slots;
  slots.reserve(schema.parameter_count());
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const bool is_buffer = schema.arguments[i].buffer() != nullptr;
    Append(slots, is_buffer ? kAddressBytes : SizeOf(call.arguments[i].dtype));
  }
  if (schema.has_workspace()) Append(slots, kAddressBytes);
  return slots;
}

std::vector<void*> ParameterPack::Pointers() {
  std::vector<void*> pointers;
  pointers.reserve(words.size());
  for (uint64_t& word : words) pointers.push_back(&word);
  return pointers;
}

absl::StatusOr<ParameterPack> PackParameters(const KernelSchema& schema, const BoundCall& call,
                                             absl::Span<const uint64_t> addresses,
                                             uint64_t workspace) {
  ParameterPack pack;
  pack.slots = ParameterLayout(schema, call);
  pack.words.reserve(schema.parameter_count());
  size_t used = 0;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (schema.arguments[i].buffer() == nullptr) {
      pack.words.push_back(call.arguments[i].scalar.bits);
      continue;
    }
    if (call.arguments[i].origin == Origin::kLeftOut) {
      pack.words.push_back(0);
      continue;
    }
    if (used < addresses.size()) pack.words.push_back(addresses[used]);
    ++used;
  }
  if (used != addresses.size()) {
    return absl::InvalidArgumentError(absl::StrCat("kernel ", schema.name, " has ", used,
                                                   " buffer arguments, but ", addresses.size(),
                                                   " addresses were given"));
  }
  if (schema.has_workspace()) pack.words.push_back(workspace);
  return pack;
}

}  // namespace weft::kernels
