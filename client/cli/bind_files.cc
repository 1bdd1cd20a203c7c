#include "client/cli/bind_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "client/cli/errors.h"
#include "client/cli/file_io.h"
#include "client/cli/view_type.h"
#include "graph/ir/data_type.h"
#include "graph/ir/job_file.h"
#include "kernels/nearest_name.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

// The largest job that a weftd may be set to accept.
constexpr uint64_t kMaxJobFileBytes = kMaxArrayBytes;

std::string NodeName(const v1::Job& job, int index) {
  const std::string& name = job.nodes(index).name();
  return name.empty() ? absl::StrCat("node", index) : name;
}

std::string OutputName(const v1::Job& job, int index) {
  const std::string& name = job.nodes(index).download().output();
  return name.empty() ? NodeName(job, index) : name;
}

// Every name in `bindings` must be one of `names`.
absl::Status CheckNames(const Bindings& bindings, const std::vector<std::string>& names,
                        absl::Status (*no_such)(absl::string_view name,
                                                absl::string_view nearest)) {
  for (const auto& [name, file] : bindings) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::vector<absl::string_view> candidates(names.begin(), names.end());
    return no_such(name, kernels::NearestName(name, candidates));
  }
  return absl::OkStatus();
}

// What is wrong with using `array` for the upload; nullopt: nothing.
std::optional<FieldViolation> CheckFits(const v1::Job& job, int index, const std::string& field,
                                        const std::string& path, const Array& array) {
  const v1::View& dst = job.nodes(index).upload().dst();
  const ViewType expected = TypeOfView(job, dst);
  const std::string node = NodeName(job, index);
  if (array.type.has_value() && !Fits(*array.type, expected)) {
    return InputTypeViolation(field, node, path, *array.type, Describe(expected, dst));
  }
  if (!array.type.has_value() &&
      expected.bytes.value_or(array.bytes.size()) != array.bytes.size()) {
    return InputSizeViolation(field, node, path, array.bytes.size(), *expected.bytes);
  }
  return std::nullopt;
}

std::string InFolder(const std::string& folder, const std::string& file) {
  return fs::path(file).is_absolute() || folder.empty() ? file : (fs::path(folder) / file).string();
}

// The file of output `name`; empty: it is not written.
std::string FileOfOutput(const JobFile& file, const v1::DownloadNode& download,
                         const std::string& name, const std::string& out_dir,
                         const Bindings& outputs) {
  if (const auto bound = outputs.find(name); bound != outputs.end()) return bound->second;
  if (out_dir.empty()) {
    return download.file().empty() ? "" : InFolder(file.folder, download.file());
  }
  const std::string last = fs::path(download.file()).filename().string();
  return (fs::path(out_dir) / (last.empty() ? name + ".npy" : last)).string();
}

// Files that must stay as they are, by canonical path, with what each of them is.
using TakenFiles = std::map<std::string, std::string>;

TakenFiles FilesInUse(const JobFile& file, const std::vector<std::string>& inputs) {
  TakenFiles taken = {{CanonicalPath(file.path), "the job file"}};
  for (const std::string& input : inputs)
    taken.emplace(CanonicalPath(input), "an input of the job");
  return taken;
}

// OK when the file can hold the output, as far as the job says what that is.
absl::Status CheckOutputType(const v1::Job& job, const v1::View& src, const std::string& path) {
  const ViewType type = TypeOfView(job, src);
  if (!type.dtype.has_value() || !type.shape.has_value()) return absl::OkStatus();
  return CheckWritable(path, {*type.dtype, *type.shape});
}

}  // namespace

absl::StatusOr<Bindings> ParseBindings(absl::string_view option,
                                       absl::Span<const std::string> texts) {
  Bindings bindings;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      return BindingSyntaxError(option, text);
    }
    const std::string name = text.substr(0, equals);
    if (!bindings.emplace(name, text.substr(equals + 1)).second) {
      return BoundTwiceError(option, name);
    }
  }
  return bindings;
}

absl::StatusOr<JobFile> ReadJobFile(const std::string& path) {
  WEFT_ASSIGN_OR_RETURN(const ir::JobFormat format, ir::FormatFromPath(path));
  WEFT_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path, kMaxJobFileBytes));
  ir::Limits limits;
  limits.max_job_bytes = kMaxJobFileBytes;  // the server's own limit may be smaller, and it says so
  absl::StatusOr<v1::Job> job = ir::ParseJob(bytes, format, limits);
  if (!job.ok()) {
    return absl::Status(job.status().code(), absl::StrCat(path, ": ", job.status().message()));
  }
  return JobFile{path, fs::path(path).parent_path().string(), std::move(*job)};
}

