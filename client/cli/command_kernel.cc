#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "client/cli/code_report.h"
#include "client/cli/command.h"
#include "client/cli/errors.h"
#include "client/cli/file_io.h"
#include "client/cli/output.h"
#include "kernels/compile/code_images.h"
#include "kernels/compile/occupancy.h"
#include "kernels/compile/offline_compiler.h"

namespace weft::cli {
namespace {

constexpr uint64_t kMaxCodeBytes = uint64_t{1} << 30;
constexpr char kDefaultArchitecture[] = "sm_90";

class KernelCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {
        "kernel", "Compile kernels of your own, or say what is in compiled ones",
        "build: CUDA C++ to a cubin or PTX, by the ending of the output. info: the kernels of a "
        ".cu, .ptx, .cubin or\n.fatbin file, what they take, and how many blocks a "
        "multiprocessor holds. Needs no GPU and asks no server;\ncompiling needs NVRTC of the "
        "CUDA Toolkit."};
  }
  std::vector<Option> options() override {
    return {
        OneOf(Argument("action", "build|info", "What to do", &action_), {"build", "info"}),
        Argument("file", "FILE", "Source, or for info compiled code", &file_, Completes::kFiles),
        Lettered('o', Value("output", "FILE", "Of build: .cubin or .ptx (default: FILE.cubin)",
                            &output_, Completes::kFiles)),
        Suggesting(
            Value("arch", "ARCH",
                  absl::StrCat("Architecture to compile for (default: ", kDefaultArchitecture,
                               "), and to compute the occupancy on (default: the code's)"),
                  &architecture_),
            {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"}),
        Value("entry", "NAME", "Kernel to compile, such as 'scale<float>'; may be repeated",
              &entries_),
        Lettered('D', Value("define", "NAME[=VALUE]", "Macro; may be repeated", &defines_)),
        Lettered('I', Value("include", "DIR", "Folder of headers; may be repeated", &includes_,
                            Completes::kFolders)),
        Value("option", "OPTION", "Any option of NVRTC; may be repeated", &options_),
        Value("block", "N", "Of info: threads of a block (default: 256)", &report_.block_threads),
        Value("shared-bytes", "N", "Of info: dynamic shared memory of a block",
              &report_.dynamic_shared_bytes),
        Flag("json", "Of info: print it as JSON", &json_),
    };
  }

  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    if (!architecture_.empty()) {
      report_.architecture = kernels::ParseArchitecture(architecture_);
      if (!report_.architecture.has_value()) return ArchitectureSyntaxError(architecture_);
    }
    WEFT_RETURN_IF_ERROR(action_ == "build" ? Build(environment) : Info(environment));
    return ExitCode::kOk;
  }

 private:
  bool IsSource() const { return absl::EndsWith(file_, ".cu"); }

  // What stands behind "sm_": "90a".
  std::string Target() const {
    absl::string_view text = kDefaultArchitecture;
    if (!architecture_.empty()) text = architecture_;
    if (!absl::ConsumePrefix(&text, "sm_")) absl::ConsumePrefix(&text, "compute_");
    return std::string(text);
  }

  absl::StatusOr<kernels::CompiledModule> Compile(kernels::OfflineTarget::Output output) const {
    kernels::CudaSource source;
    source.name = std::filesystem::path(file_).stem().string();
    WEFT_ASSIGN_OR_RETURN(source.code, ReadWholeFile(file_, kMaxCodeBytes));
    for (const std::string& define : defines_) source.options.push_back("-D" + define);
    for (const std::string& folder : includes_) source.options.push_back("-I" + folder);
    source.options.insert(source.options.end(), options_.begin(), options_.end());
    source.entries = entries_;
    return kernels::CompileOffline(source, {Target(), output});
  }

  absl::Status Build(Environment& environment) const {
    if (!IsSource()) return NoSourceError(file_);
    const std::string output =
        output_.empty() ? std::filesystem::path(file_).replace_extension(".cubin").string()
                        : output_;
    const bool ptx = absl::EndsWith(output, ".ptx");
    if (!ptx && !absl::EndsWith(output, ".cubin")) return CodeEndingError(output);
    WEFT_ASSIGN_OR_RETURN(const kernels::CompiledModule module,
                          Compile(ptx ? kernels::OfflineTarget::Output::kPtx
                                      : kernels::OfflineTarget::Output::kCubin));
    WEFT_RETURN_IF_ERROR(WriteWholeFile(output, {module.image}));
    environment.out << "wrote " << output << ": " << FormatBytes(module.image.size()) << " for "
                    << (ptx ? "compute_" : "sm_") << Target() << "\n";
    // A job that brings the file names its kernels so.
    for (size_t i = 0; i < entries_.size(); ++i) {
      environment.out << Printable(entries_[i]) << " is " << Printable(module.symbols[i]) << "\n";
    }
    return absl::OkStatus();
  }

  absl::Status Info(Environment& environment) const {
    std::string bytes;
    if (IsSource()) {
      WEFT_ASSIGN_OR_RETURN(kernels::CompiledModule module,
                            Compile(kernels::OfflineTarget::Output::kCubin));
      bytes = std::move(module.image);
    } else {
      WEFT_ASSIGN_OR_RETURN(bytes, ReadWholeFile(file_, kMaxCodeBytes));
    }
    WEFT_ASSIGN_OR_RETURN(const auto images, kernels::ReadImages(file_, bytes));
    std::vector<ReportedImage> read;
    for (const kernels::FatbinImage& image : images) {
      absl::StatusOr<kernels::CodeInfo> code = kernels::ReadImage(file_, image);
      if (code.ok()) {
        read.push_back({*std::move(code), ""});
      } else if (absl::IsUnimplemented(code.status())) {
        read.push_back({{image.Architecture(), {}, {}}, std::string(code.status().message())});
      } else {
        return code.status();
      }
    }
    if (json_) {
      environment.out << CodeToJson(read, report_);
    } else {
      PrintCode(environment.out, read, report_);
    }
    return absl::OkStatus();
  }

  std::string action_;
  std::string file_;
  std::string output_;
  std::string architecture_;
  std::vector<std::string> entries_;
  std::vector<std::string> defines_;
  std::vector<std::string> includes_;
  std::vector<std::string> options_;
  CodeReportOptions report_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeKernelCommand() { return std::make_unique<KernelCommand>(); }

}  // namespace weft::cli
