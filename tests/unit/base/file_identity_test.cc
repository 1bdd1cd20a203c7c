#include "base/file_identity.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace weft {
namespace {

class FileIdentityTest : public ::testing::Test {
 protected:
  FileIdentityTest() {
    std::string name = "/tmp/weft_file_identity_XXXXXX";
    folder_ = ::mkdtemp(name.data()) == nullptr ? "" : name;
    Write("one");
  }
  ~FileIdentityTest() override {
    ::unlink(link().c_str());
    ::unlink(file().c_str());
    ::rmdir(folder_.c_str());
  }
  std::string file() const { return folder_ + "/file"; }
  std::string link() const { return folder_ + "/link"; }
  void Write(const std::string& text) const { std::ofstream(file()) << text; }

  std::string folder_;
};

TEST_F(FileIdentityTest, StaysWhileTheFileDoes) {
  EXPECT_TRUE(FileIdentity(file()).has_value());
  EXPECT_EQ(FileIdentity(file()), FileIdentity(file()));
}

TEST_F(FileIdentityTest, ChangesWithTheSize) {
  const auto before = FileIdentity(file());
  Write("another");
  EXPECT_NE(FileIdentity(file()), before);
}

TEST_F(FileIdentityTest, ChangesWithTheTimeOfTheLastChange) {
  const auto before = FileIdentity(file());
  const timespec times[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file().c_str(), times, 0), 0);
  EXPECT_NE(FileIdentity(file()), before);
}

TEST_F(FileIdentityTest, OfALinkIsThatOfItsFile) {
  ASSERT_EQ(::symlink(file().c_str(), link().c_str()), 0);
  EXPECT_EQ(FileIdentity(link()), FileIdentity(file()));
}

TEST_F(FileIdentityTest, WithoutAFileThereIsNone) {
  EXPECT_EQ(FileIdentity(folder_ + "/nothing"), std::nullopt);
}

}  // namespace
}  // namespace weft
