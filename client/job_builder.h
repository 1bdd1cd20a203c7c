// Builds a job in C++ that reads like its job file.
//
//   JobBuilder job("edges");
//   auto image = job.Upload("image", {480, 640}, std::span<const uint8_t>(pixels));
//   auto blurred = job.Buffer("blurred", v1::DATA_TYPE_U8, {480, 640});
//   job.Kernel("gaussian_blur").Arg("src", image).Arg("dst", blurred).Arg("sigma", 1.5);
//   job.Download("edges", blurred);
//   client.Run(job.proto());
//
// Kernels of one's own come with the job:
//
//   const ModuleRef mine = job.CudaModule("mine", source).Option("--use_fast_math");
//   job.UserKernel(mine, "scale<float>")
//       .Updates(image).Value(2.0F).Value(int32_t{480 * 640})   // as the kernel declares them
//       .Launch({1200, 1, 1}, {256, 1, 1});
//
// The builder checks nothing: the server does, and names everything that is wrong.
//
// Thread safety: none; one thread builds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "weft/v1/job.pb.h"

namespace weft::client {

// The DataType of a C++ type (float, double, and the integers of 8 to 64 bits).
template <typename T>
constexpr v1::DataType DataTypeOf();

using Shape = std::vector<int64_t>;

// A buffer of the job under construction, or a part of it. A value; names its buffer by text.
class JobView {
 public:
  explicit JobView(std::string buffer) { view_.set_buffer(std::move(buffer)); }

  const std::string& buffer() const { return view_.buffer(); }
  // Bytes [offset, offset + size) of the buffer (not of this view); size 0: up to its end.
  JobView Range(uint64_t offset_bytes, uint64_t size_bytes) const;
  // The same bytes with another shape.
  JobView Reshaped(const Shape& shape) const;
  const v1::View& proto() const { return view_; }

 private:
  v1::View view_;
};

class JobBuilder;

// A node of the job under construction, for ordering and naming. Valid as long as the builder.
class NodeRef {
 public:
  // Sets the node's name ("node<index>" without).
  NodeRef& Named(absl::string_view name);
  // This node starts only after `other` has ended, whatever their data says.
  NodeRef& After(const NodeRef& other);
  std::string name() const;

 protected:
  friend class JobBuilder;
  NodeRef(v1::Node* node, int index) : node_(node), index_(index) {}

  v1::Node* node_;
  int index_;
};

// A kernel node: its arguments, in any order.
class KernelRef : public NodeRef {
 public:
  KernelRef& Arg(absl::string_view name, const JobView& view);
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  KernelRef& Arg(absl::string_view name, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      return FloatArg(name, static_cast<double>(value));
    } else {
      return IntegerArg(name, static_cast<int64_t>(value));
    }
  }
  // Blocks and threads of a block, by dimension. Left out: the kernel's own rule.
  KernelRef& Launch(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block);
  KernelRef& Named(absl::string_view name);
  KernelRef& After(const NodeRef& other);

 private:
  friend class JobBuilder;
  using NodeRef::NodeRef;
  KernelRef& FloatArg(absl::string_view name, double value);
  KernelRef& IntegerArg(absl::string_view name, int64_t value);
};

// A call of a library: its arguments, in any order.
class LibraryRef : public NodeRef {
 public:
  LibraryRef& Arg(absl::string_view name, const JobView& view);
  // Of a choice: one of its texts.
  LibraryRef& Arg(absl::string_view name, absl::string_view text);
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  LibraryRef& Arg(absl::string_view name, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      return FloatArg(name, static_cast<double>(value));
    } else {
      return IntegerArg(name, static_cast<int64_t>(value));
    }
  }
  LibraryRef& Named(absl::string_view name);
  LibraryRef& After(const NodeRef& other);

 private:
  friend class JobBuilder;
  using NodeRef::NodeRef;
  LibraryRef& FloatArg(absl::string_view name, double value);
  LibraryRef& IntegerArg(absl::string_view name, int64_t value);
};

// Code that the job brings along. Valid as long as the builder.
class ModuleRef {
 public:
  // Of the compiler (Module.options); only with CUDA C++.
  ModuleRef& Option(absl::string_view option);
  // What #include "name" in the source finds.
  ModuleRef& Header(absl::string_view name, absl::string_view text);
  const std::string& name() const { return module_->name(); }

 private:
  friend class JobBuilder;
  explicit ModuleRef(v1::Module* module) : module_(module) {}
  v1::Module* module_;
};

// A launch of a kernel of a module: its parameters in the order of the kernel's declaration, each of
// the type that is declared there.
class UserKernelRef : public NodeRef {
 public:
  // A pointer to the view's first byte, and what the kernel does with its bytes.
  UserKernelRef& Reads(const JobView& view);
  UserKernelRef& Writes(const JobView& view);
  UserKernelRef& Updates(const JobView& view);  // both
  // A number of just this type: int32_t{1} is another parameter than int64_t{1}.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  UserKernelRef& Value(T value);
  UserKernelRef& Half(float value);      // rounded to half
  UserKernelRef& Bfloat16(float value);  // rounded to bfloat16

  // Blocks and threads of a block, by dimension; dynamic shared memory of a block. Needed.
  UserKernelRef& Launch(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block,
                        uint32_t shared_bytes = 0);
  // Blocks of a cluster, by dimension.
  UserKernelRef& Cluster(std::array<uint32_t, 3> blocks);
  // All blocks run at once.
  UserKernelRef& Cooperative();
  // Among kernels that are ready at the same time: greater goes first; -10 to 10.
  UserKernelRef& Priority(int32_t priority);
  UserKernelRef& Named(absl::string_view name);
  UserKernelRef& After(const NodeRef& other);

