// An instantiated plan, launched any number of times, whose arguments can be changed.
//
//   const BuildInput input{context, graph, plan, bindings, resolver};
//   WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable, Executable::Create(input));
//   WEFT_RETURN_IF_ERROR(executable->Launch(stream.ref()));
//
//   Create ──▶ ready ──Launch──▶ ready
//                ├─────Update───▶ ready
//                └─────Update───▶ broken    the driver refused a change; only good for destruction
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/graph.h"
#include "cuda/stream.h"
#include "graph/build/bindings.h"
#include "graph/build/graph_builder.h"
#include "graph/build/operations.h"

namespace weft::build {

// Equal for plans of the same structure: kinds of operation, kernel symbols, kinds of memory copied
// between, and order; not addresses, sizes, scalars or launch shapes (but a zero size makes an
// empty node). Only of use in this process. Linear; no driver call.
uint64_t StructureHash(const ir::Graph& graph, const plan::Plan& plan);

// False for plans with calls of libraries that are captured or with graphs of the job: CUDA changes
// nothing that is captured, and bodies of conditional nodes in part only. Update refuses them before
// the work of resolving them. False for plans that are cut into segments, too: they are of several
// executables (segment_runner.h); and for those with outputs that are delivered when ready, whose host
// nodes belong to one graph's memory.
bool IsUpdatable(const ir::Graph& graph, const plan::Plan& plan);

// REQUIRES: the plan is not cut into segments.
// Thread safety: none; one caller at a time. The context outlives it. One launch runs at a time: a
// second Launch waits on the device for the first.
class Executable {
 public:
  // Records and instantiates: 2–5 µs a node in a chain or a few lanes, 15–20 µs in a wide graph.
  // Keeps nothing of `input` but the context.
  // Errors: those of ResolveOperations and BuildGraph; RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<Executable>> Create(const BuildInput& input);
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Makes this the executable of `input`, a plan of the same structure or the same plan with other
  // addresses, from the next launch on. Returns the number of operations that differed; each of
  // them is updated on its own, about 0.5 µs, which is less than recording the graph anew and
  // taking all of it over (0.7 µs for every node; H200, driver 580).
  // Errors: FAILED_PRECONDITION when the structure differs, or it is not updatable (nothing was
  // changed), or the driver refuses a change (broken): then create a new one.
  absl::StatusOr<uint32_t> Update(const BuildInput& input);

  // Moves it to the device ahead of the first launch. Does not block.
  absl::Status Upload(const cuda::StreamRef& stream);
  // Adds one run of the plan to the stream. Does not block.
  absl::Status Launch(const cuda::StreamRef& stream);

  uint64_t structure_hash() const { return structure_hash_; }
  bool is_updatable() const { return is_updatable_; }
  size_t operation_count() const { return nodes_.size(); }
  // Memory of host and device that it is accounted with: an estimate from its size.
  size_t cost_bytes() const;

 private:
  enum class State { kReady, kBroken };
  Executable(OperationList operations, BuiltGraph built, cuda::GraphExec exec);
  absl::Status CheckUsable() const;
  absl::Status UpdateOne(const OperationList& operations, uint32_t position);

  OperationList operations_;  // as the executable has them now
  cuda::Graph graph_;         // the one instantiated: its nodes name the argument slots of exec_
  std::vector<cuda::NodeRef> nodes_;
  cuda::GraphExec exec_;
  std::vector<uint32_t> shape_;  // the order, for an exact comparison
  uint64_t structure_hash_ = 0;
  bool is_updatable_ = true;
  State state_ = State::kReady;
};

}  // namespace weft::build
