#include "kernels/compile/host_compiler.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file_identity.h"
#include "base/status_macros.h"
#include "kernels/compile/child_program.h"
#include "kernels/compile/host_source.h"
#include "kernels/compile/host_unit.h"
#include "kernels/compile/options.h"
#include "kernels/compile/temporary_folder.h"
#include "kernels/compile/thread_local_size.h"
#include "kernels/image_store.h"

namespace weft::kernels {
namespace {

constexpr char kMainHeader[] = "kernels/compile/host/cuda_on_host.h";
constexpr char kUnitFile[] = "weft_unit.cc";
constexpr char kImageFile[] = "weft_image.so";

// Exceptions: a kernel has none, and a launch that fails unwinds its threads, which must not run handlers on the way.
// Aliasing: CUDA code reads memory as what it likes. -z defs: a function that is nowhere is an error here, not when the
// image is loaded.
constexpr std::array kFlags = {"-O2",
                               "-fPIC",
                               "-shared",
                               "-fvisibility=hidden",
                               "-fno-exceptions",
                               "-fasynchronous-unwind-tables",
                               "-fno-strict-aliasing",
                               "-fno-math-errno",
                               "-fno-trapping-math",
                               "-fdiagnostics-color=never",
                               "-w",
                               "-Wl,-z,defs"};

std::string VariableOr(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

bool IsProgram(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// The program's path; empty when there is none of the name.
std::string FindProgram(const std::string& name) {
  if (absl::StrContains(name, '/')) return IsProgram(name) ? name : "";
  for (const absl::string_view folder : absl::StrSplit(VariableOr("PATH", "/usr/bin:/bin"), ':')) {
    std::string path = absl::StrCat(folder, "/", name);
    if (absl::StartsWith(folder, "/") && IsProgram(path)) return path;
  }
  return "";
}

// Nothing that changes what a compiler does (CPATH, GCC_EXEC_PREFIX, …).
std::vector<std::string> CompilerEnvironment(const std::string& folder) {
  return {absl::StrCat("PATH=", VariableOr("PATH", "/usr/bin:/bin")),
          absl::StrCat("HOME=", VariableOr("HOME", "/")), absl::StrCat("TMPDIR=", folder),
          "LC_ALL=C"};
}

// FNV-1a over the headers' names and bytes, in the order of their names.
absl::StatusOr<uint64_t> HashOfHeaders(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_regular_file()) paths.push_back(at->path().string());
  }
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  std::sort(paths.begin(), paths.end());
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](absl::string_view bytes) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  for (const std::string& path : paths) {
    add(absl::string_view(path).substr(folder.size()));
    std::ifstream file(path, std::ios::binary);
    add(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  for (const char* flag : kFlags) add(flag);
  return hash;
}

// The compiler's arguments for what CheckOptions allows; what only a GPU's compiler knows is left out.
std::vector<std::string> HostOptions(const std::vector<std::string>& options) {
  std::string standard = "-std=c++20", contract = "-ffp-contract=fast";
  std::vector<std::string> definitions;
  for (const std::string& option : options) {
    absl::string_view rest = option;
    if (absl::StartsWith(rest, "-D") || absl::StartsWith(rest, "-U")) {
      definitions.push_back(option);
      continue;
    }
    absl::ConsumePrefix(&rest, "-");
    absl::ConsumePrefix(&rest, "-");
    // The headers need C++17.
    if (rest == "std=c++14" || rest == "std=c++17") standard = "-std=c++17";
    if (rest == "std=c++20") standard = "-std=c++20";
    if (rest == "fmad=true") contract = "-ffp-contract=fast";
    if (rest == "fmad=false") contract = "-ffp-contract=off";
  }
  definitions.insert(definitions.begin(), {standard, contract});
  return definitions;
}

// Lays the unit and the headers into the folder.
absl::Status WriteFiles(const CudaSource& source, const TemporaryFolder& folder) {
  HostRewriter rewriter;
  const std::string code = rewriter.Rewrite(source.code);
  for (const CudaSource::Header& header : source.headers) {
    WEFT_RETURN_IF_ERROR(
        folder.Write(absl::StrCat("include/", header.name), rewriter.Rewrite(header.code)));
  }
  return folder.Write(kUnitFile, HostUnit(source, code, rewriter.globals()));
}

absl::Status CompilerError(const CudaSource& source, const ProgramResult& result,
                           const std::string& folder, const std::string& header_folder) {
  const std::string name = SourceFileName(source);
  std::string log = absl::StrReplaceAll(result.output, {{absl::StrCat(folder, "/"), ""},
                                                        {absl::StrCat(header_folder, "/"), ""},
                                                        {"include/", ""},
                                                        {kUnitFile, name}});
  if (log.size() > kMaxLogBytes) log.resize(kMaxLogBytes);
  const std::string how = result.exit_status < 0
                              ? absl::StrCat("ended by signal ", -result.exit_status)
                              : absl::StrCat("exit status ", result.exit_status);
  return absl::InvalidArgumentError(
      absl::StrCat(name, " does not compile (", how, "):\n", absl::StripAsciiWhitespace(log)));
}

}  // namespace

HostCompiler::Settings HostCompiler::DefaultSettings() {
  Settings settings;
  const std::string chosen = VariableOr("WEFT_CXX", "");
  settings.compilers = chosen.empty() ? std::vector<std::string>{"c++", "g++", "clang++"}
                                      : std::vector<std::string>{chosen};
  for (const std::string& folder : ImageFolders())
    settings.header_folders.push_back(absl::StrCat(folder, "/host"));
  return settings;
}

absl::StatusOr<std::unique_ptr<HostCompiler>> HostCompiler::Create(const Settings& settings) {
  std::unique_ptr<HostCompiler> compiler(new HostCompiler());
  compiler->time_limit_ = settings.time_limit;
  for (const std::string& name : settings.compilers) {
    if (compiler->compiler_.empty()) compiler->compiler_ = FindProgram(name);
  }
  if (compiler->compiler_.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("there is no C++ compiler for kernels of the CPU driver (looked for ",
                     absl::StrJoin(settings.compilers, ", "),
                     "): install one (Debian: apt-get install g++), or set WEFT_CXX to one"));
  }
  for (const std::string& folder : settings.header_folders) {
    std::error_code error;
    const bool here = std::filesystem::exists(absl::StrCat(folder, "/", kMainHeader), error);
    if (here && compiler->header_folder_.empty()) compiler->header_folder_ = folder;
  }
  if (compiler->header_folder_.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "the headers for kernels on the CPU driver (", kMainHeader, ") are in none of ",
        absl::StrJoin(settings.header_folders, ", "),
        ". Reinstall Weft, or set WEFT_KERNEL_DIR to the folder whose host/ has them."));
  }
  WEFT_ASSIGN_OR_RETURN(const uint64_t hash, HashOfHeaders(compiler->header_folder_));
  // Not its version, which it takes a process to ask: that costs more than all else of a launch of
  // code that is in the cache.
  compiler->identity_ =
      absl::StrCat("host ", FileIdentity(compiler->compiler_).value_or(compiler->compiler_),
                   ", headers ", absl::Hex(hash, absl::kZeroPad16));
  return compiler;
}

