#include "graph/ir/errors.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/ir/error_text.h"
#include "graph/ir/limits.h"
#include "kernels/nearest_name.h"

namespace weft::ir {
namespace {

constexpr size_t kMaxQuoted = 80;
constexpr size_t kMaxCycleNames = 16;
constexpr absl::string_view kNameRule = "1 to 128 characters of [A-Za-z0-9_.-]";

std::string Bytes(ByteRange range) {
  return absl::StrCat("[", range.offset, ", ", range.end(), ")");
}

// "a -> b -> a"
std::string CyclePath(const std::vector<std::string>& names) {
  std::string path;
  const size_t shown = std::min(names.size(), kMaxCycleNames);
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&path, names[i], " -> ");
  if (shown < names.size()) absl::StrAppend(&path, names.size() - shown, " more -> ");
  return absl::StrCat(path, names.front());
}

}  // namespace

std::string WithNearest(absl::string_view text, absl::string_view nearest,
                        absl::string_view remedy) {
  if (nearest.empty()) return absl::StrCat(text, "; ", remedy);
  return absl::StrCat(text, ".", kernels::DidYouMean(nearest));
}

std::string NodeText(const NodePlace& node) {
  if (node.scope.empty()) return absl::StrCat("node ", Quote(node.name));
  return absl::StrCat("node ", Quote(node.name), " of graph ", Quote(node.graph));
}

std::string Quote(absl::string_view text) {
  if (text.size() <= kMaxQuoted) return absl::StrCat("\"", absl::CHexEscape(text), "\"");
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kMaxQuoted)), "...\"");
}

std::string NodePlace::Field(absl::string_view part) const {
  return absl::StrCat(scope, "nodes[", index, "]", part.empty() ? "" : ".", part);
}

FieldViolation BadName(std::string field, absl::string_view what, absl::string_view name) {
  // Reads: ‹what› name "‹name›" has ‹size› bytes (or: has a character that names do not have; or: a
  // ‹what› needs a name); use ‹name rule›
  if (name.empty())
    return {std::move(field), absl::StrCat("a ", what, " needs a name: ", kNameRule)};
  std::string why = name.size() > kMaxNameBytes
                        ? absl::StrCat(" has ", name.size(), " bytes")
                        : std::string(" has a character that names do not have");
  return {std::move(field), absl::StrCat(what, " name ", Quote(name), why, "; use ", kNameRule)};
}

FieldViolation RepeatedName(std::string field, absl::string_view what, absl::string_view name,
                            absl::string_view first) {
  return {std::move(field),
          absl::StrCat(what, " name ", Quote(name), " is taken by ", first, "; choose another")};
}

FieldViolation NoNodes() { return {"nodes", "the job has no nodes; give it at least one"}; }

FieldViolation GraphWithoutNodes(std::string field, absl::string_view graph) {
  return {std::move(field),
          absl::StrCat("graph ", Quote(graph), " has no nodes; give it at least one")};
}

FieldViolation BadText(std::string field, absl::string_view what, uint64_t size_bytes) {
  return {std::move(field),
          absl::StrCat("the ", what, " has ", size_bytes, " bytes; the limit is ", kMaxTextBytes)};
}

FieldViolation TooMany(std::string field, absl::string_view what, uint64_t count, uint64_t limit) {
  return {std::move(field), absl::StrCat(count, " ", what, "; the limit is ", limit,
                                         "; split the job, or raise the limit of the server")};
}

FieldViolation OutputsTooLarge(uint64_t bytes, uint64_t limit_bytes) {
  return {"nodes",
          absl::StrCat("the outputs of the job are ", bytes, " bytes together; the limit is ",
                       limit_bytes, " (max_kept_result_bytes, at most 2 GiB); write to a shared ",
                       "buffer and fetch it with `weft get`")};
}

FieldViolation TooManyHostOutputs(const NodePlace& node, uint64_t limit) {
  return {node.Field("download.delivery"),
          absl::StrCat(NodeText(node), " is one more than the ", limit,
                       " outputs of a job that may be delivered when they are ready; leave "
                       "`delivery` out where the end of the job is early enough, or copy what is "
                       "ready at the same time into one buffer")};
}

