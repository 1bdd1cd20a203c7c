#include "cuda/nvrtc.h"

#include <dlfcn.h>
#include <link.h>
#include <nvrtc.h>

#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file_identity.h"
#include "base/status_macros.h"

namespace weft::cuda {
namespace {

constexpr const char* kFileNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::vector<std::string> Candidates() {
  if (std::string file = Variable("WEFT_NVRTC"); !file.empty()) return {std::move(file)};
  std::vector<std::string> folders =
      absl::StrSplit(Variable("LD_LIBRARY_PATH"), ':', absl::SkipEmpty());
  if (const std::string home = Variable("CUDA_HOME"); !home.empty()) {
    folders.push_back(absl::StrCat(home, "/lib64"));
  }
  folders.emplace_back("/usr/local/cuda/lib64");
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    for (const char* name : kFileNames) paths.push_back(absl::StrCat(folder, "/", name));
  }
  return paths;
}

// nullopt when there is no such file.
std::optional<NvrtcFile> FileAt(const std::string& path) {
  std::optional<std::string> identity = FileIdentity(path);
  if (!identity.has_value()) return std::nullopt;
  return NvrtcFile{path, *std::move(identity)};
}

// The file behind a library that the loader finds by its name alone.
std::optional<NvrtcFile> FileOfLoader(const char* name) {
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return std::nullopt;
  const struct link_map* map = nullptr;
  std::optional<NvrtcFile> file;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) file = FileAt(map->l_name);
  ::dlclose(handle);
  return file;
}

}  // namespace

// The functions of NVRTC that are used.
struct Nvrtc::Library {
  struct Closer {
    void operator()(void* opened) const { ::dlclose(opened); }
  };
  std::unique_ptr<void, Closer> handle;
#define WEFT_NVRTC_FUNCTIONS(X) \
  X(nvrtcGetErrorString)        \
  X(nvrtcCreateProgram)         \
  X(nvrtcDestroyProgram)        \
  X(nvrtcAddNameExpression)     \
  X(nvrtcCompileProgram)        \
  X(nvrtcGetProgramLogSize)     \
  X(nvrtcGetProgramLog)         \
  X(nvrtcGetLoweredName)        \
  X(nvrtcGetCUBINSize)          \
  X(nvrtcGetCUBIN)              \
  X(nvrtcGetPTXSize)            \
  X(nvrtcGetPTX)
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define WEFT_NVRTC_MEMBER(name) decltype(&::name) name = nullptr;
  WEFT_NVRTC_FUNCTIONS(WEFT_NVRTC_MEMBER)
#undef WEFT_NVRTC_MEMBER

