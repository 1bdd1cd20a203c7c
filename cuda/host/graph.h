// A graph as it is recorded: nodes with what they do, and what each depends on. graph_exec.h
// instantiates it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/host/action.h"
#include "cuda/host/condition.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/event.h"
#include "cuda/host/image_abi.h"
#include "cuda/host/launch_attributes.h"
#include "cuda/host/mutex.h"

namespace weft::hostcuda {

struct GraphBody;
class Graph;

// A conditional node. Its bodies are recorded after it was added, up to instantiation.
struct ConditionalSpec {
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::shared_ptr<Condition> condition;
  std::vector<std::shared_ptr<Graph>> bodies;
};

// One node. A value: what it points to is immutable, or shared with a handle.
struct NodeSpec {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  ActionPtr action;                        // kernel, memcpy, memset and host nodes
  std::shared_ptr<Event> event;            // event record and event wait nodes
  std::shared_ptr<const GraphBody> child;  // child graph nodes: a copy, as the API says
  std::vector<uint32_t> dependencies;      // indices of earlier nodes, ascending, each once
  std::shared_ptr<const ConditionalSpec> conditional = nullptr;
  weft_host_launch shape = {};  // kernel nodes
  LaunchAttributes attributes;  // kernel nodes
};

// Nodes in the order in which they were added. Because a node can only depend on earlier ones, this
// is an order in which they can run, and no cycle can be recorded.
struct GraphBody {
  std::vector<NodeSpec> nodes;
  uint64_t flat_nodes = 0;  // nodes, with those of the children
  uint32_t depth = 0;       // levels of child graphs below this one
  bool has_conditional = false;

  // Bounds what one graph can grow to through children of children: every level could double it.
  static constexpr uint64_t kMaxFlatNodes = uint64_t{1} << 24;
  // Bounds the depth to which bodies own each other.
  static constexpr uint32_t kMaxDepth = 64;
};

// Thread safety: all members may be called from any thread.
class Graph {
 public:
  Graph() = default;
  // The body of a conditional node, below `level` graphs.
  explicit Graph(uint32_t level) : level_(level) {}
  uint32_t level() const { return level_; }
  bool is_body() const { return level_ > 0; }
  bool has_conditional() const;

  // The index of the new node. Errors: INVALID_VALUE when a dependency is named twice,
  // or when a body does not take the node's kind, NOT_SUPPORTED beyond the bounds above. REQUIRES: each dependency is an index that Add gave.
  CUresult Add(NodeSpec node, uint32_t* index);
  // Sets an attribute of a kernel node. Errors: those of LaunchAttributes; INVALID_VALUE for a node
  // of another type.
  CUresult SetAttribute(uint32_t index, CUlaunchAttributeID id,
                        const CUlaunchAttributeValue& value);
  GraphBody Snapshot() const;

  // A graph with conditional nodes has one executable at a time: true when it may have another. Until
  // the next true, `token` lives as long as the executable.
  bool ClaimExec(const std::shared_ptr<const void>& token) const;

 private:
  const uint32_t level_ = 0;
  mutable Mutex mu_;
  mutable std::weak_ptr<const void> exec_token_ ABSL_GUARDED_BY(mu_);
  GraphBody body_ ABSL_GUARDED_BY(mu_);
};

// What a node's handle names.
struct GraphNode {
  std::shared_ptr<Graph> graph;
  uint32_t index = 0;
};

}  // namespace weft::hostcuda
