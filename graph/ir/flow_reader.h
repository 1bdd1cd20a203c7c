// Nodes that run graphs of the job, and waits and signals of semaphores. Private to graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/ir/errors.h"
#include "graph/ir/graph.h"
#include "graph/ir/graphs_reader.h"
#include "graph/ir/view_reader.h"
#include "graph/ir/violations.h"

namespace weft::v1 {
class ConditionalNode;
class GraphNode;
class SemaphoreSignalNode;
class SemaphoreWaitNode;
class View;
}  // namespace weft::v1

namespace weft::ir {

// Reads one node; made anew for each. Adds to graph.uses, graph.views and graph.calls.
class FlowReader {
 public:
  // The references must outlive the reader.
  FlowReader(const NodePlace& place, const ViewReader& views, const JobNames& names, Graph& graph,
             Violations& violations)
      : place_(place), views_(views), names_(names), graph_(graph), violations_(violations) {}

  // nullopt when it is faulty.
  std::optional<GraphOp> Read(const v1::GraphNode& node);
  std::optional<ConditionalOp> Read(const v1::ConditionalNode& node);
  std::optional<SemaphoreWaitOp> Read(const v1::SemaphoreWaitNode& node);
  std::optional<SemaphoreSignalOp> Read(const v1::SemaphoreSignalNode& node);

 private:
  // `part`: where in the node the call stands, such as "conditional.bodies[0]".
  std::optional<GraphCall> ReadCall(const std::string& part, const v1::GraphNode& node);
  bool ReadBindings(const std::string& part, const v1::GraphNode& node, const Graph& callee,
                    std::vector<std::optional<View>>& bound);
  bool CheckBinding(const std::string& field, const View& view, const Buffer& parameter);
  // Parameters that share bytes must all be read only: nodes of the callee know nothing of it.
  bool CheckOverlaps(const std::string& part, const Graph& callee,
                     const std::vector<std::optional<View>>& bound);
  std::optional<ConditionalOp::Kind> ReadConditionalKind(const v1::ConditionalNode& node);
  std::optional<View> ReadWord(const char* part, bool is_given, const v1::View& view);
  std::optional<View> ReadSemaphore(const char* part, bool is_given, const v1::View& view);
  bool CheckValue(const char* part, uint64_t value);
  // The address that `view` begins at is a multiple of `alignment`, if its buffer's is.
  void Align(const View& view, uint32_t alignment);
  void AddUse(const View& view, Access access, UseKind kind);

  const NodePlace& place_;
  const ViewReader& views_;
  const JobNames& names_;
  Graph& graph_;
  Violations& violations_;
};

}  // namespace weft::ir
