// Philox4x32-10, a counter-based random number generator: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", SC'11. A block of four words is a function of a counter and a key alone, so that any element of a
// sequence is made without those before it, and the same on both sides.
#pragma once

#include <cstdint>

#include "kernels/builtin/half_types.h"

namespace weft::kernels {

struct PhiloxBlock {
  uint32_t words[4];
};

// One round: both products' halves, crossed over. The multipliers are the paper's.
WEFT_HOST_DEVICE PhiloxBlock PhiloxRound(const PhiloxBlock& in, uint32_t key0, uint32_t key1) {
  const uint64_t even = uint64_t{0xd2511f53u} * in.words[0];
  const uint64_t odd = uint64_t{0xcd9e8d57u} * in.words[2];
  return {{static_cast<uint32_t>(odd >> 32) ^ in.words[1] ^ key0, static_cast<uint32_t>(odd),
           static_cast<uint32_t>(even >> 32) ^ in.words[3] ^ key1, static_cast<uint32_t>(even)}};
}

// The key grows by the golden ratio and by sqrt(3) - 1 between rounds.
WEFT_HOST_DEVICE PhiloxBlock Philox4x32(PhiloxBlock counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    counter = PhiloxRound(counter, key0, key1);
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return counter;
}

// Block `number` of the sequence that `seed` names.
WEFT_HOST_DEVICE PhiloxBlock RandomBlock(uint64_t seed, uint64_t number) {
  const PhiloxBlock counter = {
      {static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32), 0, 0}};
  return Philox4x32(counter, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

}  // namespace weft::kernels
