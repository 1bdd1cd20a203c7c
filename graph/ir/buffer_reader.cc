#include "graph/ir/buffer_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/data_type.h"
#include "graph/ir/errors.h"
#include "graph/ir/field_names.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using kernels::DType;

class BufferReader {
 public:
  BufferReader(const google::protobuf::RepeatedPtrField<v1::BufferDecl>& buffers,
               const JobContext& context, Graph& graph, Violations& violations)
      : buffers_(buffers), context_(context), graph_(graph), violations_(violations) {}

  ReadBuffers Run() {
    const auto count = static_cast<uint32_t>(buffers_.size());
    ReadBuffers result{.names = NameTable(count), .is_sound = std::vector<bool>(count, false)};
    graph_.buffers.resize(count);  // names are views into it from here on
    for (uint32_t i = 0; i < count; ++i) {
      graph_.buffers[i].name = buffers_[static_cast<int>(i)].name();
      graph_.buffers[i].storage = BufferIndex(i);
      ReadName(i, result.names);
      result.is_sound[i] = ReadDecl(i);
    }
    return result;
  }

 private:
  std::string FieldOf(uint32_t index, absl::string_view member) const {
    return absl::StrCat(graph_.scope, "buffers[", index, "].", member);
  }

  void ReadName(uint32_t i, NameTable& names) {
    const std::string& name = graph_.buffers[i].name;
    if (!IsGoodName(name)) violations_.Add(BadName(FieldOf(i, "name"), "buffer", name));
    const std::optional<uint32_t> first = names.Add(name, i);
    if (first.has_value() && !name.empty()) {
      violations_.Add(RepeatedName(FieldOf(i, "name"), "buffer", name,
                                   absl::StrCat(graph_.scope, "buffers[", *first, "]")));
    }
  }

  bool ReadDecl(uint32_t i) {
    const v1::BufferDecl& decl = buffers_[static_cast<int>(i)];
    std::optional<DType> dtype = DTypeOf(decl.data_type());
    if (!dtype.has_value() && decl.data_type() != v1::DATA_TYPE_UNSPECIFIED) {
      violations_.Add(UnknownEnumValue(FieldOf(i, "data_type"), "DataType", decl.data_type(),
                                       ListValues(*v1::DataType_descriptor())));
      return false;
    }
    std::vector<uint64_t> shape;
    if (!ReadShape(i, decl, shape)) return false;
    if (!CheckStorage(i, decl)) return false;
    if (decl.storage_case() == v1::BufferDecl::kShared) return ReadShared(i, decl, dtype, shape);
    if (decl.has_device()) {
      violations_.Add(DeviceOfUnshared(FieldOf(i, "device"), decl.name()));
      return false;
    }
    if (shape.empty()) shape = {1};
    return ReadMemory(i, decl) && SetBytes(i, dtype.value_or(DType::kU8), std::move(shape));
  }

  bool ReadMemory(uint32_t i, const v1::BufferDecl& decl) {
    MemoryKind& memory = graph_.buffers[i].memory;
    if (decl.has_pinned()) memory = MemoryKind::kPinned;
    if (!decl.has_managed()) return true;
    memory = MemoryKind::kManaged;
    const uint32_t ordinal = graph_.options.device;
    const cuda::DeviceInfo* const device = FindDevice(ordinal, context_);
    if (device == nullptr || device->concurrent_managed_access) return true;
    violations_.Add(ManagedUnsupported(FieldOf(i, "managed"), decl.name(), ordinal));
    return false;
  }

  // Graphs of the job have parameters and scratch; the job has everything but parameters.
  bool CheckStorage(uint32_t i, const v1::BufferDecl& decl) {
    const auto storage = decl.storage_case();
    if (storage == v1::BufferDecl::kParameter) {
      graph_.buffers[i].is_parameter = true;
      graph_.parameters.push_back(BufferIndex(i));
      if (!graph_.is_job()) return true;
      violations_.Add(ParameterOfJob(FieldOf(i, "parameter"), decl.name()));
      return false;
    }
    const bool is_scratch =
        storage == v1::BufferDecl::kScratch || storage == v1::BufferDecl::STORAGE_NOT_SET;
    if (graph_.is_job() || is_scratch) return true;
    const std::string& name = v1::BufferDecl::descriptor()->FindFieldByNumber(storage)->name();
    violations_.Add(StorageInGraph(FieldOf(i, name), decl.name(), name));
    return false;
  }