FieldViolation UnknownEnumValue(std::string field, absl::string_view type, int value,
                                absl::string_view values) {
  return {std::move(field), absl::StrCat(type, " has no value ", value, "; use one of ", values)};
}

FieldViolation NoSuchDevice(uint32_t ordinal, absl::Span<const uint32_t> ordinals) {
  std::string have = ordinals.empty() ? std::string("there is none")
                                      : absl::StrCat("there is ", absl::StrJoin(ordinals, ", "));
  return {"options.device",
          absl::StrCat("there is no device ", ordinal, "; ", have, " (weft devices lists them)")};
}

FieldViolation BadExtent(std::string field, absl::string_view buffer, int64_t extent) {
  return {std::move(field),
          absl::StrCat(buffer, ": the extent ", extent, " is negative; extents are at least 0")};
}

FieldViolation TooManyDimensions(std::string field, absl::string_view subject, int count) {
  return {std::move(field), absl::StrCat(subject, " has ", count, " dimensions; the limit is ",
                                         kMaxDimensions, "; fold some into one")};
}

FieldViolation BufferTooLarge(std::string field, absl::string_view buffer, uint64_t limit_bytes) {
  return {std::move(field),
          absl::StrCat("buffer ", Quote(buffer), ": shape and data type make more ", "than ",
                       limit_bytes, " bytes, the most of one buffer; ", "make the shape smaller")};
}

FieldViolation SharedUnusable(std::string field, absl::string_view buffer,
                              absl::string_view reference, absl::string_view why) {
  return {std::move(field),
          absl::StrCat("buffer ", Quote(buffer), " (shared ", Quote(reference), "): ", why)};
}

FieldViolation SharedTooSmall(std::string field, absl::string_view buffer, uint64_t declared_bytes,
                              uint64_t shared_bytes) {
  return {std::move(field),
          absl::StrCat("buffer ", Quote(buffer), " is declared with ", declared_bytes,
                       " bytes, but the shared buffer has ", shared_bytes,
                       "; correct shape or data_type, or leave both ",
                       "out to take the buffer as it is")};
}

FieldViolation SharedOnOtherDevice(std::string field, absl::string_view buffer,
                                   uint32_t declared_device, uint32_t buffer_device) {
  return {std::move(field),
          absl::StrCat("buffer ", Quote(buffer), " is declared to be on device ", declared_device,
                       ", but is on device ", buffer_device, "; correct it, or leave it out")};
}

FieldViolation DeviceOfUnshared(std::string field, absl::string_view buffer) {
  return {std::move(field),
          absl::StrCat("buffer ", Quote(buffer),
                       " is of one run, on the device that the job runs on; leave "
                       "it out, or make it shared")};
}

FieldViolation ManagedUnsupported(std::string field, absl::string_view buffer, uint32_t device) {
  return {std::move(field),
          absl::StrCat("buffer ", Quote(buffer), " is managed, but device ", device,
                       " has no concurrent access to managed memory; make it scratch or pinned")};
}

FieldViolation PinnedTooLarge(uint64_t bytes, uint64_t limit_bytes) {
  return {"buffers", absl::StrCat("the pinned buffers of the job are ", bytes,
                                  " bytes together; the limit is ", limit_bytes,
                                  " (max_pinned_bytes); use scratch or managed buffers")};
}

absl::Status SharedNotDeclared(absl::string_view buffer, absl::string_view reference) {
  return absl::InvalidArgumentError(absl::StrCat(
      "without a server the size of buffer ", Quote(buffer), " (shared ", Quote(reference),
      ") is known only where the job gives its data_type and shape; add them"));
}

FieldViolation ParameterOfJob(std::string field, absl::string_view buffer) {
  return {std::move(field),
          absl::StrCat("buffer ", Quote(buffer), " is a parameter, and nobody binds those of the ",
                       "job itself; make it scratch or shared, or declare it in one of `graphs`")};
}

FieldViolation StorageInGraph(std::string field, absl::string_view buffer,
                              absl::string_view storage) {
  return {std::move(field),
          absl::StrCat("buffer ", Quote(buffer), " of a graph is ", storage, "; graphs have ",
                       "parameters and scratch alone: declare it in the job, and bind it to a ",
                       "parameter")};
}

