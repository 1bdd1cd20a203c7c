#include "tests/conformance/ipc_child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "cuda/memory.h"
#include "cuda/status.h"
#include "tests/conformance/device_under_test.h"

namespace weft::conformance {
namespace {

using transport::FdMessage;
using transport::FdSocket;

constexpr int kChildSocket = 3;  // the first number after the standard ones

// Carries out one task in the child.
class Child {
 public:
  Child(const DeviceUnderTest& device, const FdSocket& socket)
      : device_(device), context_(device.context), socket_(socket) {}

  absl::Status Do(ChildTask task, const FdMessage& message) {
    switch (task) {
      case ChildTask::kReadAndWrite:
        return ReadAndWrite(message, std::nullopt);
      case ChildTask::kReadAndWriteAt:
        return ReadAndWrite(message, message.tag);
      case ChildTask::kExport:
        return Export();
      case ChildTask::kLegacyExport:
        return LegacyExport();
      case ChildTask::kLegacyOpen:
        return LegacyOpen(message);
      case ChildTask::kCopyFromUnmapped:
        return CopyFromUnmapped();
      default:
        return absl::InvalidArgumentError("unknown task");
    }
  }

 private:
  absl::Status Done(const FdMessage& message = {}, absl::Span<const int> fds = {}) {
    FdMessage done;
    done.kind = static_cast<uint32_t>(ChildTask::kDone);
    done.tag = message.tag;
    done.body = message.body;
    return socket_.Send(done, fds);
  }

  absl::Status ExpectParentsBytes(CUdeviceptr address, size_t size) {
    std::vector<uint8_t> bytes(size);
    WEFT_RETURN_IF_ERROR(cuda::CopyToHost(context_, bytes.data(), address, size));
    const auto wrong =
        std::find_if(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte != kParentByte; });
    if (wrong == bytes.end()) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat("byte ", wrong - bytes.begin(), " reads ", static_cast<int>(*wrong)));
  }

  absl::Status WriteOwnBytes(CUdeviceptr address, size_t size) {
    const std::vector<uint8_t> bytes(size, kChildByte);
    return cuda::CopyToDevice(context_, address, bytes.data(), size);
  }

  absl::Status ReadAndWrite(const FdMessage& message, std::optional<CUdeviceptr> address) {
    WEFT_ASSIGN_OR_RETURN(const size_t size, cuda::AllocationGranularity(context_));
    WEFT_ASSIGN_OR_RETURN(const cuda::Allocation memory,
                          cuda::Allocation::ImportFd(context_, message.fds.at(0).get(), size));
    WEFT_ASSIGN_OR_RETURN(const cuda::AddressRange range,
                          address.has_value()
                              ? cuda::AddressRange::ReserveAt(context_, *address, size)
                              : cuda::AddressRange::Reserve(context_, size));
    WEFT_ASSIGN_OR_RETURN(const cuda::Mapping mapping,
                          cuda::Mapping::Create(context_, range.address(), memory));
    WEFT_RETURN_IF_ERROR(ExpectParentsBytes(mapping.address(), size));
    WEFT_RETURN_IF_ERROR(WriteOwnBytes(mapping.address(), size));
    return Done();
  }

  absl::Status Export() {
    WEFT_ASSIGN_OR_RETURN(const size_t size, cuda::AllocationGranularity(context_));
    WEFT_ASSIGN_OR_RETURN(const cuda::Allocation memory, cuda::Allocation::Create(context_, size));
    WEFT_ASSIGN_OR_RETURN(const cuda::AddressRange range,
                          cuda::AddressRange::Reserve(context_, size));
    WEFT_ASSIGN_OR_RETURN(const cuda::Mapping mapping,
                          cuda::Mapping::Create(context_, range.address(), memory));
    WEFT_RETURN_IF_ERROR(WriteOwnBytes(mapping.address(), size));
    WEFT_ASSIGN_OR_RETURN(const UniqueFd fd, memory.ExportFd());
    WEFT_RETURN_IF_ERROR(Done({}, {fd.get()}));
    return WaitForTheEnd();
  }