  bool ReadShape(uint32_t i, const v1::BufferDecl& decl, std::vector<uint64_t>& shape) {
    if (decl.shape_size() > static_cast<int>(kMaxDimensions)) {
      violations_.Add(TooManyDimensions(
          FieldOf(i, "shape"), absl::StrCat("buffer ", Quote(decl.name())), decl.shape_size()));
      return false;
    }
    bool good = true;
    for (int d = 0; d < decl.shape_size(); ++d) {
      if (decl.shape(d) < 0) {
        violations_.Add(BadExtent(FieldOf(i, absl::StrCat("shape[", d, "]")),
                                  absl::StrCat("buffer ", Quote(decl.name())), decl.shape(d)));
        good = false;
      }
      shape.push_back(static_cast<uint64_t>(decl.shape(d)));
    }
    return good;
  }

  bool SetBytes(uint32_t i, DType dtype, std::vector<uint64_t> shape) {
    Buffer& buffer = graph_.buffers[i];
    const std::optional<uint64_t> bytes = BytesOf(shape, dtype, kMaxBufferBytes);
    if (!bytes.has_value()) {
      violations_.Add(BufferTooLarge(FieldOf(i, "shape"), buffer.name, kMaxBufferBytes));
      return false;
    }
    buffer.dtype = dtype;
    buffer.shape = std::move(shape);
    buffer.size_bytes = *bytes;
    buffer.alignment = static_cast<uint32_t>(kernels::SizeOf(dtype));
    return true;
  }

  bool ReadShared(uint32_t i, const v1::BufferDecl& decl, std::optional<DType> dtype,
                  std::vector<uint64_t>& shape) {
    const SharedRequest request = {
        .buffer = decl.name(),
        .reference = decl.shared(),
        .dtype = dtype,
        .shape = shape,
        .device = decl.has_device() ? decl.device() : graph_.options.device};
    absl::StatusOr<SharedBuffer> found =
        context_.resolver ? context_.resolver(request) : ResolveFromDeclaration(request);
    if (!found.ok()) {
      violations_.Add(SharedUnusable(FieldOf(i, "shared"), decl.name(), decl.shared(),
                                     found.status().message()),
                      found.status().code());
      return false;
    }
    if (decl.has_device() && found->device != decl.device()) {
      violations_.Add(
          SharedOnOtherDevice(FieldOf(i, "device"), decl.name(), decl.device(), found->device));
      return false;
    }
    if (!dtype.has_value() && shape.empty()) {
      shape = found->shape.empty() ? std::vector<uint64_t>{1} : found->shape;
    } else if (shape.empty()) {
      shape = {found->size_bytes / kernels::SizeOf(*dtype)};
    }
    if (!SetBytes(i, dtype.value_or(found->dtype), std::move(shape))) return false;
    Buffer& buffer = graph_.buffers[i];
    if (buffer.size_bytes > found->size_bytes) {
      violations_.Add(
          SharedTooSmall(FieldOf(i, "shape"), decl.name(), buffer.size_bytes, found->size_bytes));
      return false;
    }
    buffer.shared = SharedStorage{found->id, found->size_bytes, found->device};
    buffer.storage = first_of_.try_emplace(found->id, BufferIndex(i)).first->second;
    return true;
  }

  const google::protobuf::RepeatedPtrField<v1::BufferDecl>& buffers_;
  const JobContext& context_;
  Graph& graph_;
  Violations& violations_;
  absl::flat_hash_map<BufferId, BufferIndex> first_of_;
};

}  // namespace

ReadBuffers ReadBufferDecls(const google::protobuf::RepeatedPtrField<v1::BufferDecl>& buffers,
                            const JobContext& context, Graph& graph, Violations& violations) {
  return BufferReader(buffers, context, graph, violations).Run();
}

}  // namespace weft::ir
