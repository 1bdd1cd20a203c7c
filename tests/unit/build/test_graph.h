// Graphs and plans put together by hand, so that each test says which lanes and edges it means.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/ids.h"
#include "graph/ir/graph.h"
#include "graph/plan/plan.h"
#include "kernels/schema.h"

namespace weft::build {

// A job under construction. Buffers are int32 arrays; every node names its lane and the nodes of
// other lanes that it waits for, and runs behind those added to its lane before.
class TestGraph {
 public:
  using Waits = std::initializer_list<NodeIndex>;

  BufferIndex Scratch(uint32_t elements);
  BufferIndex Shared(uint32_t elements, uint32_t device = 0);
  BufferIndex Pinned(uint32_t elements);
  BufferIndex Managed(uint32_t elements);

  // One launch (or `phases` of them) of a kernel of test_image.cc, over all elements of `buffer`.
  NodeIndex Kernel(const std::string& symbol, BufferIndex buffer, int32_t factor, int32_t addend,
                   uint32_t lane, Waits waits = {}, uint32_t phases = 1);
  // A call of a library over all elements of `buffer`, as it is planned for a GPU: without launches.
  NodeIndex Library(BufferIndex buffer, int32_t factor, int32_t addend, uint32_t lane,
                    Waits waits = {});
  // Lets the launches of `kernel` ask for so much dynamic shared memory.
  void SetSharedBytes(NodeIndex kernel, uint32_t shared_bytes);
  NodeIndex Fill(BufferIndex buffer, uint32_t pattern, uint32_t pattern_bytes, uint32_t lane,
                 Waits waits = {});
  NodeIndex Copy(BufferIndex source, BufferIndex destination, uint32_t lane, Waits waits = {});
  // Has the copy carried out by a kernel, as large ones are planned on GPUs.
  void CopyByKernel(NodeIndex copy);
  // `rows` rows of `width` elements, `pitch` elements apart; the copy packs them in `destination`.
  NodeIndex FillRows(BufferIndex buffer, uint32_t pattern, uint32_t width, uint32_t rows,
                     uint32_t pitch, uint32_t lane, Waits waits = {});
  NodeIndex CopyBox(BufferIndex source, BufferIndex destination, uint32_t width, uint32_t rows,
                    uint32_t pitch, uint32_t lane, Waits waits = {});
  NodeIndex Prefetch(BufferIndex buffer, uint32_t lane, Waits waits = {});
  NodeIndex Advise(BufferIndex buffer, uint32_t lane, Waits waits = {});
  NodeIndex Upload(BufferIndex buffer, uint32_t lane, Waits waits = {});
  NodeIndex Download(BufferIndex buffer, uint32_t lane, Waits waits = {});
  // A download that is delivered when ready; `output`: its position in Bindings::output_ready.
  NodeIndex HostOutput(BufferIndex buffer, uint32_t lane, uint32_t output = 0);
  NodeIndex Empty(uint32_t lane, Waits waits = {});
  // A node put together by the test; views of its operation are whole buffers (WholeOf).
  NodeIndex Node(ir::Operation operation, uint32_t lane, Waits waits = {});
  ir::View WholeOf(BufferIndex buffer) const { return Whole(buffer); }
  // Appends to the graph's views; their slice.
  ir::Slice AddView(const ir::View& view);
  // A copy of zero bytes.
  NodeIndex NoOp(uint32_t lane, Waits waits = {});

  // Where the bytes of an upload or download lie in the staging area.
  uint64_t StagingOffset(NodeIndex node) const { return plan_.node(node).staging.offset; }
  const ir::Graph& graph() const { return graph_; }
  // Cuts the plan behind the last node: the parts, which hold all nodes, run one after the other.
  struct Part {
    plan::Segment::Kind kind;
    std::vector<NodeIndex> nodes;
  };
  void Cut(const std::vector<Part>& parts);
  // Makes the plan's arrays of lanes anew; call it after the last node.
  const plan::Plan& plan();

 private:
  ir::View Whole(BufferIndex buffer) const;
  // Binds the arguments of TestKernelSchema().
  void Bind(BufferIndex buffer, int32_t factor, int32_t addend, ir::KernelOp& op);
  NodeIndex Add(const std::string& name, ir::Operation operation, uint32_t lane, Waits waits);
  BufferIndex AddBuffer(uint32_t elements);

  ir::Graph graph_;
  plan::Plan plan_;
};

// The schema of the kernels in test_image.cc: x (int32 buffer), factor, addend (int32).
const kernels::KernelSchema& TestKernelSchema();

}  // namespace weft::build
