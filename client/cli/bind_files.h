// Files beside a job: the job file itself, the files that its uploads read, and those that its
// outputs are written to. Everything is checked before the job is submitted.
//
// Thread safety: none; the main thread alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/cli/array_file.h"
#include "weft/v1/job.pb.h"

namespace weft::cli {

// Name → file, as given with --input and --output.
using Bindings = std::map<std::string, std::string>;

// "NAME=FILE" texts. INVALID_ARGUMENT; `option` is for messages.
absl::StatusOr<Bindings> ParseBindings(absl::string_view option,
                                       absl::Span<const std::string> texts);

// A job file as read: names of files in it are relative to `folder`.
struct JobFile {
  std::string path;
  std::string folder;
  v1::Job job;
};

// Reads and parses a job file of any format. INVALID_ARGUMENT with file, line and column.
absl::StatusOr<JobFile> ReadJobFile(const std::string& path);

// Puts the bytes of files into the upload nodes that name one (UploadNode.file), or that `inputs`
// names by node; files of `inputs` are relative to the working folder. Gives the files that were
// read. INVALID_ARGUMENT with a field violation for each node whose file cannot be read or does not
// fit its view; the shapes [480, 640] and [480, 640, 1] fit each other.
absl::StatusOr<std::vector<std::string>> BindInputs(JobFile& file, const Bindings& inputs);

// Where outputs go. Without `out_dir`: DownloadNode.file, relative to the job file; an output
// without a file is not written. With it: into that folder, under the last part of
// DownloadNode.file, or as "<output>.npy". `outputs` goes before both, relative to the working
// folder.
//
// Gives output name → file. INVALID_ARGUMENT with a field violation for each output that would
// overwrite one of `inputs`, the job file or another output, or whose type its file cannot hold.
absl::StatusOr<Bindings> PlanOutputs(const JobFile& file, const std::vector<std::string>& inputs,
                                     const std::string& out_dir, const Bindings& outputs);

// Those of `planned` that a server delivers while the job runs (DownloadNode.delivery).
Bindings HostOutputsOf(const v1::Job& job, const Bindings& planned);

// Writes one output; makes missing folders of `path`.
absl::Status WriteOutput(const std::string& path, const v1::JobOutput& output);

// The type of an output or a buffer of the server. INVALID_ARGUMENT when the server speaks of a
// type that this program does not know.
absl::StatusOr<ArrayType> TypeOf(v1::DataType data_type, absl::Span<const int64_t> shape);

}  // namespace weft::cli
