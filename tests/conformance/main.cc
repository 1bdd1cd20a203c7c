// weft_conformance [--driver=host|cuda] [GoogleTest's flags]

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/conformance_test.h"
#include "tests/conformance/driver_profile.h"
#include "tests/conformance/ipc_child.h"
#include "tests/conformance/verdict.h"

namespace weft::conformance {
namespace {

constexpr int kUsageError = 2;

std::optional<DriverProfile> ChooseProfile(int argc, char** argv) {
  const char* const variable = std::getenv(kDriverVariable);
  std::string name = variable == nullptr ? "host" : variable;
  constexpr absl::string_view kFlag = "--driver=";
  for (int i = 1; i < argc; ++i) {
    if (absl::StartsWith(argv[i], kFlag)) name = argv[i] + kFlag.size();
  }
  for (DriverProfile profile : {HostProfile(), CudaProfile()}) {
    if (profile.name == name) return profile;
  }
  std::cerr << "weft_conformance: unknown driver \"" << name << "\"; use \"host\" or \"cuda\"\n";
  return std::nullopt;
}

std::vector<TestOutcome> Outcomes() {
  std::vector<TestOutcome> outcomes;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(t);
      const ::testing::TestResult& result = *test.result();
      const Outcome outcome = !test.should_run() ? Outcome::kNotRun
                              : result.Failed()  ? Outcome::kFailed
                              : result.Skipped() ? Outcome::kSkipped
                                                 : Outcome::kPassed;
      outcomes.push_back({absl::StrCat(suite.name(), ".", test.name()), outcome});
    }
  }
  return outcomes;
}

int Main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const std::optional<DriverProfile> profile = ChooseProfile(argc, argv);
  if (!profile.has_value()) return kUsageError;
  if (argc > 1 && std::strcmp(argv[1], kIpcChildFlag) == 0) {
    return RunIpcChild(*profile, argc, argv);
  }
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  ConformanceEnvironment* const environment = ConformanceEnvironment::Install(*profile);
  ::testing::AddGlobalTestEnvironment(environment);
  if (const absl::Status status = environment->Open(); !status.ok()) {
    std::cerr << "conformance of driver \"" << profile->name
              << "\": NOT OK; the device could not be set up: " << status << "\n";
    return EXIT_FAILURE;
  }
  [[maybe_unused]] const int failed = RUN_ALL_TESTS();  // judged below, by the driver's lists
  const Verdict verdict = Judge(*profile, Outcomes());
  std::cout << Report(*profile, verdict);
  return verdict.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace weft::conformance

int main(int argc, char** argv) {
  // As weft-executor: the first launch of a kernel loads it otherwise, which waits for the device, and
  // for ever where the kernel is to end a wait. The driver reads it when it is initialised.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0);
  return weft::conformance::Main(argc, argv);
}
