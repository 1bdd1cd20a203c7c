// The errors of this folder. Most are seen by weftd alone and mean a bug of one of the two programs;
// those of launches reach the user as the error of a job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/byte_range.h"
#include "base/ids.h"

namespace weft::executor {

// `count` devices are there.
absl::Status NoSuchDeviceError(int device, int count);

absl::Status TagInUseError(uint64_t tag);
absl::Status UnknownTagError(uint64_t tag);
absl::Status MissingFdError(uint64_t tag);

// The devices of the machine are not joined in a way that lets one reach the memory of the other.
absl::Status PeerAccessError(int device, int peer);

absl::Status UnknownGraphError(GraphId graph);
absl::Status GraphExistsError(GraphId graph);
absl::Status GraphInFlightError(GraphId graph);
// A launch of a graph whose buffers were freed, or that was released.
absl::Status GraphRetiredError(GraphId graph);
// A launch that waits for a semaphore when the executor ends.
absl::Status StoppedWaitError();

absl::Status UnboundBufferError(absl::string_view buffer);
absl::Status BadTransferError(const ByteRange& device, uint64_t offset_bytes, uint64_t area_bytes);

// The managed buffers of a job are more than the device has free.
absl::Status NoRoomForManagedError(uint64_t needed_bytes, uint64_t free_bytes);

// A kernel that none of the loaded images has.
absl::Status UnknownSymbolError(absl::string_view symbol);

// The driver does not load a module of a job: code for another architecture or of a newer toolkit,
// or damaged.
absl::Status ModuleRefusedError(absl::string_view module, const absl::Status& cause);
// A job sets a variable of a module and launches none of its kernels, who alone could see it.
absl::Status VariableWithoutKernelError(absl::string_view module, absl::string_view variable);
// None of the images of a module runs on the device. `held`: for which architectures there are some;
// `device`: its name and its own.
absl::Status NoImageForDeviceError(absl::string_view module, absl::string_view held,
                                   absl::string_view device);
// PTX of a version that the device's driver does not know. `driver_version`: as the driver numbers it.
absl::Status PtxTooNewError(absl::string_view module, absl::string_view held, int driver_version);

// A library of the CUDA Toolkit.
struct LibraryToInstall {
  absl::string_view library;
  absl::string_view package;   // without its version
  absl::string_view variable;  // that names its file
};
// A library that a call needs cannot be loaded, or is of another version.
absl::Status LibraryMissingError(const LibraryToInstall& library, const absl::Status& cause);
// prim.gpu.so, which Weft's own build makes, cannot be loaded or is of another build.
absl::Status PrimMissingError(const absl::Status& cause);
// A library that is there does not make the call ready: it has no code for such arguments, or needs
// more workspace than the plan has.
absl::Status LibraryRefusesError(absl::string_view call, absl::string_view library,
                                 const absl::Status& cause);

// What is known about who brought the context down.
struct FaultSuspects {
  std::string job;                        // its name, when one launch alone can have done it
  std::vector<std::string> kernel_nodes;  // of that job, the first few
  uint64_t kernel_node_count = 0;
  uint64_t launches_in_flight = 0;
};
// The fault of a kernel, named as exactly as it can be: the node when it can only have been that
// one, else the nodes among which it is.
absl::Status KernelFaultError(const absl::Status& cause, const FaultSuspects& suspects);
// For the other launches that were in flight: not their fault.
absl::Status ContextLostError(const absl::Status& cause);

}  // namespace weft::executor
