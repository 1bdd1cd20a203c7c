#include "cuda/nvtx.h"

#include <nvtx3/nvToolsExt.h>

namespace weft::cuda {
namespace {

// Of the process, as NVTX's own state is; made at the first range and never given back, since
// threads may still be within one at exit.
nvtxDomainHandle_t WeftDomain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("weft");
  return domain;
}

}  // namespace

NvtxRange::NvtxRange(const char* name) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxDomainRangePushEx(WeftDomain(), &attributes);
}

NvtxRange::~NvtxRange() { nvtxDomainRangePop(WeftDomain()); }

}  // namespace weft::cuda