FieldViolation NoKind(const NodePlace& node) {
  return {node.Field(),
          absl::StrCat(NodeText(node), " does nothing known; give it one of kernel, ",
                       "user_kernel, expression, library, copy, fill, upload, download, empty, ",
                       "graph, conditional, wait, signal, prefetch, advise")};
}

FieldViolation UnknownAfter(const NodePlace& node, uint32_t entry, absl::string_view name,
                            absl::string_view nearest) {
  return {node.Field(absl::StrCat("after[", entry, "]")),
          WithNearest(absl::StrCat(NodeText(node), " waits for the unknown node ", Quote(name)),
                      nearest, "name a node of this job")};
}

FieldViolation AfterItself(const NodePlace& node, uint32_t entry) {
  return {node.Field(absl::StrCat("after[", entry, "]")),
          absl::StrCat(NodeText(node), " waits for itself; take it out of its `after`")};
}

FieldViolation Cycle(const NodePlace& first, const std::vector<std::string>& names) {
  return {first.Field("after"), absl::StrCat("the order of ", names.size(), " nodes is a cycle: ",
                                             CyclePath(names), "; take one step of it out")};
}

FieldViolation GraphCycle(std::string field, const std::vector<std::string>& names) {
  return {std::move(field), absl::StrCat("graphs run each other in a cycle: ", CyclePath(names),
                                         "; take one step of it out")};
}

FieldViolation GraphsTooDeep(std::string field, absl::string_view graph, uint32_t depth,
                             uint32_t limit) {
  return {std::move(field),
          absl::StrCat("graph ", Quote(graph), " runs graphs that run graphs, ", depth,
                       " levels in all; the limit is ", limit, ": put some into one")};
}

FieldViolation TooManyExpanded(std::string field, uint64_t count, uint64_t limit) {
  return {std::move(field),
          absl::StrCat("with the nodes of the graphs that it runs, counted for every run, the job ",
                       "has ", count, " nodes; the limit is ", limit,
                       "; split the job, or raise the limit of the server")};
}

FieldViolation NotInGraph(const NodePlace& node, absl::string_view kind) {
  return {node.Field(kind),
          absl::StrCat(NodeText(node), ": ", kind, " nodes stand in the job alone, because CUDA ",
                       "runs none in the body of a conditional node; move it out, and bind its ",
                       "buffer to a parameter of the graph")};
}

FieldViolation UnknownGraph(const NodePlace& node, absl::string_view part, absl::string_view graph,
                            absl::string_view nearest) {
  return {node.Field(absl::StrCat(part, ".graph")),
          WithNearest(absl::StrCat(NodeText(node), " runs the unknown graph ", Quote(graph)),
                      nearest, "declare it in `graphs` of the job")};
}

FieldViolation UnknownGraphParameter(const NodePlace& node, absl::string_view binding,
                                     absl::string_view parameter, absl::string_view graph,
                                     absl::string_view nearest) {
  return {node.Field(absl::StrCat(binding, ".parameter")),
          WithNearest(absl::StrCat(NodeText(node), " binds ", Quote(parameter), ", which is no ",
                                   "parameter of graph ", Quote(graph)),
                      nearest, "name a buffer of the graph that is a parameter")};
}

FieldViolation BoundTwice(const NodePlace& node, absl::string_view binding,
                          absl::string_view parameter) {
  return {node.Field(binding), absl::StrCat(NodeText(node), " binds parameter ", Quote(parameter),
                                            " twice; leave one out")};
}

FieldViolation NotBound(const NodePlace& node, absl::string_view part, absl::string_view parameter,
                        absl::string_view graph, uint64_t bytes) {
  return {node.Field(absl::StrCat(part, ".bindings")),
          absl::StrCat(NodeText(node), " binds nothing to parameter ", Quote(parameter),
                       " of graph ", Quote(graph), "; bind a view of ", bytes, " bytes")};
}

