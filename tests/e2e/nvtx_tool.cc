// An NVTX tool for tests: appends a line "<domain> <range>" to the file that WEFT_TEST_NVTX_LOG
// names for every range that a thread of this process begins.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

// A domain's handle is the text of its name, which lives until the process ends.
nvtxDomainHandle_t NVTX_API CreateDomain(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new std::string(name));
}

int NVTX_API BeginRange(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const char* path = std::getenv("WEFT_TEST_NVTX_LOG");
  if (path == nullptr) return 0;
  const std::string line =
      *reinterpret_cast<const std::string*>(domain) + " " + attributes->message.ascii + "\n";
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return 0;
  // One write: lines of several threads stay whole.
  const ssize_t written = write(fd, line.data(), line.size());
  close(fd);
  return written < 0 ? -1 : 0;
}

}  // namespace

// NVTX looks for this name in the library that NVTX_INJECTION64_PATH names.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  if (size <= NVTX_CBID_CORE2_DomainRangePushEx) return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(&CreateDomain);
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(&BeginRange);
  return 1;
}
