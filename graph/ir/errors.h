// What can be wrong with a job: one function an error. Those of the job file itself are statuses
// with line and column; those of a job's meaning are violations of a field, which ValidateJob
// collects. docs/errors.md has a section for each, with a sample and the remedy.
//
// Texts quote what the job says with escapes, so that they are valid UTF-8 whatever it says.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/byte_range.h"
#include "base/error_context.h"
#include "kernels/launch_shape.h"

namespace weft::ir {

// `text` in quotes, escaped, and cut where it is very long.
std::string Quote(absl::string_view text);

// Where in a job file, counted from 1; columns count characters.
struct TextPlace {
  uint64_t line = 1;
  uint64_t column = 1;
};

// ---- Job files --------------------------------------------------------------------------------
absl::Status UnknownFileEnding(absl::string_view path);
absl::Status JobFileEmpty();
absl::Status JobFileTooLarge(uint64_t size_bytes, uint64_t limit_bytes);
absl::Status JobFileNotUtf8(TextPlace place, uint8_t byte);
absl::Status JobFileTextNotUtf8(TextPlace place, absl::string_view path, absl::string_view text);
absl::Status JobFileSyntax(TextPlace place, absl::string_view what);
// `kind`: "field" or "value"; `owner`: the message or enum; `nearest`: empty where nothing is near.
absl::Status JobFileUnknownName(TextPlace place, absl::string_view kind, absl::string_view owner,
                                absl::string_view name, absl::string_view nearest);
absl::Status JobFileTooDeep(TextPlace place, int limit);
absl::Status JobFileRepeatedField(TextPlace place, absl::string_view field);
absl::Status JobFileExcludedField(TextPlace place, absl::string_view field,
                                  absl::string_view earlier);
absl::Status JobFileBadValue(TextPlace place, absl::string_view field, absl::string_view what);
absl::Status JobFileNotBinary(absl::string_view hint);
absl::Status JobFileUnknownNumber(absl::string_view path, int field_number);

// ---- Names ------------------------------------------------------------------------------------
// The node that a violation is about. A view of the job's text; lives as long as the call.
struct NodePlace {
  uint32_t index = 0;
  absl::string_view name;
  // Of a node of a graph of the job: Graph::scope and the graph's name.
  absl::string_view scope = {};
  absl::string_view graph = {};
  // scope + "nodes[3]" + (part.empty() ? "" : "." + part)
  std::string Field(absl::string_view part = "") const;
};

FieldViolation BadName(std::string field, absl::string_view what, absl::string_view name);
FieldViolation RepeatedName(std::string field, absl::string_view what, absl::string_view name,
                            absl::string_view first);
FieldViolation NoNodes();
FieldViolation GraphWithoutNodes(std::string field, absl::string_view graph);
FieldViolation BadText(std::string field, absl::string_view what, uint64_t size_bytes);
// The outputs of a job take more memory, and a larger message, than the server gives to one job.
FieldViolation OutputsTooLarge(uint64_t bytes, uint64_t limit_bytes);
// `node`: the first that is one too many.
FieldViolation TooManyHostOutputs(const NodePlace& node, uint64_t limit);
FieldViolation TooMany(std::string field, absl::string_view what, uint64_t count, uint64_t limit);
FieldViolation UnknownEnumValue(std::string field, absl::string_view type, int value,
                                absl::string_view values);
FieldViolation NoSuchDevice(uint32_t ordinal, absl::Span<const uint32_t> ordinals);

// ---- Buffers ----------------------------------------------------------------------------------
FieldViolation BadExtent(std::string field, absl::string_view buffer, int64_t extent);
FieldViolation TooManyDimensions(std::string field, absl::string_view subject, int count);
FieldViolation BufferTooLarge(std::string field, absl::string_view buffer, uint64_t limit_bytes);
FieldViolation SharedUnusable(std::string field, absl::string_view buffer,
                              absl::string_view reference, absl::string_view why);
FieldViolation SharedTooSmall(std::string field, absl::string_view buffer, uint64_t declared_bytes,
                              uint64_t shared_bytes);
FieldViolation SharedOnOtherDevice(std::string field, absl::string_view buffer,
                                   uint32_t declared_device, uint32_t buffer_device);
// A device is given for a buffer that is not shared.
FieldViolation DeviceOfUnshared(std::string field, absl::string_view buffer);
// On a device that cannot share managed memory with the host while it works.
FieldViolation ManagedUnsupported(std::string field, absl::string_view buffer, uint32_t device);
// Page-locked memory is the host's, which all jobs and programs share.
FieldViolation PinnedTooLarge(uint64_t bytes, uint64_t limit_bytes);
absl::Status SharedNotDeclared(absl::string_view buffer, absl::string_view reference);
FieldViolation ParameterOfJob(std::string field, absl::string_view buffer);
// `storage`: the field of BufferDecl that was given.
FieldViolation StorageInGraph(std::string field, absl::string_view buffer,
                              absl::string_view storage);

// ---- Modules ----------------------------------------------------------------------------------
FieldViolation ModuleWithoutCode(std::string field, absl::string_view module);
FieldViolation ModuleFromFile(std::string field, absl::string_view module, absl::string_view file);
// Options or headers beside code that nothing compiles; `code`: "ptx", "cubin" or "fatbin".
FieldViolation ModuleNotCompiled(std::string field, absl::string_view module,
                                 absl::string_view code);
// Code for GPUs on a CPU device.
FieldViolation ModuleNeedsGpu(std::string field, absl::string_view module, absl::string_view code);

// ---- Nodes ------------------------------------------------------------------------------------
FieldViolation NoKind(const NodePlace& node);
FieldViolation UnknownAfter(const NodePlace& node, uint32_t entry, absl::string_view name,
                            absl::string_view nearest);
FieldViolation AfterItself(const NodePlace& node, uint32_t entry);
FieldViolation Cycle(const NodePlace& first, const std::vector<std::string>& names);
// `memory`: "scratch", "pinned" or "managed".
FieldViolation UnwrittenRead(const NodePlace& node, absl::string_view part,
                             absl::string_view memory, absl::string_view buffer, ByteRange range);

// ---- Graphs, conditionals, semaphores ---------------------------------------------------------
FieldViolation GraphCycle(std::string field, const std::vector<std::string>& names);
FieldViolation GraphsTooDeep(std::string field, absl::string_view graph, uint32_t depth,
                             uint32_t limit);
FieldViolation TooManyExpanded(std::string field, uint64_t count, uint64_t limit);
// `kind`: the field of Node that was given.
FieldViolation NotInGraph(const NodePlace& node, absl::string_view kind);
// `part`: the GraphNode, such as "graph" or "conditional.bodies[1]".
FieldViolation UnknownGraph(const NodePlace& node, absl::string_view part, absl::string_view graph,
                            absl::string_view nearest);
FieldViolation UnknownGraphParameter(const NodePlace& node, absl::string_view binding,
                                     absl::string_view parameter, absl::string_view graph,
                                     absl::string_view nearest);
FieldViolation BoundTwice(const NodePlace& node, absl::string_view binding,
                          absl::string_view parameter);
FieldViolation NotBound(const NodePlace& node, absl::string_view part, absl::string_view parameter,
                        absl::string_view graph, uint64_t bytes);
FieldViolation BindingSizeDiffers(const NodePlace& node, absl::string_view binding,
                                  absl::string_view parameter, uint64_t view_bytes,
                                  uint64_t parameter_bytes);
FieldViolation BindingMisaligned(const NodePlace& node, absl::string_view binding,
                                 absl::string_view parameter, uint64_t offset, uint32_t alignment);
// Two parameters share bytes, and the graph writes one of them.
FieldViolation BindingsOverlap(const NodePlace& node, absl::string_view part,
                               absl::string_view first, absl::string_view second,
                               absl::string_view buffer, ByteRange common);
FieldViolation NoConditionalKind(const NodePlace& node, absl::string_view values);
FieldViolation BodyCount(const NodePlace& node, absl::string_view kind, uint64_t count,
                         absl::string_view allowed);
// `part`: "conditional.value", "wait.semaphore" or "signal.semaphore"; `what`: "one i32 or u32".
FieldViolation BadWord(const NodePlace& node, absl::string_view part, absl::string_view what,
                       ByteRange range, absl::string_view dtype);
// `part`: "wait.value" or "signal.value".
FieldViolation SemaphoreValueTooLarge(const NodePlace& node, absl::string_view part,
                                      uint64_t value);
// `path`: from the wait to the signal that it waits for.
FieldViolation SemaphoreDeadlock(const NodePlace& wait, uint64_t value,
                                 const std::vector<std::string>& path);

// ---- Views ------------------------------------------------------------------------------------
// A view of a node: `part` "copy.src"; or argument `index` of `part` "kernel.args", which is called
// `argument`.
// Makes no text until it is asked for.
struct ViewPlace {
  NodePlace node;
  absl::string_view part;
  int index = -1;
  absl::string_view argument;
  std::string Field(absl::string_view member = "") const;
  std::string Subject() const;  // `node "n", argument "a"`
};

FieldViolation NoView(const ViewPlace& view);
FieldViolation UnknownBuffer(const ViewPlace& view, absl::string_view name,
                             absl::string_view nearest);
// A shared buffer that lies on another device than the job's, in a node that is no copy.
FieldViolation UsedElsewhere(const ViewPlace& view, absl::string_view buffer,
                             uint32_t buffer_device, uint32_t job_device);
FieldViolation OutsideBuffer(const ViewPlace& view, absl::string_view buffer, ByteRange range,
                             uint64_t buffer_bytes);
FieldViolation BadViewShape(const ViewPlace& view, absl::string_view what);
FieldViolation PartialElement(const ViewPlace& view, uint64_t size_bytes, absl::string_view dtype,
                              uint64_t element_bytes);

// ---- Kinds of nodes ---------------------------------------------------------------------------
FieldViolation UnknownKernel(const NodePlace& node, absl::string_view kernel,
                             absl::string_view nearest);
// What kernels::Bind or kernels::PlanLaunch found: `part` is "kernel.args[1]", "kernel.launch"…
FieldViolation KernelRefuses(const NodePlace& node, absl::string_view part,
                             absl::string_view subject, absl::string_view why);
// `part`: "kernel.args[1]".
FieldViolation NoArgumentValue(const NodePlace& node, absl::string_view part,
                               absl::string_view name);
FieldViolation UnknownCall(const NodePlace& node, absl::string_view call,
                           absl::string_view nearest);
FieldViolation UnknownModule(const NodePlace& node, absl::string_view module,
                             absl::string_view nearest);
FieldViolation BadEntry(const NodePlace& node, absl::string_view entry);
// `fault`: what is wrong with its text, or the types of its names, and what to do.
FieldViolation ExpressionFault(const NodePlace& node, absl::string_view fault);
FieldViolation ExpressionNameMissing(const NodePlace& node, absl::string_view name);
FieldViolation TooManyExpressions(const NodePlace& node, uint64_t limit);
FieldViolation NoParameterValue(const NodePlace& node, uint32_t parameter);
FieldViolation AccessOfScalar(const NodePlace& node, uint32_t parameter);
FieldViolation TextureIsRead(const NodePlace& node, uint32_t parameter);
FieldViolation ParameterOutOfRange(const NodePlace& node, uint32_t parameter,
                                   absl::string_view dtype);
FieldViolation NoLaunchShape(const NodePlace& node);
// `part`: the parameter's texture, "user_kernel.params[2].texture"; `field`: of it; `why`: what is
// wrong with its value, and what would be right.
FieldViolation BadTexture(const NodePlace& node, absl::string_view part, absl::string_view field,
                          absl::string_view why);
// `limit`: blocks of a cluster on the device; 0: it has no clusters.
FieldViolation BadCluster(const NodePlace& node, const kernels::Dim3& cluster, uint32_t limit);
FieldViolation ClusterDividesNot(const NodePlace& node, const kernels::Dim3& cluster,
                                 const kernels::Dim3& grid);
FieldViolation CooperativeNeedsGpu(const NodePlace& node);
FieldViolation BadPriority(const NodePlace& node, int32_t priority, int32_t limit);
FieldViolation UnknownModuleOfSymbol(const NodePlace& node, absl::string_view module,
                                     absl::string_view nearest);
FieldViolation BadSymbol(const NodePlace& node, absl::string_view symbol);
FieldViolation SymbolWithoutBytes(const NodePlace& node);
FieldViolation SymbolSizeDiffers(const NodePlace& node, uint64_t data_bytes, uint64_t size_bytes);
FieldViolation CopySizesDiffer(const NodePlace& node, uint64_t src_bytes, uint64_t dst_bytes);
FieldViolation CopyOverlaps(const NodePlace& node, absl::string_view buffer, ByteRange common);
// `field`: "copy.box.width_bytes" or "fill.width_bytes".
FieldViolation NoWidth(const NodePlace& node, absl::string_view field);
FieldViolation PitchTooSmall(const NodePlace& node, absl::string_view field, uint64_t pitch_bytes,
                             uint64_t width_bytes);
FieldViolation PitchTooLarge(const NodePlace& node, absl::string_view field, uint64_t pitch_bytes,
                             uint64_t limit_bytes);
FieldViolation SliceTooSmall(const NodePlace& node, absl::string_view field, uint64_t slice_rows,
                             uint64_t rows);
// `extent`: from the first byte of the first row to the last of the last; nullopt: 2^64 or more.
FieldViolation RowsOutsideView(const NodePlace& node, absl::string_view part,
                               const std::optional<uint64_t>& extent, uint64_t view_bytes);
// Both boxes of a copy lie in the same part of one buffer, with different pitches.
FieldViolation BoxesEntangled(const NodePlace& node, absl::string_view buffer, ByteRange common);
FieldViolation BadPatternSize(const NodePlace& node, uint32_t pattern_bytes);
FieldViolation PatternTooLarge(const NodePlace& node, uint32_t pattern, uint32_t pattern_bytes);
FieldViolation FillMisaligned(const NodePlace& node, ByteRange range, uint32_t pattern_bytes);
FieldViolation FillRowsMisaligned(const NodePlace& node, uint64_t offset, uint64_t width_bytes,
                                  uint64_t pitch_bytes, uint32_t pattern_bytes);
// `part`: "prefetch.view" or "advise.view".
FieldViolation NotManaged(const NodePlace& node, absl::string_view part, absl::string_view buffer);
FieldViolation AdviceWithoutPlace(const NodePlace& node);
FieldViolation UploadSizeDiffers(const NodePlace& node, uint64_t data_bytes, uint64_t view_bytes);
FieldViolation UploadFromFile(const NodePlace& node, absl::string_view file);

}  // namespace weft::ir
