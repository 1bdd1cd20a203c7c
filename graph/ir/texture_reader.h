// Texture parameters of kernels: what the job says of the texels, within the limits that every GPU has.
// Private to graph/ir.
//
// Thread safety: pure function.
#pragma once

#include <optional>
#include <string>

#include "graph/ir/errors.h"
#include "graph/ir/texture.h"
#include "graph/ir/view_reader.h"
#include "graph/ir/violations.h"

namespace weft::v1 {
class Texture;
}  // namespace weft::v1

namespace weft::ir {

// `part`: the field of the parameter's texture, "user_kernel.params[2].texture". `view`: its view, read.
// nullopt when it is faulty, which is reported.
std::optional<Texture> ReadTexture(const NodePlace& node, const std::string& part,
                                   const v1::Texture& texture, const ReadView& view,
                                   Violations& violations);

}  // namespace weft::ir
