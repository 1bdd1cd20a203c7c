#include "graph/ir/expression_table.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ir/limits.h"

namespace weft::ir {
namespace {

std::string EntryOf(uint32_t number) { return absl::StrCat("expression_", number); }

}  // namespace

std::optional<std::string> ExpressionTable::Add(const std::string& body) {
  const auto number = static_cast<uint32_t>(kernels_.size());
  const auto found = kernels_.find(body);
  if (found != kernels_.end()) return EntryOf(found->second);
  if (number == kMaxExpressions) return std::nullopt;
  kernels_.emplace(body, number);
  return EntryOf(number);
}

void ExpressionTable::AddTo(Graph& graph) const {
  if (kernels_.empty()) return;
  std::vector<const std::string*> bodies(kernels_.size());
  for (const auto& [body, number] : kernels_) bodies[number] = &body;
  Module module;
  module.name = "expressions";
  for (uint32_t i = 0; i < bodies.size(); ++i) {
    absl::StrAppend(&module.made, "extern \"C\" __global__ void ", EntryOf(i), *bodies[i], "\n");
  }
  graph.modules.push_back(std::move(module));
}

}  // namespace weft::ir
