#include "tests/conformance/conformance_test.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cuda/device_query.h"
#include "tests/testing/temp_dir.h"

namespace weft::conformance {
namespace {

ConformanceEnvironment*& InstalledEnvironment() {
  static ConformanceEnvironment* installed = nullptr;
  return installed;
}

std::string CurrentTestName() {
  const ::testing::TestInfo* const info = ::testing::UnitTest::GetInstance()->current_test_info();
  return absl::StrCat(info->test_suite_name(), ".", info->name());
}

}  // namespace

ConformanceEnvironment* ConformanceEnvironment::Install(DriverProfile profile) {
  InstalledEnvironment() = new ConformanceEnvironment(std::move(profile));
  return InstalledEnvironment();
}

ConformanceEnvironment& ConformanceEnvironment::Get() { return *InstalledEnvironment(); }

absl::Status ConformanceEnvironment::Open() {
  WEFT_ASSIGN_OR_RETURN(device_, DeviceUnderTest::Open(profile_));
  WEFT_ASSIGN_OR_RETURN(const cuda::DeviceInfo info, cuda::QueryDeviceInfo(*device_->driver, 0));
  std::cout << "driver " << profile_.name << ": " << device_->driver->path << ", CUDA "
            << info.driver_version / 1000 << "." << info.driver_version % 1000 / 10
            << "; device: " << info.name << ", compute capability " << info.compute_major << "."
            << info.compute_minor << ", " << info.multiprocessor_count << " multiprocessors, "
            << (info.total_memory_bytes >> 20) << " MiB\n";
  const std::string image = testing::ReadFile(TestDataPath(profile_.image_file));
  if (image.empty()) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(module_, cuda::Module::Load(device_->context, image));
  return absl::OkStatus();
}

void ConformanceEnvironment::TearDown() {
  module_.reset();
  device_.reset();
}

void ConformanceTest::SetUp() {
  for (const ListedTest& listed : ConformanceEnvironment::Get().profile().unsupported) {
    if (listed.name == CurrentTestName()) GTEST_SKIP() << "not supported: " << listed.reason;
  }
  release_errors_before_ = driver().release_error_count;
}

void ConformanceTest::TearDown() {
  if (IsSkipped()) return;
  EXPECT_OK(context().Synchronize()) << "the context does not work any more";
  EXPECT_EQ(driver().release_error_count, release_errors_before_);
}

void KernelTest::SetUp() {
  ConformanceTest::SetUp();
  if (IsSkipped()) return;
  const ConformanceEnvironment& environment = ConformanceEnvironment::Get();
  if (environment.module() == nullptr) {
    GTEST_SKIP() << TestDataPath(environment.profile().image_file)
                 << " is not there: this program was built without kernels for the driver "
                    "(WEFT_CUDA_ARCHITECTURES=none)";
  }
  // The first launch of a kernel may load its code, which waits for kernels that run: none of those
  // that wait for each other may be the first.
  const DeviceBuffer words = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(Run(stream.ref(), "rendezvous", words.address(), uint32_t{0}, uint32_t{0},
                kMeetTimeoutNs, words.address(64)));
  ASSERT_OK(Run(stream.ref(), "spin", uint64_t{0}));
  ASSERT_OK(Run(stream.ref(), "append", words.address(128), uint32_t{0}));
  ASSERT_OK(stream.ref().Synchronize());
}

std::vector<uint32_t> KernelTest::ReadLog(CUdeviceptr address) const {
  return Read<uint32_t>(address + sizeof(uint32_t), ReadOne<uint32_t>(address));
}

PinnedPage::PinnedPage(const cuda::Context& context)
    : file_(UniqueFd::Memfd("conformance-page", kSize, UniqueFd::Seal::kSealSize).value()),
      memory_(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0)),
      pinned_(cuda::PinnedHost::Register(context, memory_, kSize).value()) {}

PinnedPage::~PinnedPage() {
  pinned_.reset();
  munmap(memory_, kSize);
}

absl::Status Gate::Hold(const cuda::StreamRef& stream) {
  return stream.WaitValue64(page_.address(), 1, cuda::WaitCondition::kGreaterOrEqual);
}

void Gate::Open() {
  // Release: what the test wrote before is visible to the work that the gate held back.
  std::atomic_ref<uint64_t>(page_.words()[0]).store(1, std::memory_order_release);
}

Gate::~Gate() {
  Open();
  EXPECT_OK(context_.Synchronize());
}

}  // namespace weft::conformance