FieldViolation BindingSizeDiffers(const NodePlace& node, absl::string_view binding,
                                  absl::string_view parameter, uint64_t view_bytes,
                                  uint64_t parameter_bytes) {
  return {
      node.Field(absl::StrCat(binding, ".view")),
      absl::StrCat(NodeText(node), " binds a view of ", view_bytes, " bytes to parameter ",
                   Quote(parameter), ", which has ", parameter_bytes, "; make both the same size")};
}

FieldViolation BindingMisaligned(const NodePlace& node, absl::string_view binding,
                                 absl::string_view parameter, uint64_t offset, uint32_t alignment) {
  return {node.Field(absl::StrCat(binding, ".view")),
          absl::StrCat(NodeText(node), " binds a view from byte ", offset, " to parameter ",
                       Quote(parameter), ", which must begin at a multiple of ", alignment,
                       " for what the graph does with it")};
}

FieldViolation BindingsOverlap(const NodePlace& node, absl::string_view part,
                               absl::string_view first, absl::string_view second,
                               absl::string_view buffer, ByteRange common) {
  return {node.Field(absl::StrCat(part, ".bindings")),
          absl::StrCat(NodeText(node), ": parameters ", Quote(first), " and ", Quote(second),
                       " share bytes ", Bytes(common), " of buffer ", Quote(buffer), ", and the ",
                       "graph writes one of them; bind views that share none, or only read")};
}

FieldViolation NoConditionalKind(const NodePlace& node, absl::string_view values) {
  return {node.Field("conditional.kind"),
          absl::StrCat(NodeText(node), " is conditional without a kind; use one of ", values)};
}

FieldViolation BodyCount(const NodePlace& node, absl::string_view kind, uint64_t count,
                         absl::string_view allowed) {
  return {node.Field("conditional.bodies"),
          absl::StrCat(NodeText(node), " is ", kind, " with ", count,
                       count == 1 ? " body" : " bodies", "; it takes ", allowed)};
}

FieldViolation BadWord(const NodePlace& node, absl::string_view part, absl::string_view what,
                       ByteRange range, absl::string_view dtype) {
  return {node.Field(part),
          absl::StrCat(NodeText(node), ", ", part, ": ", range.size, " bytes from byte ",
                       range.offset, " of a ", dtype, " buffer are not ", what)};
}

FieldViolation SemaphoreValueTooLarge(const NodePlace& node, absl::string_view part,
                                      uint64_t value) {
  return {node.Field(part), absl::StrCat(NodeText(node), ", ", part, ": ", value,
                                         " is beyond the largest value of a ",
                                         "semaphore, 2^63 - 1; count from a smaller one")};
}

FieldViolation SemaphoreDeadlock(const NodePlace& wait, uint64_t value,
                                 const std::vector<std::string>& path) {
  return {wait.Field("wait"),
          absl::StrCat(NodeText(wait), " waits for the value ", value, ", which node ",
                       Quote(path.back()), " signals only after it: ", CyclePath(path),
                       "; signal before the wait, or in another job")};
}

FieldViolation UnwrittenRead(const NodePlace& node, absl::string_view part,
                             absl::string_view memory, absl::string_view buffer, ByteRange range) {
  return {
      node.Field(part),
      absl::StrCat(NodeText(node), " reads bytes ", Bytes(range), " of ", memory, " buffer ",
                   Quote(buffer), ", which no node before it writes; write them first (upload, ",
                   "fill, or a kernel), or use a shared buffer")};
}

std::string ViewPlace::Field(absl::string_view member) const {
  const absl::string_view dot = member.empty() ? "" : ".";
  if (index < 0) return absl::StrCat(node.Field(part), dot, member);
  return absl::StrCat(node.Field(part), "[", index, "].view", dot, member);
}

std::string ViewPlace::Subject() const {
  if (index < 0) return absl::StrCat(NodeText(node), ", ", part);
  return absl::StrCat(NodeText(node), ", argument ", Quote(argument));
}

FieldViolation NoView(const ViewPlace& view) {
  return {view.Field(), absl::StrCat(view.Subject(), " is missing; give it a view of a buffer")};
}