  absl::Status LegacyExport() {
    const cuda::ScopedContext current(context_);
    const cuda::Driver& driver = *device_.driver;
    CUdeviceptr memory = 0;
    WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuMemAlloc, &memory, kLegacySize));
    WEFT_RETURN_IF_ERROR(WriteOwnBytes(memory, kLegacySize));
    CUipcMemHandle handle = {};
    WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuIpcGetMemHandle, &handle, memory));
    FdMessage message;
    message.body.assign(handle.reserved, sizeof handle.reserved);
    WEFT_RETURN_IF_ERROR(Done(message));
    return WaitForTheEnd();
  }

  absl::Status LegacyOpen(const FdMessage& message) {
    const cuda::ScopedContext current(context_);
    const cuda::Driver& driver = *device_.driver;
    CUipcMemHandle handle = {};
    if (message.body.size() != sizeof handle.reserved) {
      return absl::InvalidArgumentError("the body is no handle");
    }
    std::memcpy(handle.reserved, message.body.data(), sizeof handle.reserved);
    CUdeviceptr memory = 0;
    WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuIpcOpenMemHandle, &memory, handle,
                                          CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    WEFT_RETURN_IF_ERROR(ExpectParentsBytes(memory, kLegacySize));
    WEFT_RETURN_IF_ERROR(WriteOwnBytes(memory, kLegacySize));
    WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuIpcCloseMemHandle, memory));
    return Done();
  }

  absl::Status CopyFromUnmapped() {
    WEFT_ASSIGN_OR_RETURN(const size_t size, cuda::AllocationGranularity(context_));
    WEFT_ASSIGN_OR_RETURN(const cuda::AddressRange range,
                          cuda::AddressRange::Reserve(context_, size));
    char byte = 0;
    const absl::Status status = cuda::CopyToHost(context_, &byte, range.address(), 1);
    FdMessage message;
    message.tag = static_cast<uint64_t>(cuda::ResultOf(status).value_or(CUDA_SUCCESS));
    return Done(message);
  }

  // Until the parent kills this process or goes away itself.
  absl::Status WaitForTheEnd() {
    static_cast<void>(socket_.Receive());
    return absl::OkStatus();
  }

  const DeviceUnderTest& device_;
  const cuda::Context& context_;
  const FdSocket& socket_;
};

absl::Status RunTask(const DriverProfile& profile, const FdSocket& socket) {
  WEFT_ASSIGN_OR_RETURN(const FdMessage message, socket.Receive());
  WEFT_ASSIGN_OR_RETURN(const DeviceUnderTest device, DeviceUnderTest::Open(profile));
  return Child(device, socket).Do(static_cast<ChildTask>(message.kind), message);
}

}  // namespace

int RunIpcChild(const DriverProfile& profile, int argc, char** argv) {
  int number = -1;
  if (argc < 3 || !absl::SimpleAtoi(argv[2], &number)) return EXIT_FAILURE;
  const FdSocket socket{UniqueFd(number)};
  const absl::Status status = RunTask(profile, socket);
  if (status.ok()) return EXIT_SUCCESS;
  FdMessage failed;
  failed.kind = static_cast<uint32_t>(ChildTask::kFailed);
  failed.body = std::string(status.message());
  static_cast<void>(socket.Send(failed));  // the parent may be gone
  return EXIT_FAILURE;
}

absl::StatusOr<ChildProcess> ChildProcess::Start(const DriverProfile& profile) {
  WEFT_ASSIGN_OR_RETURN(auto sockets, UniqueFd::SocketPair(SOCK_SEQPACKET));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // The copy in the child loses close-on-exec; dup2 onto the same number would keep it.
  if (sockets.second.get() == kChildSocket) {
    WEFT_ASSIGN_OR_RETURN(sockets.second, sockets.second.Duplicate());
  }
  posix_spawn_file_actions_adddup2(&actions, sockets.second.get(), kChildSocket);
  const std::string driver_flag = absl::StrCat("--driver=", profile.name);
  const std::string socket_number = absl::StrCat(kChildSocket);
  std::vector<std::string> arguments = {"weft_conformance", kIpcChildFlag, socket_number,
                                        driver_flag};
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return ErrnoError(error, "posix_spawn", "/proc/self/exe");
  return ChildProcess(pid, FdSocket(std::move(sockets.first)));
}

absl::StatusOr<FdMessage> ChildProcess::Do(ChildTask task, const FdMessage& message,
                                           absl::Span<const int> fds) {
  FdMessage request;
  request.kind = static_cast<uint32_t>(task);
  request.tag = message.tag;
  request.body = message.body;
  WEFT_RETURN_IF_ERROR(socket_.Send(request, fds));
  WEFT_ASSIGN_OR_RETURN(FdMessage answer, socket_.Receive());
  if (answer.kind != static_cast<uint32_t>(ChildTask::kDone)) {
    return absl::InternalError(absl::StrCat("the child says: ", answer.body));
  }
  return answer;
}

void ChildProcess::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace weft::conformance
