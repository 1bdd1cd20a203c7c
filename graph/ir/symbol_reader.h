// Nodes that set variables of the job's modules. What only the compiled module tells (whether it has
// the variable, and its size) is checked where it is loaded. Private to graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/ir/errors.h"
#include "graph/ir/graph.h"
#include "graph/ir/name_table.h"
#include "graph/ir/view_reader.h"
#include "graph/ir/violations.h"

namespace weft::v1 {
class SymbolNode;
}  // namespace weft::v1

namespace weft::ir {

// Reads one node; made anew for each.
class SymbolReader {
 public:
  // The references must outlive the reader.
  SymbolReader(const NodePlace& place, const v1::SymbolNode& node, Violations& violations)
      : place_(place), node_(node), violations_(violations) {}

  // nullopt when it is faulty. `uploads`: those of the job so far; inline bytes are one more.
  std::optional<SymbolOp> Read(const NameTable& modules, const ViewReader& views,
                               uint32_t& uploads);

 private:
  bool ReadVariable(const NameTable& modules, SymbolOp& op);
  bool ReadSource(const ViewReader& views, uint32_t& uploads, SymbolOp& op);

  const NodePlace& place_;
  const v1::SymbolNode& node_;
  Violations& violations_;
};

}  // namespace weft::ir
