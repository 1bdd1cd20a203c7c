// The other process of tests that need one: this program again, started with a task.
//
// A parent starts it with ChildProcess and speaks with it over a socket. The task is carried out on
// a device opened anew, as another process of the product would.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/driver.h"
#include "tests/conformance/driver_profile.h"
#include "transport/fd_socket.h"

namespace weft::conformance {

inline constexpr char kIpcChildFlag[] = "--ipc-child";

// What the child is to do, in the kind of the first message. Numbers travel in `tag`.
enum class ChildTask : uint32_t {
  // Receives an allocation, expects kParentByte in it, maps it, writes kChildByte; then says kDone.
  kReadAndWrite = 1,
  // The same, mapped at exactly the address in `tag`.
  kReadAndWriteAt,
  // Makes an allocation full of kChildByte, sends its descriptor (kDone), waits to be killed.
  kExport,
  // The same with cuMemAlloc and a legacy handle in the body of kDone.
  kLegacyExport,
  // Opens the legacy handle in the body, expects kParentByte, writes kChildByte, closes; kDone.
  kLegacyOpen,
  // Copies from an address range that nothing is mapped in; kDone with the CUresult in `tag`.
  kCopyFromUnmapped,
  kDone = 100,    // from the child
  kFailed = 101,  // from the child; the body says why
};

inline constexpr uint8_t kParentByte = 0x5A;
inline constexpr uint8_t kChildByte = 0xC3;
inline constexpr size_t kLegacySize = 100'000;  // of the allocations behind legacy handles

// The child's main function: argv is {program, kIpcChildFlag, number of the socket}.
int RunIpcChild(const DriverProfile& profile, int argc, char** argv);

// A child of this process. Killed and reaped at the latest when this object ends.
class ChildProcess {
 public:
  static absl::StatusOr<ChildProcess> Start(const DriverProfile& profile);

  ChildProcess(ChildProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess() { Kill(); }

  // Sends the task and returns the child's kDone. Errors: what the child says, or that it ended.
  absl::StatusOr<transport::FdMessage> Do(ChildTask task, const transport::FdMessage& message,
                                          absl::Span<const int> fds = {});
  // kill -9, and waits until the process is gone.
  void Kill();

 private:
  ChildProcess(pid_t pid, transport::FdSocket socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_ = -1;
  transport::FdSocket socket_;
};

}  // namespace weft::conformance
