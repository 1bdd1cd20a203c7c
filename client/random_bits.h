// Bits that nobody else has, for ids.
//
// Thread safety: may be called from any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace weft::client {

// getrandom(2), or a test's.
using RandomSource = ssize_t (*)(void* buffer, size_t size, unsigned int flags);

// From the kernel's generator: no state to share, or to repeat after a fork. Where a sandbox denies
// it, bits that are unlike those of other calls and processes but can be guessed: good enough for
// what only has to be unique, never for a secret. Cost: one system call.
uint64_t RandomBits();
uint64_t RandomBits(RandomSource source);

}  // namespace weft::client
