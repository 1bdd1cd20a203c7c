#include "graph/ir/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "graph/ir/job_file.h"
#include "graph/ir/upload_bytes.h"
#include "tests/testing/status_matchers.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;
using testing::StatusIs;

constexpr Fingerprinter::Key kKey = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

// vectors_sip128 of the reference implementation: key 00 01 … 0f, input 00 01 … of length n.
TEST(SipHashTest, MatchesTheReferenceVectors) {
  const std::string input = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(SipHash128(kKey, input.data(), 0),
            (Fingerprint{0xe6a825ba047f81a3, 0x930255c71472f66d}));
  EXPECT_EQ(SipHash128(kKey, input.data(), 1),
            (Fingerprint{0x44af996bd8c187da, 0x45fc229b11597634}));
  EXPECT_EQ(SipHash128(kKey, input.data(), 8),
            (Fingerprint{0x61f55862baa9623b, 0xb49714f364e2830f}));
}

class FingerprinterTest : public ::testing::Test {
 protected:
  static v1::Job Job() {
    return *ParseJob(
        "name: \"a\" buffers { name: \"b\" shape: 4 shared: \"s\" }"
        "nodes { name: \"u\" upload { dst { buffer: \"b\" } data: \"abcd\" } }"
        "nodes { name: \"f\" fill { dst { buffer: \"b\" } } } options { deadline_ms: 5 }",
        JobFormat::kText);
  }

  Fingerprint Of(v1::Job job) const {
    std::vector<uint64_t> sizes;
    for (const std::string& bytes : TakeUploadBytes(job)) sizes.push_back(bytes.size());
    return fingerprinter_.Of(job, sizes, {{BufferId(7), kernels::DType::kU8, {4}, 4, 0}});
  }

  const Fingerprinter fingerprinter_{kKey};
};

TEST_F(FingerprinterTest, IsTheSameForTheSameJob) { EXPECT_EQ(Of(Job()), Of(Job())); }

TEST_F(FingerprinterTest, LeavesOutNameDeadlineAndInlineBytes) {
  v1::Job other = Job();
  other.set_name("b");
  other.mutable_options()->set_deadline_ms(99);
  other.mutable_nodes(0)->mutable_upload()->set_data("wxyz");
  EXPECT_EQ(Of(other), Of(Job()));
}

TEST_F(FingerprinterTest, NameThatIsRefusedMatchesNoOther) {
  v1::Job other = Job();
  other.set_name(std::string(5000, 'x'));
  EXPECT_NE(Of(other), Of(Job()));
}

TEST_F(FingerprinterTest, ChangesWithEverythingElse) {
  std::set<std::string> all = {Of(Job()).ToHex()};
  const auto differs = [&all, this](v1::Job job) { return all.insert(Of(job).ToHex()).second; };
  v1::Job job = Job();
  job.mutable_nodes(0)->set_name("v");
  EXPECT_TRUE(differs(job));
  job = Job();
  job.mutable_nodes(0)->mutable_upload()->set_data("abc");
  EXPECT_TRUE(differs(job)) << "size of inline bytes";
  job = Job();
  job.mutable_nodes(1)->mutable_fill()->set_pattern(1);
  EXPECT_TRUE(differs(job));
  job = Job();
  job.mutable_nodes(1)->add_after("u");
  EXPECT_TRUE(differs(job));
  job = Job();
  job.mutable_buffers(0)->set_shape(0, 5);
  EXPECT_TRUE(differs(job));
  job = Job();
  job.mutable_options()->set_max_lanes(2);
  EXPECT_TRUE(differs(job));
  job = Job();
  TakeUploadBytes(job);
  EXPECT_TRUE(
      all.insert(
             fingerprinter_.Of(job, {4}, {{BufferId(8), kernels::DType::kU8, {4}, 4, 0}}).ToHex())
          .second)
      << "another shared buffer";
  EXPECT_TRUE(
      all.insert(
             fingerprinter_.Of(job, {4}, {{BufferId(8), kernels::DType::kU8, {4}, 4, 1}}).ToHex())
          .second)
      << "on another device";
}

TEST_F(FingerprinterTest, DependsOnTheKey) {
  v1::Job job = Job();
  TakeUploadBytes(job);
  EXPECT_NE(Fingerprinter({1, 2}).Of(job, {}, {}), Fingerprinter({1, 3}).Of(job, {}, {}));
  ASSERT_OK_AND_ASSIGN(Fingerprinter one, Fingerprinter::Create());
  ASSERT_OK_AND_ASSIGN(Fingerprinter two, Fingerprinter::Create());
  EXPECT_NE(one.Of(job, {}, {}), two.Of(job, {}, {}));
}

TEST(UploadBytesTest, AreTakenInOrderAndPutBack) {
  v1::Job job = *ParseJob(
      "nodes { upload { data: \"ab\" } } nodes { empty {} } nodes { upload { file: \"f\" } }"
      "nodes { upload {} } nodes { upload { data: \"c\" } }",
      JobFormat::kText);
  const std::string before = job.SerializeAsString();
  std::vector<std::string> bytes = TakeUploadBytes(job);
  EXPECT_THAT(bytes, ElementsAre("ab", "", "", "c"));
  EXPECT_FALSE(job.nodes(0).upload().has_data());
  EXPECT_EQ(job.nodes(2).upload().file(), "f");
  RestoreUploadBytes(job, std::move(bytes));
  EXPECT_EQ(job.nodes(0).upload().data(), "ab");
  EXPECT_EQ(job.nodes(4).upload().data(), "c");
  EXPECT_EQ(job.nodes(2).upload().file(), "f");
}

}  // namespace
}  // namespace weft::ir