FieldViolation UnknownBuffer(const ViewPlace& view, absl::string_view name,
                             absl::string_view nearest) {
  return {view.Field("buffer"),
          WithNearest(absl::StrCat(view.Subject(), " names the unknown buffer ", Quote(name)),
                      nearest, "declare it in `buffers`")};
}

FieldViolation UsedElsewhere(const ViewPlace& view, absl::string_view buffer,
                             uint32_t buffer_device, uint32_t job_device) {
  return {
      view.Field("buffer"),
      absl::StrCat(view.Subject(), " uses buffer ", Quote(buffer), " of device ", buffer_device,
                   ", but the job runs on device ", job_device,
                   ": only copy nodes may use it from there; copy it to or from a buffer of the "
                   "job's device, or set options.device")};
}

FieldViolation OutsideBuffer(const ViewPlace& view, absl::string_view buffer, ByteRange range,
                             uint64_t buffer_bytes) {
  return {view.Field(), absl::StrCat(view.Subject(), " takes ", range.size, " bytes from byte ",
                                     range.offset, " of buffer ", Quote(buffer), ", which has ",
                                     buffer_bytes, "; make the view smaller or the buffer larger")};
}

FieldViolation BadViewShape(const ViewPlace& view, absl::string_view what) {
  return {view.Field("shape"), absl::StrCat(view.Subject(), ": ", what)};
}

FieldViolation PartialElement(const ViewPlace& view, uint64_t size_bytes, absl::string_view dtype,
                              uint64_t element_bytes) {
  return {view.Field(),
          absl::StrCat(view.Subject(), " has ", size_bytes, " bytes, which is no whole number of ",
                       dtype, " elements; make it a multiple of ", element_bytes)};
}

FieldViolation UnknownKernel(const NodePlace& node, absl::string_view kernel,
                             absl::string_view nearest) {
  return {node.Field("kernel.kernel"),
          WithNearest(absl::StrCat(NodeText(node), " launches the unknown kernel ", Quote(kernel)),
                      nearest, "`weft kernels` lists those that exist")};
}

FieldViolation KernelRefuses(const NodePlace& node, absl::string_view part,
                             absl::string_view subject, absl::string_view why) {
  return {node.Field(part), absl::StrCat(NodeText(node), ", ", subject, ": ", why)};
}

FieldViolation NoArgumentValue(const NodePlace& node, absl::string_view part,
                               absl::string_view name) {
  return {node.Field(part), absl::StrCat(NodeText(node), ", argument ", Quote(name),
                                         " has no value; give it one of view, i64, f64, text")};
}

FieldViolation UnknownCall(const NodePlace& node, absl::string_view call,
                           absl::string_view nearest) {
  return {node.Field("library.call"),
          WithNearest(absl::StrCat(NodeText(node), " makes the unknown call ", Quote(call)),
                      nearest, "`weft kernels` lists those that exist")};
}

FieldViolation CopySizesDiffer(const NodePlace& node, uint64_t src_bytes, uint64_t dst_bytes) {
  return {node.Field("copy"), absl::StrCat(NodeText(node), " copies ", src_bytes, " bytes into ",
                                           dst_bytes, "; make both views the same size")};
}

FieldViolation CopyOverlaps(const NodePlace& node, absl::string_view buffer, ByteRange common) {
  return {node.Field("copy"),
          absl::StrCat(NodeText(node), ": src and dst share bytes ", Bytes(common), " of buffer ",
                       Quote(buffer), "; copy by way of another buffer")};
}

FieldViolation NoWidth(const NodePlace& node, absl::string_view field) {
  return {
      node.Field(field),
      absl::StrCat(NodeText(node), " has rows without a width; give the bytes of a row, or leave ",
                   "rows, slices and pitches out, too")};
}

FieldViolation PitchTooSmall(const NodePlace& node, absl::string_view field, uint64_t pitch_bytes,
                             uint64_t width_bytes) {
  return {node.Field(field),
          absl::StrCat(NodeText(node), " has rows of ", width_bytes, " bytes that begin ",
                       pitch_bytes, " bytes apart; the pitch must be the width or more")};
}

