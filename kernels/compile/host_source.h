// What CUDA C++ has that no macro can make C++ of, rewritten. Lines stay where they are.
//
//   extern __shared__ T name[];        a reference to the launch's dynamic shared memory
//   static __shared__ alignas(n) T x;  __shared__ __align__(n) T x;
//   __constant__ T name;               also registered for the image's table, likewise __device__ variables of
//                                      namespaces, unless const, constexpr, extern, templates, or several in one
//
// The text is read as tokens, not parsed and not preprocessed: what a macro hides, or a declaration of several names, is
// left as it is; the compiler then refuses `extern __shared__`, and a variable that was missed has no symbol.
//
// Thread safety: one thread at a time.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace weft::kernels {

class HostRewriter {
 public:
  // The rewritten text. Called for the source and for each header: registrations are numbered through all of them.
  std::string Rewrite(absl::string_view code);
  // Registrations written so far: the room the table needs. Conditional code may leave some out.
  int globals() const { return globals_; }

 private:
  int globals_ = 0;
};

}  // namespace weft::kernels
