#include "server/executor/errors.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error_context.h"

namespace weft::executor {

absl::Status NoSuchDeviceError(int device, int count) {
  return absl::NotFoundError(absl::StrCat("there is no device ", device, ": the driver has ", count,
                                          ", counted from 0; set weftd's --devices"));
}

absl::Status TagInUseError(uint64_t tag) {
  return absl::AlreadyExistsError(absl::StrCat("memory with tag ", tag, " is mapped already"));
}

absl::Status UnknownTagError(uint64_t tag) {
  return absl::NotFoundError(absl::StrCat("no memory with tag ", tag, " is mapped"));
}

absl::Status MissingFdError(uint64_t tag) {
  return absl::DeadlineExceededError(
      absl::StrCat("no file descriptor with tag ", tag, " came over the fd socket"));
}

absl::Status PeerAccessError(int device, int peer) {
  return absl::FailedPreconditionError(absl::StrCat(
      "device ", device, " cannot reach the memory of device ", peer,
      ": the machine joins them by neither NVLink nor peer access over PCIe; take the bytes "
      "through "
      "the host, with a download on one device and an upload on the other (weft get, weft put)"));
}

absl::Status UnknownGraphError(GraphId graph) {
  return absl::NotFoundError(absl::StrCat("no prepared graph has id ", graph.value()));
}

absl::Status GraphExistsError(GraphId graph) {
  return absl::AlreadyExistsError(absl::StrCat("graph ", graph.value(), " is prepared already"));
}

absl::Status GraphInFlightError(GraphId graph) {
  return absl::FailedPreconditionError(
      absl::StrCat("a launch of graph ", graph.value(), " has not ended"));
}

absl::Status GraphRetiredError(GraphId graph) {
  return absl::FailedPreconditionError(
      absl::StrCat("graph ", graph.value(), " was released, or a buffer that it uses was freed"));
}

absl::Status StoppedWaitError() {
  return absl::AbortedError(
      "the executor was stopped while the job waited for a semaphore that no running job signals");
}

absl::Status UnboundBufferError(absl::string_view buffer) {
  return absl::InvalidArgumentError(
      absl::StrCat("buffer \"", buffer, "\" of the job has no binding that is large enough"));
}

absl::Status BadTransferError(const ByteRange& device, uint64_t offset_bytes, uint64_t area_bytes) {
  return absl::InvalidArgumentError(absl::StrCat(
      "transfer of ", device.size, " bytes at device address ", device.offset, ", offset ",
      offset_bytes, " of the transfer area of ", area_bytes, " bytes: out of range"));
}

absl::Status NoRoomForManagedError(uint64_t needed_bytes, uint64_t free_bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the managed buffers of the job need ", needed_bytes, " bytes; the device has ",
                   free_bytes, " free. Use smaller buffers, or delete buffers of the server"));
}

absl::Status UnknownSymbolError(absl::string_view symbol) {
  return absl::NotFoundError(
      absl::StrCat("no loaded kernel image has the function \"", symbol,
                   "\"; the images and the programs are of different builds: install Weft again"));
}

absl::Status ModuleRefusedError(absl::string_view module, const absl::Status& cause) {
  return absl::Status(
      cause.code(),
      absl::StrCat(
          "module \"", module, "\": ", cause.message(),
          "; build it for the device's architecture (weft devices shows it) with a toolkit "
          "that the driver knows, or bring the source"));
}

absl::Status LibraryMissingError(const LibraryToInstall& library, const absl::Status& cause) {
  return absl::FailedPreconditionError(
      absl::StrCat("the call needs ", library.library, ", which cannot be used: ", cause.message(),
                   "; install the package ", library.package,
                   " of the CUDA Toolkit on the server's machine, or set ", library.variable,
                   " to the library's file in weftd's environment"));
}

absl::Status PrimMissingError(const absl::Status& cause) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the call needs prim.gpu.so, which cannot be used: ", cause.message(),
      "; install Weft anew, from a build with WEFT_CUDA_ARCHITECTURES set, or set WEFT_PRIM to the "
      "file in weftd's environment"));
}

absl::Status LibraryRefusesError(absl::string_view call, absl::string_view library,
                                 const absl::Status& cause) {
  return absl::Status(cause.code(), absl::StrCat(library, " cannot carry out ", call,
                                                 " with these arguments: ", cause.message(),
                                                 "; choose other types, extents or strides"));
}

absl::Status VariableWithoutKernelError(absl::string_view module, absl::string_view variable) {
  return absl::InvalidArgumentError(
      absl::StrCat("the job sets variable \"", variable, "\" of module \"", module,
                   "\" and launches no kernel of it, which alone could see it; launch one, or take "
                   "the node out"));
}

absl::Status NoImageForDeviceError(absl::string_view module, absl::string_view held,
                                   absl::string_view device) {
  return absl::FailedPreconditionError(
      absl::StrCat("module \"", module, "\" has code for ", held, ", and the device is ", device,
                   ": build it for that architecture too, or as PTX for it or an older one, or "
                   "bring the source"));
}

absl::Status PtxTooNewError(absl::string_view module, absl::string_view held, int driver_version) {
  return absl::FailedPreconditionError(absl::StrCat(
      "module \"", module, "\" has code for ", held, ", and the device's driver, of CUDA ",
      driver_version / 1000, ".", driver_version % 1000 / 10,
      ", knows no PTX so new: build it with a toolkit no newer than the driver, or for "
      "the device's architecture, or bring the source"));
}

absl::Status KernelFaultError(const absl::Status& cause, const FaultSuspects& suspects) {
  // Reads: job "‹job›" node "‹node›": ‹cause› (or: ‹cause›: in one of the ‹count› kernel nodes
  // (‹names›); or: ‹cause›: the fault of one of ‹count› jobs in flight; the device does not tell which)
  if (suspects.launches_in_flight > 1 && suspects.job.empty() && suspects.kernel_nodes.empty()) {
    return absl::Status(
        cause.code(),
        absl::StrCat(cause.message(), ": the fault of one of ", suspects.launches_in_flight,
                     " jobs in flight; the device does not tell which"));
  }
  if (suspects.kernel_node_count == 1) {
    return WithContext(cause, {.job = suspects.job, .node = suspects.kernel_nodes.front()});
  }
  std::string text(cause.message());
  if (!suspects.kernel_nodes.empty()) {
    absl::StrAppend(&text, ": in one of the ", suspects.kernel_node_count, " kernel nodes (",
                    absl::StrJoin(suspects.kernel_nodes, ", "),
                    suspects.kernel_nodes.size() < suspects.kernel_node_count ? ", …" : "",
                    "); the device does not tell which");
  }
  return WithContext(absl::Status(cause.code(), text), {.job = suspects.job});
}

absl::Status ContextLostError(const absl::Status& cause) {
  return absl::AbortedError(
      absl::StrCat("the device's context was lost while the job ran: ", cause.message()));
}

}  // namespace weft::executor
