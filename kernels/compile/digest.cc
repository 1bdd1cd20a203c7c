#include "kernels/compile/digest.h"

#include <openssl/evp.h>

#include <cstdint>
#include <new>

#include "absl/strings/escaping.h"

namespace weft::kernels {

void Digest::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Digest::Digest() : context_(EVP_MD_CTX_new()) {
  // Both fail for want of memory alone.
  if (context_ == nullptr || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();
  }
}

void Digest::Add(absl::string_view text) {
  const uint64_t size = text.size();
  EVP_DigestUpdate(context_.get(), &size, sizeof size);
  EVP_DigestUpdate(context_.get(), text.data(), text.size());
}

std::string Digest::Hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(context_.get(), digest, &size);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

}  // namespace weft::kernels