absl::StatusOr<CompiledModule> HostCompiler::Compile(const CudaSource& source) const {
  WEFT_RETURN_IF_ERROR(CheckSource(source));
  WEFT_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create());
  WEFT_RETURN_IF_ERROR(WriteFiles(source, folder));
  ProgramCommand command;
  command.arguments = {compiler_};
  command.arguments.insert(command.arguments.end(), kFlags.begin(), kFlags.end());
  for (std::string& option : HostOptions(source.options))
    command.arguments.push_back(std::move(option));
  // Relative, so that messages do not name the folder.
  for (const char* part : {"-Iinclude", "-I"}) command.arguments.emplace_back(part);
  command.arguments.back() += header_folder_;
  for (const char* part : {"-o", kImageFile, kUnitFile}) command.arguments.emplace_back(part);
  command.environment = CompilerEnvironment(folder.path());
  command.folder = folder.path();
  command.time_limit = time_limit_;
  WEFT_ASSIGN_OR_RETURN(const ProgramResult result, RunProgram(command));
  if (result.exit_status != 0) return CompilerError(source, result, folder.path(), header_folder_);
  CompiledModule module;
  WEFT_ASSIGN_OR_RETURN(module.image, folder.Read(kImageFile));
  if (const uint64_t bytes = ThreadLocalBytes(module.image); bytes > kMaxSharedBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the __shared__ variables of ", SourceFileName(source), " take ", bytes,
                     " bytes together; at most ", kMaxSharedBytes, " are allowed"));
  }
  module.symbols = source.entries;
  module.symbols.insert(module.symbols.end(), source.variables.begin(), source.variables.end());
  return module;
}

}  // namespace weft::kernels
