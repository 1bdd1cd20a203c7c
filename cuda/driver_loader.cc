#include "cuda/driver_loader.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "cuda/status.h"

namespace weft::cuda {
namespace {

using GetProcAddress = decltype(&::cuGetProcAddress);

constexpr char kCudaLibrary[] = "libcuda.so.1";
constexpr char kHostLibrary[] = "libweft_hostcuda.so";

absl::string_view Remedy(DriverKind kind) {
  return kind == DriverKind::kCuda
             ? "install the NVIDIA driver (525 or newer), name its library explicitly, or choose "
               "the CPU driver (\"host\")"
             : "install Weft whole (lib/libweft_hostcuda.so beside bin/), or name the library "
               "explicitly";
}

// Folder of the running program; empty when /proc is not there.
std::string ProgramFolder() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0 || static_cast<size_t>(size) >= sizeof path) return "";
  const std::string program(path, static_cast<size_t>(size));
  return program.substr(0, program.rfind('/'));
}

// Where the library may lie, in order. A name without '/' is left to the dynamic loader's search.
std::vector<std::string> Candidates(const DriverOptions& options) {
  if (!options.library_path.empty()) return {options.library_path};
  if (options.kind == DriverKind::kCuda) return {kCudaLibrary};
  const std::string folder = ProgramFolder();
  return {absl::StrCat(folder, "/../lib/", kHostLibrary),
          absl::StrCat(folder, "/../../lib/", kHostLibrary), kHostLibrary};
}

bool IsPath(const std::string& candidate) { return absl::StrContains(candidate, '/'); }

// The library, loaded until the process ends.
absl::StatusOr<void*> OpenLibrary(const DriverOptions& options) {
  const std::vector<std::string> candidates = Candidates(options);
  for (const std::string& candidate : candidates) {
    if (IsPath(candidate) && access(candidate.c_str(), F_OK) != 0) continue;
    if (void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    const char* const error = dlerror();
    const std::string reason = error == nullptr ? "unknown error" : error;
    // The loader reports a library that is not on its path as a missing file of that name.
    if (!IsPath(candidate) && absl::StartsWith(reason, candidate) &&
        absl::StrContains(reason, "No such file")) {
      continue;
    }
    return absl::FailedPreconditionError(absl::StrCat("the ", DriverKindName(options.kind),
                                                      " driver cannot be opened: ", reason, "; ",
                                                      Remedy(options.kind)));
  }
  return absl::NotFoundError(
      absl::StrCat("the ", DriverKindName(options.kind), " driver was not found; looked for ",
                   absl::StrJoin(candidates, ", "), "; ", Remedy(options.kind)));
}

std::string LibraryPath(void* library, const std::string& fallback) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return fallback;
  return map->l_name;
}

// Looks functions up one by one and remembers the names of those that are not there.
class Resolver {
 public:
  explicit Resolver(GetProcAddress get_proc_address) : get_proc_address_(get_proc_address) {}

  template <typename FunctionPointer>
  void Required(const char* name, int version, FunctionPointer& function) {
    function = Find<FunctionPointer>(name, version);
    if (function == nullptr)
      missing_.push_back(
          absl::StrCat(name, " (CUDA ", version / 1000, ".", version % 1000 / 10, ")"));
  }
  template <typename FunctionPointer>
  void Optional(const char* name, int version, FunctionPointer& function) {
    function = Find<FunctionPointer>(name, version);
  }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  template <typename FunctionPointer>
  FunctionPointer Find(const char* name, int version) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult result =
        get_proc_address_(name, &address, version, CU_GET_PROC_ADDRESS_DEFAULT, &found);
    if (result != CUDA_SUCCESS || found != CU_GET_PROC_ADDRESS_SUCCESS) return nullptr;
    return reinterpret_cast<FunctionPointer>(address);
  }

  GetProcAddress get_proc_address_;
  std::vector<std::string> missing_;
};

