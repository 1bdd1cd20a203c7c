// An instantiated plan, launched any number of times, whose arguments can be changed.
//
//   WEFT_ASSIGN_OR_RETURN(auto executable,
//                         Executable::Create(context, plan, bindings, resolver));
//   WEFT_RETURN_IF_ERROR(executable->Launch(stream.ref()));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/graph.h"
#include "cuda/stream.h"
#include "graph/build/bindings.h"

namespace weft::plan {
struct Plan;
}

namespace weft::build {

struct OperationList;  // operations.h

// Equal for plans of the same structure: kinds, kernel symbols, kinds of memory copied between,
// lanes and edges; not addresses, sizes, scalars or launch shapes (but a zero size makes an empty
// node). Linear; no driver call.
uint64_t StructureHash(const plan::Plan& plan);

// What Update did.
struct UpdateReport {
  enum class Method { kNothing, kPerNode, kWholeGraph };
  Method method = Method::kNothing;
  uint32_t changed_operations = 0;
};

// Thread safety: none; one caller at a time. The context outlives it. One launch of it runs at a
// time: a second Launch waits on the device for the first.
class Executable {
 public:
  // Records and instantiates: about 3–20 µs a node. The plan is not kept.
  // Errors: as BuildGraph; RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<Executable>> Create(const cuda::Context& context,
                                                            const plan::Plan& plan,
                                                            const Bindings& bindings,
                                                            FunctionResolver& resolver);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Makes this the executable of another plan of the same structure, or of the same plan with other
  // addresses, from the next launch on. Only operations that differ are touched:
  // each on its own, or all in one driver call where that is cheaper.
  // Errors: FAILED_PRECONDITION when the structure differs or the driver refuses the change; the
  // executable may then be half updated and must not be launched again before an Update succeeds.
  absl::StatusOr<UpdateReport> Update(const plan::Plan& plan, const Bindings& bindings,
                                      FunctionResolver& resolver);

  // Moves it to the device ahead of the first launch. Does not block.
  absl::Status Upload(const cuda::StreamRef& stream);
  // Adds one run of the plan to the stream. Does not block.
  absl::Status Launch(const cuda::StreamRef& stream);

  uint64_t structure_hash() const { return structure_hash_; }
  size_t node_count() const { return nodes_.size(); }
  // Host and device memory that it is accounted with, estimated from the number of nodes and edges.
  size_t cost_bytes() const;

 private:
  Executable(const cuda::Context& context, std::unique_ptr<OperationList> operations,
             cuda::Graph graph, std::vector<cuda::NodeRef> nodes, cuda::GraphExec exec);
  absl::Status UpdateOne(size_t position, const OperationList& operations);
  absl::Status UpdateAll(const plan::Plan& plan, const OperationList& operations);

  const cuda::Context* context_;
  std::unique_ptr<OperationList> operations_;  // as the executable has them now
  cuda::Graph graph_;                          // the one instantiated: its nodes name the slots
  std::vector<cuda::NodeRef> nodes_;
  cuda::GraphExec exec_;
  uint64_t structure_hash_ = 0;
};

}  // namespace weft::build
