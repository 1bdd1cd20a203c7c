// Scripts that teach a shell the commands and options of `weft`, made from the commands' own
// descriptions.
//
// Thread safety: pure functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/cli/command.h"

namespace weft::cli {

enum class Shell : uint8_t { kBash, kZsh, kFish };

std::string CompletionScript(Shell shell, const std::vector<std::unique_ptr<Command>>& commands);

}  // namespace weft::cli
