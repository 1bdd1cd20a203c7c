// SHA-256 of a sequence of texts (FIPS 180-4; OpenSSL's). Each text counts with its length, so that
// no two sequences read the same.
//
// Thread safety: one thread.
#pragma once

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

struct evp_md_ctx_st;

namespace weft::kernels {

class Digest {
 public:
  Digest();
  void Add(absl::string_view text);
  // 64 hexadecimal digits. The object is of no use afterwards.
  std::string Hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace weft::kernels
