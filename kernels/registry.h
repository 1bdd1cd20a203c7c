// All built-in kernels, and all calls of libraries, by name.
//
// Thread safety: immutable after construction.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernels/schema.h"

namespace weft::kernels {

class Registry {
 public:
  // The kernels that ship with Weft; made at the first call.
  static const Registry& Builtin();
  // The calls of libraries; made at the first call.
  static const Registry& Library();

  explicit Registry(std::vector<KernelSchema> schemas);
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // nullptr when there is no kernel of that name. The pointer lives as long as the registry.
  const KernelSchema* Find(absl::string_view name) const;
  // As Find, but the error (NOT_FOUND) names the nearest kernel and says how to list all.
  absl::StatusOr<const KernelSchema*> Lookup(absl::string_view name) const;
  // Sorted by name.
  absl::Span<const KernelSchema> schemas() const { return schemas_; }

 private:
  const std::vector<KernelSchema> schemas_;
  absl::flat_hash_map<absl::string_view, const KernelSchema*> by_name_;
};

}  // namespace weft::kernels