 private:
  friend class JobBuilder;
  using NodeRef::NodeRef;
  v1::KernelParameter* AddParameter();
  UserKernelRef& AddView(const JobView& view, v1::Access access);
};

class JobBuilder {
 public:
  explicit JobBuilder(absl::string_view name = "");
  JobBuilder(JobBuilder&&) noexcept = default;
  JobBuilder& operator=(JobBuilder&&) noexcept = default;

  // Memory of one run.
  JobView Buffer(absl::string_view name, v1::DataType data_type, const Shape& shape);
  // The same in page-locked host memory, and in memory that moves between host and device.
  JobView Pinned(absl::string_view name, v1::DataType data_type, const Shape& shape);
  JobView Managed(absl::string_view name, v1::DataType data_type, const Shape& shape);
  // A buffer of the server: its name, or Buffer::reference() of client.h.
  JobView Shared(absl::string_view name, absl::string_view reference);

  // A new buffer of that name with a node that uploads the bytes into it (and is named
  // "upload_<name>"). The bytes are copied.
  template <typename T>
  JobView Upload(absl::string_view name, const Shape& shape, std::span<const T> elements) {
    return Upload(name, DataTypeOf<std::remove_cv_t<T>>(), shape, std::as_bytes(elements));
  }
  JobView Upload(absl::string_view name, v1::DataType data_type, const Shape& shape,
                 std::span<const std::byte> bytes);
  // A node that uploads into an existing buffer.
  NodeRef UploadTo(const JobView& dst, std::span<const std::byte> bytes);

  KernelRef Kernel(absl::string_view kernel);
  // Such as "blas.matmul".
  LibraryRef Library(absl::string_view call);

  // Code of the job's own: CUDA C++ source, PTX, machine code, or several of them.
  ModuleRef CudaModule(absl::string_view name, absl::string_view source);
  ModuleRef PtxModule(absl::string_view name, absl::string_view text);
  ModuleRef CubinModule(absl::string_view name, absl::string_view bytes);
  ModuleRef FatbinModule(absl::string_view name, absl::string_view bytes);
  // A launch of one of its kernels; `entry` as UserKernelNode.entry has it.
  UserKernelRef UserKernel(const ModuleRef& module, absl::string_view entry);
  // Sets a variable of a module for the kernels of it that come after: from a view, or from bytes,
  // which are copied.
  NodeRef SetVariable(const ModuleRef& module, absl::string_view variable, const JobView& src);
  NodeRef SetVariable(const ModuleRef& module, absl::string_view variable,
                      std::span<const std::byte> bytes);
  NodeRef Copy(const JobView& src, const JobView& dst);
  // pattern_bytes: 1, 2 or 4.
  NodeRef Fill(const JobView& dst, uint32_t pattern, uint32_t pattern_bytes);
  // A named output.
  NodeRef Download(absl::string_view output, const JobView& src);
  // The same, and whoever watches the job (Job::Watch) gets it as soon as it is there.
  NodeRef HostOutput(absl::string_view output, const JobView& src);
  // Nothing but order.
  NodeRef Empty(absl::string_view name);

  // Device, deadline, timeline, …
  v1::JobOptions& options();

  // The job so far. Lives as long as the builder.
  const v1::Job& proto() const { return *job_; }

 private:
  v1::Node* AddNode();
  NodeRef LastNode() const;
  v1::Module* AddModule(absl::string_view name);

  std::unique_ptr<v1::Job> job_;  // on the heap: nodes must stay where NodeRefs point, also moved
};

template <typename T>
constexpr v1::DataType DataTypeOf() {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, "no DataType for this type");
  if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) <= 8, "no DataType for long double");
    return sizeof(T) == 4 ? v1::DATA_TYPE_F32 : v1::DATA_TYPE_F64;
  } else if constexpr (sizeof(T) == 1) {
    return std::is_signed_v<T> ? v1::DATA_TYPE_I8 : v1::DATA_TYPE_U8;
  } else if constexpr (sizeof(T) == 2) {
    return std::is_signed_v<T> ? v1::DATA_TYPE_I16 : v1::DATA_TYPE_U16;
  } else if constexpr (sizeof(T) == 4) {
    return std::is_signed_v<T> ? v1::DATA_TYPE_I32 : v1::DATA_TYPE_U32;
  } else {
    return std::is_signed_v<T> ? v1::DATA_TYPE_I64 : v1::DATA_TYPE_U64;
  }
}

template <typename T, typename>
UserKernelRef& UserKernelRef::Value(T value) {
  static_assert(sizeof(T) <= 8, "no kernel parameter of this type");
  v1::KernelParameter& parameter = *AddParameter();
  if constexpr (std::is_same_v<T, bool>) {
    parameter.set_u8(value ? 1 : 0);
  } else if constexpr (std::is_floating_point_v<T>) {
    sizeof(T) == 4 ? parameter.set_f32(static_cast<float>(value)) : parameter.set_f64(value);
  } else if constexpr (sizeof(T) == 1) {
    std::is_signed_v<T> ? parameter.set_i8(value) : parameter.set_u8(value);
  } else if constexpr (sizeof(T) == 2) {
    std::is_signed_v<T> ? parameter.set_i16(value) : parameter.set_u16(value);
  } else if constexpr (sizeof(T) == 4) {
    std::is_signed_v<T> ? parameter.set_i32(static_cast<int32_t>(value))
                        : parameter.set_u32(static_cast<uint32_t>(value));
  } else {
    std::is_signed_v<T> ? parameter.set_i64(static_cast<int64_t>(value))
                        : parameter.set_u64(static_cast<uint64_t>(value));
  }
  return *this;
}

}  // namespace weft::client
