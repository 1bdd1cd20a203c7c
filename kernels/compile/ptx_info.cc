#include "kernels/compile/ptx_info.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "kernels/compile/errors.h"

namespace weft::kernels {
namespace {

// Words (with a leading '.' of directives), numbers, and signs of one character; without blanks and
// comments.
class PtxTokens {
 public:
  explicit PtxTokens(absl::string_view text) : rest_(text) { Advance(); }

  absl::string_view peek() const { return current_; }
  bool done() const { return current_.empty(); }
  absl::string_view Take() { return std::exchange(current_, Scan()); }
  bool TakeIf(absl::string_view token) {
    if (current_ != token) return false;
    Advance();
    return true;
  }

 private:
  static bool IsWord(char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
           c == '.';
  }

  void Advance() { current_ = Scan(); }

  void SkipBlank() {
    while (!rest_.empty()) {
      if (absl::ascii_isspace(static_cast<unsigned char>(rest_[0]))) {
        rest_.remove_prefix(1);
      } else if (absl::StartsWith(rest_, "//")) {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (absl::StartsWith(rest_, "/*")) {
        const size_t end = rest_.find("*/", 2);
        rest_.remove_prefix(end == absl::string_view::npos ? rest_.size() : end + 2);
      } else {
        return;
      }
    }
  }

  absl::string_view Scan() {
    SkipBlank();
    if (rest_.empty()) return {};
    size_t size = 1;
    if (rest_[0] == '"') {
      const size_t end = rest_.find('"', 1);
      size = end == absl::string_view::npos ? rest_.size() : end + 1;
    } else if (IsWord(rest_[0])) {
      while (size < rest_.size() && IsWord(rest_[size])) ++size;
    }
    const absl::string_view token = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return token;
  }

  absl::string_view rest_;
  absl::string_view current_;
};

// Bytes of a fundamental type (".u32", ".b8"); 0 when it is none.
uint32_t BytesOfType(absl::string_view type) {
  if (type == ".pred") return 1;
  if (type == ".texref" || type == ".samplerref" || type == ".surfref") return 8;
  if (!absl::ConsumePrefix(&type, ".") || type.empty()) return 0;
  if (absl::StartsWith(type, "bf")) {
    type.remove_prefix(2);
  } else if (absl::StrContains("busf", type[0])) {
    type.remove_prefix(1);
  } else {
    return 0;
  }
  uint32_t bits = 0;
  // "16x2": two of them.
  const std::vector<absl::string_view> parts = absl::StrSplit(type, 'x');
  if (!absl::SimpleAtoi(parts[0], &bits) || bits > 128) return 0;
  return parts.size() > 1 ? 2 * bits / 8 : bits / 8;
}

// A variable or parameter behind its state space: [.align n] [.v2|.v4] type [.ptr …] name [n]…
struct Declared {
  absl::string_view name;
  uint64_t size_bytes = 0;
  uint32_t align_bytes = 1;
};

class PtxReader {
 public:
  explicit PtxReader(absl::string_view text) : tokens_(text) {}

  CodeInfo Read() {
    while (!tokens_.done()) ReadOne();
    CodeInfo info;
    for (auto& [name, kernel] : kernels_) info.kernels.push_back(std::move(kernel));
    for (auto& [name, variable] : variables_) info.variables.push_back(std::move(variable));
    return info;
  }

 private:
  void ReadOne() {
    const absl::string_view token = tokens_.Take();
    if (token == ".entry") {
      ReadKernel();
    } else if (token == ".const" || token == ".global") {
      const Declared declared = ReadDeclaration();
      if (!declared.name.empty() && declared.size_bytes > 0) {
        variables_[declared.name] = {std::string(declared.name), declared.size_bytes,
                                     token == ".const"};
      }
    } else if (token == "{") {
      SkipBody();
    }
  }

  // Behind "{", up to its "}": initialisers and functions nest.
  void SkipBody() {
    for (size_t depth = 1; depth > 0 && !tokens_.done();) {
      const absl::string_view token = tokens_.Take();
      if (token == "{") ++depth;
      if (token == "}") --depth;
    }
  }

