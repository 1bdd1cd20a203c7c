#include "client/job_builder.h"

#include "absl/strings/str_cat.h"

namespace weft::client {

JobView JobView::Range(uint64_t offset_bytes, uint64_t size_bytes) const {
  JobView part(buffer());
  part.view_.set_offset_bytes(offset_bytes);
  part.view_.set_size_bytes(size_bytes);
  return part;
}

JobView JobView::Reshaped(const Shape& shape) const {
  JobView reshaped = *this;
  reshaped.view_.mutable_shape()->Assign(shape.begin(), shape.end());
  return reshaped;
}

NodeRef& NodeRef::Named(absl::string_view name) {
  node_->set_name(name.data(), name.size());
  return *this;
}

NodeRef& NodeRef::After(const NodeRef& other) {
  node_->add_after(other.name());
  return *this;
}

std::string NodeRef::name() const {
  // The name that the server gives a node without one.
  return node_->name().empty() ? absl::StrCat("node", index_) : node_->name();
}

namespace {

// To a kernel or library node.
v1::Argument* AddArgument(v1::Node* node, absl::string_view name) {
  v1::Argument* argument = node->has_library() ? node->mutable_library()->add_args()
                                               : node->mutable_kernel()->add_args();
  argument->set_name(name.data(), name.size());
  return argument;
}

void SetShape(const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& block,
              v1::LaunchShape& launch) {
  launch.set_grid_x(grid[0]);
  launch.set_grid_y(grid[1]);
  launch.set_grid_z(grid[2]);
  launch.set_block_x(block[0]);
  launch.set_block_y(block[1]);
  launch.set_block_z(block[2]);
}

}  // namespace

KernelRef& KernelRef::Arg(absl::string_view name, const JobView& view) {
  *AddArgument(node_, name)->mutable_view() = view.proto();
  return *this;
}

KernelRef& KernelRef::FloatArg(absl::string_view name, double value) {
  AddArgument(node_, name)->set_f64(value);
  return *this;
}

KernelRef& KernelRef::IntegerArg(absl::string_view name, int64_t value) {
  AddArgument(node_, name)->set_i64(value);
  return *this;
}

KernelRef& KernelRef::Launch(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block) {
  SetShape(grid, block, *node_->mutable_kernel()->mutable_launch());
  return *this;
}

KernelRef& KernelRef::Named(absl::string_view name) {
  NodeRef::Named(name);
  return *this;
}

KernelRef& KernelRef::After(const NodeRef& other) {
  NodeRef::After(other);
  return *this;
}

LibraryRef& LibraryRef::Arg(absl::string_view name, const JobView& view) {
  *AddArgument(node_, name)->mutable_view() = view.proto();
  return *this;
}

LibraryRef& LibraryRef::Arg(absl::string_view name, absl::string_view text) {
  AddArgument(node_, name)->set_text(text.data(), text.size());
  return *this;
}

LibraryRef& LibraryRef::FloatArg(absl::string_view name, double value) {
  AddArgument(node_, name)->set_f64(value);
  return *this;
}

LibraryRef& LibraryRef::IntegerArg(absl::string_view name, int64_t value) {
  AddArgument(node_, name)->set_i64(value);
  return *this;
}

LibraryRef& LibraryRef::Named(absl::string_view name) {
  NodeRef::Named(name);
  return *this;
}

LibraryRef& LibraryRef::After(const NodeRef& other) {
  NodeRef::After(other);
  return *this;
}

ModuleRef& ModuleRef::Option(absl::string_view option) {
  module_->add_options(option.data(), option.size());
  return *this;
}

ModuleRef& ModuleRef::Header(absl::string_view name, absl::string_view text) {
  v1::Module::Header* header = module_->add_headers();
  header->set_name(name.data(), name.size());
  header->set_text(text.data(), text.size());
  return *this;
}

v1::KernelParameter* UserKernelRef::AddParameter() {
  return node_->mutable_user_kernel()->add_params();
}

UserKernelRef& UserKernelRef::AddView(const JobView& view, v1::Access access) {
  v1::KernelParameter* parameter = AddParameter();
  *parameter->mutable_view() = view.proto();
  parameter->set_access(access);
  return *this;
}

UserKernelRef& UserKernelRef::Reads(const JobView& view) { return AddView(view, v1::ACCESS_READ); }
UserKernelRef& UserKernelRef::Writes(const JobView& view) {
  return AddView(view, v1::ACCESS_WRITE);
}
UserKernelRef& UserKernelRef::Updates(const JobView& view) {
  return AddView(view, v1::ACCESS_READ_WRITE);
}

UserKernelRef& UserKernelRef::Half(float value) {
  AddParameter()->set_f16(value);
  return *this;
}

UserKernelRef& UserKernelRef::Bfloat16(float value) {
  AddParameter()->set_bf16(value);
  return *this;
}

UserKernelRef& UserKernelRef::Launch(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block,
                                     uint32_t shared_bytes) {
  SetShape(grid, block, *node_->mutable_user_kernel()->mutable_launch());
  node_->mutable_user_kernel()->set_shared_bytes(shared_bytes);
  return *this;
}

UserKernelRef& UserKernelRef::Cluster(std::array<uint32_t, 3> blocks) {
  v1::UserKernelNode::Cluster* cluster = node_->mutable_user_kernel()->mutable_cluster();
  cluster->set_x(blocks[0]);
  cluster->set_y(blocks[1]);
  cluster->set_z(blocks[2]);
  return *this;
}

UserKernelRef& UserKernelRef::Cooperative() {
  node_->mutable_user_kernel()->set_cooperative(true);
  return *this;
}

UserKernelRef& UserKernelRef::Priority(int32_t priority) {
  node_->mutable_user_kernel()->set_priority(priority);
  return *this;
}

UserKernelRef& UserKernelRef::Named(absl::string_view name) {
  NodeRef::Named(name);
  return *this;
}

UserKernelRef& UserKernelRef::After(const NodeRef& other) {
  NodeRef::After(other);
  return *this;
}

JobBuilder::JobBuilder(absl::string_view name) : job_(std::make_unique<v1::Job>()) {
  job_->set_name(name.data(), name.size());
}

JobView JobBuilder::Buffer(absl::string_view name, v1::DataType data_type, const Shape& shape) {
  v1::BufferDecl* buffer = job_->add_buffers();
  buffer->set_name(name.data(), name.size());
  buffer->set_data_type(data_type);
  buffer->mutable_shape()->Assign(shape.begin(), shape.end());
  return JobView(buffer->name());
}

JobView JobBuilder::Pinned(absl::string_view name, v1::DataType data_type, const Shape& shape) {
  JobView view = Buffer(name, data_type, shape);
  job_->mutable_buffers(job_->buffers_size() - 1)->mutable_pinned();
  return view;
}

JobView JobBuilder::Managed(absl::string_view name, v1::DataType data_type, const Shape& shape) {
  JobView view = Buffer(name, data_type, shape);
  job_->mutable_buffers(job_->buffers_size() - 1)->mutable_managed();
  return view;
}

JobView JobBuilder::Shared(absl::string_view name, absl::string_view reference) {
  v1::BufferDecl* buffer = job_->add_buffers();
  buffer->set_name(name.data(), name.size());
  buffer->set_shared(reference.data(), reference.size());
  return JobView(buffer->name());
}

JobView JobBuilder::Upload(absl::string_view name, v1::DataType data_type, const Shape& shape,
                           std::span<const std::byte> bytes) {
  JobView buffer = Buffer(name, data_type, shape);
  UploadTo(buffer, bytes).Named(absl::StrCat("upload_", name));
  return buffer;
}

NodeRef JobBuilder::UploadTo(const JobView& dst, std::span<const std::byte> bytes) {
  v1::UploadNode* upload = AddNode()->mutable_upload();
  *upload->mutable_dst() = dst.proto();
  upload->set_data(bytes.data(), bytes.size());
  return LastNode();
}

KernelRef JobBuilder::Kernel(absl::string_view kernel) {
  v1::Node* node = AddNode();
  node->mutable_kernel()->set_kernel(kernel.data(), kernel.size());
  return KernelRef(node, job_->nodes_size() - 1);
}

LibraryRef JobBuilder::Library(absl::string_view call) {
  v1::Node* node = AddNode();
  node->mutable_library()->set_call(call.data(), call.size());
  return LibraryRef(node, job_->nodes_size() - 1);
}

v1::Module* JobBuilder::AddModule(absl::string_view name) {
  v1::Module* module = job_->add_modules();
  module->set_name(name.data(), name.size());
  return module;
}

ModuleRef JobBuilder::CudaModule(absl::string_view name, absl::string_view source) {
  v1::Module* module = AddModule(name);
  module->set_cuda(source.data(), source.size());
  return ModuleRef(module);
}

ModuleRef JobBuilder::PtxModule(absl::string_view name, absl::string_view text) {
  v1::Module* module = AddModule(name);
  module->set_ptx(text.data(), text.size());
  return ModuleRef(module);
}

ModuleRef JobBuilder::CubinModule(absl::string_view name, absl::string_view bytes) {
  v1::Module* module = AddModule(name);
  module->set_cubin(bytes.data(), bytes.size());
  return ModuleRef(module);
}

ModuleRef JobBuilder::FatbinModule(absl::string_view name, absl::string_view bytes) {
  v1::Module* module = AddModule(name);
  module->set_fatbin(bytes.data(), bytes.size());
  return ModuleRef(module);
}

UserKernelRef JobBuilder::UserKernel(const ModuleRef& module, absl::string_view entry) {
  v1::Node* node = AddNode();
  node->mutable_user_kernel()->set_module(module.name());
  node->mutable_user_kernel()->set_entry(entry.data(), entry.size());
  return UserKernelRef(node, job_->nodes_size() - 1);
}

NodeRef JobBuilder::SetVariable(const ModuleRef& module, absl::string_view variable,
                                const JobView& src) {
  v1::SymbolNode* symbol = AddNode()->mutable_symbol();
  symbol->set_module(module.name());
  symbol->set_symbol(variable.data(), variable.size());
  *symbol->mutable_src() = src.proto();
  return LastNode();
}

NodeRef JobBuilder::SetVariable(const ModuleRef& module, absl::string_view variable,
                                std::span<const std::byte> bytes) {
  v1::SymbolNode* symbol = AddNode()->mutable_symbol();
  symbol->set_module(module.name());
  symbol->set_symbol(variable.data(), variable.size());
  symbol->set_data(bytes.data(), bytes.size());
  return LastNode();
}

NodeRef JobBuilder::Copy(const JobView& src, const JobView& dst) {
  v1::CopyNode* copy = AddNode()->mutable_copy();
  *copy->mutable_src() = src.proto();
  *copy->mutable_dst() = dst.proto();
  return LastNode();
}

NodeRef JobBuilder::Fill(const JobView& dst, uint32_t pattern, uint32_t pattern_bytes) {
  v1::FillNode* fill = AddNode()->mutable_fill();
  *fill->mutable_dst() = dst.proto();
  fill->set_pattern(pattern);
  fill->set_pattern_bytes(pattern_bytes);
  return LastNode();
}

NodeRef JobBuilder::Download(absl::string_view output, const JobView& src) {
  v1::DownloadNode* download = AddNode()->mutable_download();
  *download->mutable_src() = src.proto();
  download->set_output(output.data(), output.size());
  return LastNode();
}

NodeRef JobBuilder::HostOutput(absl::string_view output, const JobView& src) {
  v1::DownloadNode* download = AddNode()->mutable_download();
  *download->mutable_src() = src.proto();
  download->set_delivery(v1::DownloadNode::DELIVERY_WHEN_READY);
  download->set_output(output.data(), output.size());
  return LastNode();
}

NodeRef JobBuilder::Empty(absl::string_view name) {
  v1::Node* node = AddNode();
  node->mutable_empty();
  node->set_name(name.data(), name.size());
  return LastNode();
}

v1::JobOptions& JobBuilder::options() { return *job_->mutable_options(); }

v1::Node* JobBuilder::AddNode() { return job_->add_nodes(); }

NodeRef JobBuilder::LastNode() const {
  const int last = job_->nodes_size() - 1;
  return NodeRef(job_->mutable_nodes(last), last);
}

}  // namespace weft::client
