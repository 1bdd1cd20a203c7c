// A driver table whose functions only keep count: which objects are alive, which context is
// current, what the last call was given. For tests of the handles in cuda/, without a driver.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cuda/context.h"
#include "cuda/driver.h"

namespace weft::cuda {

// One lives at a time (the functions of a table carry no state, so they find it through a static).
class FakeDriver {
 public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  // Members may be replaced by a test.
  Driver& table() { return table_; }
  // A context made with table().
  Context MakeContext();

  // Makes every later call of `function` ("cuMemRelease") return `result`.
  void Fail(const std::string& function, CUresult result) { failures_[function] = result; }

  // Objects made and not yet destroyed, of the functions' name for their kind ("stream",
  // "mapping").
  int live(const std::string& kind) const;
  // Calls of `function` so far.
  int calls(const std::string& function) const;

  std::vector<CUcontext> context_stack;
  std::vector<CUgraphNode> last_dependencies;
  CUdeviceptr next_reserved_address = 0x10000000;
  // What cuMemExportToShareableHandle gives out.
  int exported_fd = -1;

  // For the functions of the table.
  static FakeDriver& Current();
  CUresult Count(const char* function);
  CUresult Make(const char* function, const char* kind, uint64_t* id);
  CUresult Destroy(const char* function, const char* kind);

 private:
  Driver table_;
  std::map<std::string, CUresult> failures_;
  std::map<std::string, int> calls_;
  std::map<std::string, int> live_;
  uint64_t next_id_ = 1;
};

}  // namespace weft::cuda