  void ReadKernel() {
    KernelInfo kernel;
    const absl::string_view name = tokens_.Take();
    kernel.name = std::string(name);
    if (tokens_.TakeIf("(")) {
      uint64_t end = 0;
      while (!tokens_.done() && !tokens_.TakeIf(")")) {
        if (tokens_.Take() != ".param") continue;
        const Declared declared = ReadDeclaration();
        const uint64_t offset = (end + declared.align_bytes - 1) / declared.align_bytes *
                                uint64_t{declared.align_bytes};
        end = std::min<uint64_t>(offset + declared.size_bytes, UINT32_MAX);
        kernel.parameters.push_back({static_cast<uint32_t>(std::min<uint64_t>(offset, UINT32_MAX)),
                                     static_cast<uint32_t>(declared.size_bytes)});
      }
    }
    ReadLimits(kernel);
    kernels_[name] = std::move(kernel);
  }

  // The performance directives between a kernel's parameters and its body.
  void ReadLimits(KernelInfo& kernel) {
    while (!tokens_.done() && tokens_.peek() != "{" && tokens_.peek() != ";") {
      const absl::string_view directive = tokens_.Take();
      if (directive == ".maxntid" || directive == ".reqntid") {
        kernel.max_block = ReadTriple();
        kernel.block_required = directive == ".reqntid";
      } else if (directive == ".reqnctapercluster") {
        kernel.cluster = ReadTriple();
      }
    }
  }

  std::array<uint32_t, 3> ReadTriple() {
    std::array<uint32_t, 3> triple = {1, 1, 1};
    for (size_t i = 0; i < triple.size(); ++i) {
      uint32_t number = 0;
      if (!absl::SimpleAtoi(tokens_.peek(), &number)) break;
      tokens_.Take();
      triple[i] = number;
      if (!tokens_.TakeIf(",")) break;
    }
    return triple;
  }

  Declared ReadDeclaration() {
    Declared declared;
    uint64_t count = 1;
    uint32_t element = 0;
    uint32_t align = 0;
    while (absl::StartsWith(tokens_.peek(), ".")) {
      const absl::string_view word = tokens_.Take();
      if (word == ".align") {
        uint32_t number = 0;
        const bool pointer = element != 0;  // of what a pointer points to: not the parameter's own
        if (absl::SimpleAtoi(tokens_.peek(), &number) && !pointer) align = number;
        tokens_.Take();
      } else if (word == ".v2" || word == ".v4") {
        count = word == ".v2" ? 2 : 4;
      } else if (element == 0) {
        element = BytesOfType(word);
      }
    }
    declared.name = tokens_.Take();
    while (tokens_.TakeIf("[")) {
      uint64_t extent = 0;
      if (absl::SimpleAtoi(tokens_.peek(), &extent)) {
        tokens_.Take();
        count = extent == 0 || count <= UINT32_MAX / extent ? count * extent : UINT32_MAX;
      }
      while (!tokens_.done() && !tokens_.TakeIf("]")) tokens_.Take();
    }
    declared.size_bytes = std::min<uint64_t>(count * element, UINT32_MAX);
    declared.align_bytes = std::clamp(align != 0 ? align : element, 1U, 1U << 16);
    return declared;
  }

  PtxTokens tokens_;
  std::map<absl::string_view, KernelInfo> kernels_;
  std::map<absl::string_view, VariableInfo> variables_;
};

}  // namespace

std::string PtxHeader::Architecture() const {
  absl::string_view number = target;
  absl::ConsumePrefix(&number, "sm_");
  return absl::StrCat("compute_", number);
}

absl::StatusOr<PtxHeader> ReadPtxHeader(absl::string_view name, absl::string_view text) {
  PtxTokens tokens(text);
  PtxHeader header;
  bool has_version = false;
  // Both stand at the beginning of a module, in this order.
  while (!tokens.done() && header.target.empty()) {
    const absl::string_view token = tokens.Take();
    if (token == ".version") {
      const std::vector<absl::string_view> parts = absl::StrSplit(tokens.peek(), '.');
      has_version = parts.size() == 2 && absl::SimpleAtoi(parts[0], &header.version_major) &&
                    absl::SimpleAtoi(parts[1], &header.version_minor);
      if (!has_version) break;
    } else if (token == ".target") {
      header.target = std::string(tokens.peek().substr(0, 32));
    } else if (token == "{") {
      break;
    }
  }
  if (!has_version || header.target.empty()) {
    return BadImageError(name, "PTX", "it has no .version and .target");
  }
  return header;
}

absl::StatusOr<CodeInfo> ReadPtx(absl::string_view name, absl::string_view text) {
  WEFT_ASSIGN_OR_RETURN(const PtxHeader header, ReadPtxHeader(name, text));
  CodeInfo info = PtxReader(text).Read();
  info.architecture = header.Architecture();
  return info;
}

}  // namespace weft::kernels
