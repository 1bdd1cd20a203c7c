// The nodes of a job: names, order, and one function for each kind of operation. Private to
// graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "google/protobuf/repeated_ptr_field.h"
#include "graph/ir/buffer_reader.h"
#include "graph/ir/errors.h"
#include "graph/ir/from_proto.h"
#include "graph/ir/graph.h"
#include "graph/ir/graphs_reader.h"
#include "graph/ir/memory_node_reader.h"
#include "graph/ir/module_order.h"
#include "graph/ir/name_table.h"
#include "graph/ir/view_reader.h"
#include "graph/ir/violations.h"

namespace weft::v1 {
class AdviseNode;
class Argument;
class CopyNode;
class DownloadNode;
class ExpressionNode;
class FillNode;
class KernelNode;
class LibraryNode;
class Node;
class PrefetchNode;
class SymbolNode;
class UploadNode;
class UserKernelNode;
class View;
}  // namespace weft::v1

namespace weft::ir {

class NodeReader {
 public:
  // The references must outlive the reader. `limits`: those of the job's device.
  NodeReader(const JobContext& context, const kernels::LaunchLimits& limits,
             const ReadBuffers& buffers, const JobNames& names, Graph& graph,
             Violations& violations);

  // Fills graph.nodes and what belongs to them.
  void Run(const google::protobuf::RepeatedPtrField<v1::Node>& nodes);

 private:
  using Nodes = google::protobuf::RepeatedPtrField<v1::Node>;
  void ReadNames(const Nodes& nodes);
  void ReadAfter(const v1::Node& node);
  void ReadKind(const v1::Node& node);
  // One for each kind; nullopt when it is faulty.
  std::optional<Operation> ReadKernel(const v1::KernelNode& kernel);
  std::optional<Operation> ReadUserKernel(const v1::UserKernelNode& kernel);
  std::optional<Operation> ReadExpression(const v1::ExpressionNode& node);
  std::optional<Operation> ReadLibrary(const v1::LibraryNode& call);
  std::optional<Operation> ReadCopy(const v1::CopyNode& copy);
  std::optional<Operation> ReadFill(const v1::FillNode& fill);
  std::optional<Operation> ReadPrefetch(const v1::PrefetchNode& prefetch);
  std::optional<Operation> ReadAdvise(const v1::AdviseNode& advise);
  std::optional<Operation> ReadUpload(const v1::UploadNode& upload);
  std::optional<Operation> ReadDownload(const v1::DownloadNode& download);
  std::optional<Operation> ReadSymbol(const v1::SymbolNode& symbol);

  template <typename FlowNode>
  std::optional<Operation> ReadFlow(const FlowNode& node);
  // False for a kind that stands in the job alone, which is reported.
  bool MayStandHere(const v1::Node& node);

  std::optional<ReadView> ReadPart(const char* part, bool is_given, const v1::View& view);
  void AddUse(const View& view, Access access, const std::optional<Runs>& runs = std::nullopt);
  // The address that the view's buffer begins at is a multiple of `alignment`.
  void Align(const View& view, uint32_t alignment);
  // Puts the node being read behind `before`, as `after` does.
  void AddAfter(uint32_t before);
  // The node being read launches kernels of the module.
  void LaunchOf(uint32_t module);
  MemoryNodeReader MemoryNodes() const;
  bool CheckArgumentCount(const char* part, int count);
  Delivery ReadDelivery(const v1::DownloadNode& download);
  void ReportOutput(const v1::DownloadNode& download, const Output& output);

  const JobContext& context_;
  const kernels::LaunchLimits& limits_;
  const JobNames& job_names_;
  Graph& graph_;
  Violations& violations_;
  const ViewReader views_;
  NameTable names_;
  NameTable outputs_;
  size_t host_outputs_ = 0;  // met so far
  ModuleOrder module_order_;
  NodePlace place_;                  // of the node being read
  std::vector<uint32_t> waited_by_;  // by node: 1 + the last node whose `after` names it
};

}  // namespace weft::ir
