// The kernels made of a job's expressions, each text of code once, as one more module behind those
// that the job brings along. Private to graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "graph/ir/graph.h"

namespace weft::ir {

class ExpressionTable {
 public:
  // `module`: the position in Graph::modules that AddTo will put the kernels at.
  explicit ExpressionTable(uint32_t module) : module_(module) {}

  uint32_t module() const { return module_; }
  // The name of the kernel with these parameters and body (kernels/expression/expression_source.h);
  // nullopt: there are kMaxExpressions others.
  std::optional<std::string> Add(const std::string& body);
  // Appends the module to the job's; nothing where there is no kernel.
  void AddTo(Graph& graph) const;

 private:
  const uint32_t module_;
  absl::flat_hash_map<std::string, uint32_t> kernels_;  // by body: its number
};

}  // namespace weft::ir