absl::StatusOr<std::vector<std::string>> BindInputs(JobFile& file, const Bindings& inputs) {
  std::vector<std::string> upload_names;
  std::vector<std::string> paths;
  std::vector<FieldViolation> violations;
  uint64_t total_bytes = 0;
  for (int i = 0; i < file.job.nodes_size(); ++i) {
    if (!file.job.nodes(i).has_upload()) continue;
    v1::UploadNode& upload = *file.job.mutable_nodes(i)->mutable_upload();
    const std::string node = NodeName(file.job, i);
    upload_names.push_back(node);
    const auto bound = inputs.find(node);
    if (bound == inputs.end() && upload.source_case() != v1::UploadNode::kFile) continue;
    const std::string path =
        bound != inputs.end() ? bound->second : InFolder(file.folder, upload.file());
    const std::string field = absl::StrCat("nodes[", i, "].upload.file");
    absl::StatusOr<Array> array = ReadArray(path, kMaxArrayBytes - total_bytes);
    if (!array.ok()) {
      violations.push_back(InputFileViolation(field, node, array.status().message()));
      continue;
    }
    if (auto misfit = CheckFits(file.job, i, field, path, *array); misfit.has_value()) {
      violations.push_back(std::move(*misfit));
      continue;
    }
    total_bytes += array->bytes.size();
    upload.set_data(std::move(array->bytes));
    paths.push_back(path);
  }
  WEFT_RETURN_IF_ERROR(CheckNames(inputs, upload_names, NoSuchUploadError));
  if (!violations.empty()) return InvalidArgumentError(std::move(violations));
  return paths;
}

absl::StatusOr<Bindings> PlanOutputs(const JobFile& file, const std::vector<std::string>& inputs,
                                     const std::string& out_dir, const Bindings& outputs) {
  Bindings planned;
  TakenFiles taken = FilesInUse(file, inputs);
  std::vector<std::string> names;
  std::vector<FieldViolation> violations;
  for (int i = 0; i < file.job.nodes_size(); ++i) {
    if (!file.job.nodes(i).has_download()) continue;
    const v1::DownloadNode& download = file.job.nodes(i).download();
    const std::string name = OutputName(file.job, i);
    names.push_back(name);
    const std::string path = FileOfOutput(file, download, name, out_dir, outputs);
    if (path.empty()) continue;
    const std::string field = absl::StrCat("nodes[", i, "].download.file");
    const auto [other, is_free] =
        taken.emplace(CanonicalPath(path), absl::StrCat("where output \"", name, "\" goes"));
    if (!is_free) {
      violations.push_back(OutputCollisionViolation(field, name, path, other->second));
    } else if (auto status = CheckOutputType(file.job, download.src(), path); !status.ok()) {
      violations.push_back(OutputFileViolation(field, name, status.message()));
    } else {
      planned.emplace(name, path);
    }
  }
  WEFT_RETURN_IF_ERROR(CheckNames(outputs, names, NoSuchOutputNameError));
  if (!violations.empty()) return InvalidArgumentError(std::move(violations));
  return planned;
}

Bindings HostOutputsOf(const v1::Job& job, const Bindings& planned) {
  Bindings files;
  for (int i = 0; i < job.nodes_size(); ++i) {
    if (job.nodes(i).download().delivery() != v1::DownloadNode::DELIVERY_WHEN_READY) continue;
    const auto file = planned.find(OutputName(job, i));
    if (file != planned.end()) files.insert(*file);
  }
  return files;
}

absl::Status WriteOutput(const std::string& path, const v1::JobOutput& output) {
  WEFT_ASSIGN_OR_RETURN(const ArrayType type, TypeOf(output.data_type(), output.shape()));
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) return CannotWriteError(path, error.value());
  return WriteArray(path, type, output.data());
}

absl::StatusOr<ArrayType> TypeOf(v1::DataType data_type, absl::Span<const int64_t> shape) {
  const std::optional<kernels::DType> dtype =
      data_type == v1::DATA_TYPE_UNSPECIFIED ? kernels::DType::kU8 : ir::DTypeOf(data_type);
  if (!dtype.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the server speaks of data type ", static_cast<int>(data_type),
                     ", which this program does not know: use a weft as new as weftd"));
  }
  return ArrayType{*dtype, std::vector<int64_t>(shape.begin(), shape.end())};
}

}  // namespace weft::cli