  // False when a function is missing.
  bool Resolve() {
    bool complete = true;
#define WEFT_NVRTC_RESOLVE(name)                                              \
  (name) = reinterpret_cast<decltype(&::name)>(::dlsym(handle.get(), #name)); \
  complete = complete && (name) != nullptr;
    WEFT_NVRTC_FUNCTIONS(WEFT_NVRTC_RESOLVE)
#undef WEFT_NVRTC_RESOLVE
#undef WEFT_NVRTC_FUNCTIONS
    return complete;
  }
};

namespace {

// One compilation.
template <typename Library>
class Program {
 public:
  explicit Program(const Library& library) : lib_(library) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (program_ != nullptr) lib_.nvrtcDestroyProgram(&program_);
  }

  absl::Status Create(const NvrtcSource& source) {
    std::vector<const char*> texts;
    std::vector<const char*> names;
    for (const NvrtcSource::Header& header : source.headers) {
      texts.push_back(header.code.c_str());
      names.push_back(header.name.c_str());
    }
    return Check(
        lib_.nvrtcCreateProgram(&program_, source.code.c_str(), source.file_name.c_str(),
                                static_cast<int>(texts.size()), texts.data(), names.data()),
        "nvrtcCreateProgram");
  }

  absl::Status Compile(const NvrtcSource& source) {
    for (const std::string& name : source.name_expressions) {
      WEFT_RETURN_IF_ERROR(
          Check(lib_.nvrtcAddNameExpression(program_, name.c_str()), "nvrtcAddNameExpression"));
    }
    std::vector<const char*> options;
    for (const std::string& option : source.options) options.push_back(option.c_str());
    const nvrtcResult result =
        lib_.nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
    if (result == NVRTC_ERROR_COMPILATION || result == NVRTC_ERROR_INVALID_OPTION ||
        result == NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID) {
      return absl::InvalidArgumentError(Log());
    }
    return Check(result, "nvrtcCompileProgram");
  }

  absl::StatusOr<std::string> LoweredName(const std::string& expression) {
    const char* name = nullptr;
    WEFT_RETURN_IF_ERROR(Check(lib_.nvrtcGetLoweredName(program_, expression.c_str(), &name),
                               "nvrtcGetLoweredName"));
    return std::string(name);
  }

  absl::StatusOr<std::string> Ptx() {
    size_t size = 0;
    WEFT_RETURN_IF_ERROR(Check(lib_.nvrtcGetPTXSize(program_, &size), "nvrtcGetPTXSize"));
    std::string text(size, '\0');
    WEFT_RETURN_IF_ERROR(Check(lib_.nvrtcGetPTX(program_, text.data()), "nvrtcGetPTX"));
    if (!text.empty() && text.back() == '\0') text.pop_back();  // the size counts it
    return text;
  }

  absl::StatusOr<std::string> Cubin() {
    size_t size = 0;
    WEFT_RETURN_IF_ERROR(Check(lib_.nvrtcGetCUBINSize(program_, &size), "nvrtcGetCUBINSize"));
    std::string image(size, '\0');
    WEFT_RETURN_IF_ERROR(Check(lib_.nvrtcGetCUBIN(program_, image.data()), "nvrtcGetCUBIN"));
    return image;
  }

 private:
  absl::Status Check(nvrtcResult result, absl::string_view call) const {
    if (result == NVRTC_SUCCESS) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(call, ": ", lib_.nvrtcGetErrorString(result)));
  }

  std::string Log() const {
    size_t size = 0;
    if (lib_.nvrtcGetProgramLogSize(program_, &size) != NVRTC_SUCCESS || size == 0) return "";
    std::string log(size, '\0');
    if (lib_.nvrtcGetProgramLog(program_, log.data()) != NVRTC_SUCCESS) return "";
    log.resize(size - 1);  // the size counts the NUL at the end
    return log;
  }

  const Library& lib_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace

Nvrtc::Nvrtc(std::unique_ptr<const Library> library) : library_(std::move(library)) {}

Nvrtc::~Nvrtc() = default;

absl::StatusOr<NvrtcFile> Nvrtc::Find() {
  for (const std::string& path : Candidates()) {
    if (std::optional<NvrtcFile> file = FileAt(path)) return *std::move(file);
  }
  for (const char* name : kFileNames) {
    if (std::optional<NvrtcFile> file = FileOfLoader(name)) return *std::move(file);
  }
  return absl::NotFoundError("there is no libnvrtc.so.13 or .12");
}

absl::StatusOr<std::unique_ptr<const Nvrtc>> Nvrtc::Load(const NvrtcFile& file) {
  auto library = std::make_unique<Library>();
  // It stays when its handle is closed: what it allocated as it was loaded is not freed by that.
  library->handle.reset(::dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
  if (library->handle == nullptr) {
    const char* why = ::dlerror();
    return absl::NotFoundError(why == nullptr ? file.path : std::string(why));
  }
  if (!library->Resolve()) return absl::NotFoundError(absl::StrCat(file.path, " is no NVRTC"));
  return std::unique_ptr<const Nvrtc>(new Nvrtc(std::move(library)));
}

absl::StatusOr<NvrtcResult> Nvrtc::Compile(const NvrtcSource& source) const {
  Program<Library> program(*library_);
  WEFT_RETURN_IF_ERROR(program.Create(source));
  WEFT_RETURN_IF_ERROR(program.Compile(source));
  NvrtcResult result;
  for (const std::string& expression : source.name_expressions) {
    WEFT_ASSIGN_OR_RETURN(result.lowered_names.emplace_back(), program.LoweredName(expression));
  }
  const bool ptx = source.output == NvrtcSource::Output::kPtx;
  WEFT_ASSIGN_OR_RETURN(result.image, ptx ? program.Ptx() : program.Cubin());
  return result;
}

}  // namespace weft::cuda
