// Turns the results of the tests and a driver's lists into the result of the run.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/driver_profile.h"

namespace weft::conformance {

enum class Outcome {
  kNotRun,  // filtered out
  kPassed,
  kFailed,
  kSkipped,
};

struct TestOutcome {
  std::string name;
  Outcome outcome;
};

struct Verdict {
  int passed = 0;
  int skipped = 0;
  std::vector<ListedTest> expected_failures;    // failed, as listed
  std::vector<std::string> failures;            // failed, and not listed
  std::vector<ListedTest> unexpected_passes;    // listed as failing
  std::vector<std::string> listed_but_unknown;  // in a list, and no test has the name

  bool ok() const {
    return failures.empty() && unexpected_passes.empty() && listed_but_unknown.empty();
  }
};

// REQUIRES: `outcomes` holds every test of the program, also those that were not run.
Verdict Judge(const DriverProfile& profile, const std::vector<TestOutcome>& outcomes);

// Some lines for people: counts, then what is wrong or expected and why.
std::string Report(const DriverProfile& profile, const Verdict& verdict);

}  // namespace weft::conformance
