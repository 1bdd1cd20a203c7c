#include "client/socket_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/unique_fd.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::client {
namespace {

using ::testing::HasSubstr;
using weft::testing::StatusIs;

// Sets a variable of the environment, and puts back what it was.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name); old != nullptr) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (old_.empty()) {
      unsetenv(name_);
    } else {
      setenv(name_, old_.c_str(), 1);
    }
  }

 private:
  const char* name_;
  std::string old_;
};

// A socket bound to `path`; listening when asked to.
UniqueFd Bind(const std::string& path, int backlog) {
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  if (backlog > 0) {
    EXPECT_EQ(listen(fd.get(), backlog), 0);
  }
  return fd;
}

TEST(DefaultSocketTest, TheVariableOfItsOwnGoesFirst) {
  const ScopedVariable own("WEFT_SOCKET", "/somewhere/weftd.sock");
  const ScopedVariable runtime("XDG_RUNTIME_DIR", "/elsewhere");
  EXPECT_EQ(DefaultSocket(), "/somewhere/weftd.sock");
}

TEST(DefaultSocketTest, TheRuntimeFolderOfTheUserGoesBeforeTheSystems) {
  const weft::testing::TempDir dir;
  const ScopedVariable own("WEFT_SOCKET", "");
  const ScopedVariable runtime("XDG_RUNTIME_DIR", dir.path());
  std::filesystem::create_directory(dir.File("weft"));
  dir.WriteFile("weft/weftd.sock", "");
  EXPECT_EQ(DefaultSocket(), dir.File("weft/weftd.sock"));
}

TEST(DefaultSocketTest, WithoutARuntimeFolderItIsTheSystems) {
  const ScopedVariable own("WEFT_SOCKET", "");
  const ScopedVariable runtime("XDG_RUNTIME_DIR", "");
  EXPECT_EQ(DefaultSocket(), "/run/weft/weftd.sock");
}

TEST(ProbeSocketTest, TellsWhatIsThere) {
  const weft::testing::TempDir dir;
  EXPECT_THAT(ProbeSocket(dir.File("none")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no weftd at")));
  const UniqueFd listening = Bind(dir.File("live"), 1);
  EXPECT_OK(ProbeSocket(dir.File("live")));
  const UniqueFd stale = Bind(dir.File("stale"), 0);
  EXPECT_THAT(ProbeSocket(dir.File("stale")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("nobody listens")));
  EXPECT_THAT(ProbeSocket("/" + std::string(200, 'x')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("107")));
}

}  // namespace
}  // namespace weft::client