absl::StatusOr<GetProcAddress> FindGetProcAddress(void* library, const Driver& driver) {
  if (void* const address = dlsym(library, "cuGetProcAddress_v2")) {
    return reinterpret_cast<GetProcAddress>(address);
  }
  if (dlsym(library, "cuInit") == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(driver.path, " is no CUDA driver (it has no cuInit); ", Remedy(driver.kind)));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the driver ", driver.path, " is older than CUDA 12.0; ", Remedy(driver.kind)));
}

void ResolveAll(Resolver& resolver, Driver& driver) {
  // First, so that whatever goes wrong from here on has a name.
  resolver.Required("cuGetErrorName", 6000, driver.cuGetErrorName);
  resolver.Required("cuGetErrorString", 6000, driver.cuGetErrorString);
#define WEFT_DRIVER_FUNCTION(name, version) resolver.Required(#name, version, driver.name);
#define WEFT_DRIVER_OPTIONAL(name, version) resolver.Optional(#name, version, driver.name);
#include "cuda/driver_functions.inc"
#undef WEFT_DRIVER_FUNCTION
#undef WEFT_DRIVER_OPTIONAL
}

}  // namespace

absl::string_view DriverKindName(DriverKind kind) {
  return kind == DriverKind::kCuda ? "cuda" : "host";
}

absl::StatusOr<DriverKind> ParseDriverKind(absl::string_view text) {
  for (const DriverKind kind : {DriverKind::kCuda, DriverKind::kHost}) {
    if (text == DriverKindName(kind)) return kind;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no driver; use \"cuda\" (a GPU) or \"host\" (the CPU)"));
}

absl::StatusOr<std::unique_ptr<const Driver>> LoadDriver(const DriverOptions& options) {
  WEFT_ASSIGN_OR_RETURN(void* const library, OpenLibrary(options));
  auto driver = std::make_unique<Driver>();
  driver->kind = options.kind;
  driver->path = LibraryPath(library, options.library_path);
  WEFT_ASSIGN_OR_RETURN(const GetProcAddress get_proc_address,
                        FindGetProcAddress(library, *driver));
  Resolver resolver(get_proc_address);
  ResolveAll(resolver, *driver);
  if (!resolver.missing().empty()) {
    return absl::FailedPreconditionError(absl::StrCat("the driver ", driver->path, " lacks ",
                                                      absl::StrJoin(resolver.missing(), ", "), "; ",
                                                      Remedy(options.kind)));
  }
  return driver;
}

absl::Status InitializeDriver(const Driver& driver) {
  const CUresult result = driver.cuInit(0);
  if (result == CUDA_ERROR_NO_DEVICE) {
    return absl::NotFoundError(absl::StrCat("the driver ", driver.path, " found no device; ",
                                            driver.kind == DriverKind::kCuda
                                                ? "check nvidia-smi and CUDA_VISIBLE_DEVICES, or "
                                                  "choose the CPU driver (\"host\")"
                                                : "set devices= in WEFT_HOSTCUDA to 1 or more"));
  }
  WEFT_RETURN_IF_ERROR(ResultToStatus(driver, result, "cuInit"));
  int version = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuDriverGetVersion, &version));
  if (version < kMinDriverVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the driver ", driver.path, " is for CUDA ", version / 1000, ".",
                     version % 1000 / 10, "; Weft needs 12.0 or newer; ", Remedy(driver.kind)));
  }
  return absl::OkStatus();
}

absl::Status ConfigureHostDriver(const Driver& driver, const std::string& settings) {
  void* const library = dlopen(driver.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  using Configure = int (*)(const char*);
  const auto configure =
      library == nullptr ? nullptr
                         : reinterpret_cast<Configure>(dlsym(library, "weft_hostcuda_configure"));
  if (configure == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(driver.path, " is not the CPU driver and takes no settings"));
  }
  return ResultToStatus(driver, static_cast<CUresult>(configure(settings.c_str())),
                        absl::StrCat("weft_hostcuda_configure(\"", settings, "\")"));
}

}  // namespace weft::cuda