FieldViolation PitchTooLarge(const NodePlace& node, absl::string_view field, uint64_t pitch_bytes,
                             uint64_t limit_bytes) {
  return {node.Field(field), absl::StrCat(NodeText(node), " has rows that begin ", pitch_bytes,
                                          " bytes apart; the device's limit is ", limit_bytes,
                                          ". Give each row a node of its own")};
}

FieldViolation SliceTooSmall(const NodePlace& node, absl::string_view field, uint64_t slice_rows,
                             uint64_t rows) {
  return {node.Field(field),
          absl::StrCat(NodeText(node), " has slices of ", rows, " rows that begin ", slice_rows,
                       " rows apart; give the number of rows or more")};
}

FieldViolation RowsOutsideView(const NodePlace& node, absl::string_view part,
                               const std::optional<uint64_t>& extent, uint64_t view_bytes) {
  const std::string needed =
      extent.has_value() ? absl::StrCat(*extent) : std::string("2^64 or more");
  return {node.Field(part),
          absl::StrCat(NodeText(node), " has rows that reach over ", needed, " bytes of a view of ",
                       view_bytes, "; make them fewer, or the view larger")};
}

FieldViolation BoxesEntangled(const NodePlace& node, absl::string_view buffer, ByteRange common) {
  return {
      node.Field("copy.box"),
      absl::StrCat(NodeText(node), ": src and dst both reach over bytes ", Bytes(common),
                   " of buffer ", Quote(buffer), " with different pitches; give both sides the ",
                   "same pitches, or copy by way of another buffer")};
}

FieldViolation BadPatternSize(const NodePlace& node, uint32_t pattern_bytes) {
  return {node.Field("fill.pattern_bytes"),
          absl::StrCat(NodeText(node), " fills with a pattern of ", pattern_bytes,
                       " bytes; use 1, 2 or 4")};
}

FieldViolation PatternTooLarge(const NodePlace& node, uint32_t pattern, uint32_t pattern_bytes) {
  return {node.Field("fill.pattern"),
          absl::StrCat(NodeText(node), " fills with ", pattern, ", which does not fit in ",
                       pattern_bytes, pattern_bytes == 1 ? " byte" : " bytes",
                       "; set pattern_bytes to 2 or 4, or use a smaller one")};
}

FieldViolation FillMisaligned(const NodePlace& node, ByteRange range, uint32_t pattern_bytes) {
  return {node.Field("fill.dst"),
          absl::StrCat(NodeText(node), " fills ", range.size, " bytes from byte ", range.offset,
                       "; both must be multiples of the pattern's ", pattern_bytes, " bytes")};
}

FieldViolation FillRowsMisaligned(const NodePlace& node, uint64_t offset, uint64_t width_bytes,
                                  uint64_t pitch_bytes, uint32_t pattern_bytes) {
  return {node.Field("fill"),
          absl::StrCat(NodeText(node), " fills rows of ", width_bytes, " bytes, ", pitch_bytes,
                       " bytes apart, from byte ", offset, "; all three must be multiples of the ",
                       "pattern's ", pattern_bytes, " bytes")};
}

FieldViolation NotManaged(const NodePlace& node, absl::string_view part, absl::string_view buffer) {
  return {node.Field(part),
          absl::StrCat(NodeText(node), " names buffer ", Quote(buffer),
                       ", which does not move between host and device; declare it as managed {}")};
}

FieldViolation AdviceWithoutPlace(const NodePlace& node) {
  return {node.Field("advise.location"),
          absl::StrCat(NodeText(node), " gives a location to advice that has none; leave it out")};
}

FieldViolation UploadSizeDiffers(const NodePlace& node, uint64_t data_bytes, uint64_t view_bytes) {
  return {node.Field("upload.data"),
          absl::StrCat(NodeText(node), " uploads ", data_bytes, " bytes into a view of ",
                       view_bytes, "; make both the same size")};
}

FieldViolation UploadFromFile(const NodePlace& node, absl::string_view file) {
  return {
      node.Field("upload.file"),
      absl::StrCat(NodeText(node), " uploads the file ", Quote(file),
                   "; a server opens no files: let the client read it (weft run) and send data")};
}

}  // namespace weft::ir
