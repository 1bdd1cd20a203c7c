// The textures of a job, as the driver has them.
#pragma once

#include "absl/status/statusor.h"
#include "cuda/texture.h"
#include "graph/build/bindings.h"
#include "graph/ir/texture.h"

namespace weft::build {

// A texture object over the bytes of `view`, which is `texture`'s.
// Errors: INVALID_ARGUMENT (misaligned: the device asks for more than ir::kTextureAlignmentBytes),
// UNIMPLEMENTED (a driver without texture objects).
absl::StatusOr<cuda::Texture> MakeTexture(const BuildInput& input, const ir::View& view,
                                          const ir::Texture& texture);

}  // namespace weft::build
