#include "tests/conformance/verdict.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft::conformance {
namespace {

const ListedTest* Find(const std::vector<ListedTest>& list, const std::string& name) {
  const auto at = std::find_if(list.begin(), list.end(),
                               [&](const ListedTest& listed) { return listed.name == name; });
  return at == list.end() ? nullptr : &*at;
}

void JudgeOne(const DriverProfile& profile, const TestOutcome& test, Verdict& verdict) {
  const ListedTest* const listed = Find(profile.expected_failures, test.name);
  switch (test.outcome) {
    case Outcome::kNotRun:
      return;
    case Outcome::kSkipped:
      ++verdict.skipped;
      return;
    case Outcome::kPassed:
      ++verdict.passed;
      if (listed != nullptr) verdict.unexpected_passes.push_back(*listed);
      return;
    case Outcome::kFailed:
      if (listed != nullptr) {
        verdict.expected_failures.push_back(*listed);
      } else {
        verdict.failures.push_back(test.name);
      }
      return;
  }
}

}  // namespace

Verdict Judge(const DriverProfile& profile, const std::vector<TestOutcome>& outcomes) {
  Verdict verdict;
  for (const TestOutcome& test : outcomes) JudgeOne(profile, test, verdict);
  for (const std::vector<ListedTest>* list : {&profile.unsupported, &profile.expected_failures}) {
    for (const ListedTest& listed : *list) {
      const bool known =
          std::any_of(outcomes.begin(), outcomes.end(),
                      [&](const TestOutcome& test) { return test.name == listed.name; });
      if (!known) verdict.listed_but_unknown.push_back(listed.name);
    }
  }
  return verdict;
}

std::string Report(const DriverProfile& profile, const Verdict& verdict) {
  std::string text = absl::StrCat(
      "conformance of driver \"", profile.name, "\": ", verdict.ok() ? "OK" : "NOT OK", "; ",
      verdict.passed, " passed, ", verdict.failures.size(), " failed, ",
      verdict.expected_failures.size(), " failed as expected, ", verdict.skipped, " skipped\n");
  for (const std::string& name : verdict.failures) absl::StrAppend(&text, "  failed: ", name, "\n");
  for (const ListedTest& test : verdict.unexpected_passes) {
    absl::StrAppend(&text, "  passed, but is listed as failing: ", test.name, " (", test.reason,
                    "); take it off the list\n");
  }
  for (const std::string& name : verdict.listed_but_unknown) {
    absl::StrAppend(&text, "  listed, but no test has this name: ", name, "\n");
  }
  for (const ListedTest& test : verdict.expected_failures) {
    absl::StrAppend(&text, "  failed as expected: ", test.name, " (", test.reason, ")\n");
  }
  return text;
}

}  // namespace weft::conformance
