#include "graph/ir/symbol_reader.h"

#include <limits>

#include "absl/strings/match.h"
#include "graph/ir/limits.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {

bool SymbolReader::ReadVariable(const NameTable& modules, SymbolOp& op) {
  const std::optional<uint32_t> module = modules.Find(node_.module());
  if (module.has_value()) {
    op.module = *module;
  } else {
    violations_.Add(UnknownModuleOfSymbol(
        place_, node_.module(), violations_.full() ? "" : modules.Nearest(node_.module())));
  }
  op.symbol = node_.symbol();
  op.offset_bytes = node_.offset_bytes();
  const bool good = !op.symbol.empty() && op.symbol.size() <= kMaxTextBytes &&
                    !absl::StrContains(op.symbol, '\0');
  if (!good) violations_.Add(BadSymbol(place_, op.symbol));
  return module.has_value() && good;
}

bool SymbolReader::ReadSource(const ViewReader& views, uint32_t& uploads, SymbolOp& op) {
  if (node_.source_case() == v1::SymbolNode::kSrc) {
    const std::optional<ReadView> view = views.Read({place_, "symbol.src", -1, {}}, node_.src());
    if (!view.has_value()) return false;
    op.source = view->view;
    op.size_bytes = view->view.range.size;
  } else {
    op.source = uploads++;  // faulty ones count too
    // Where the bytes are elsewhere (upload_bytes.h), size_bytes alone tells how many there are.
    const bool here = node_.source_case() == v1::SymbolNode::kData;
    op.size_bytes = here ? node_.data().size() : node_.size_bytes();
    if (here && node_.size_bytes() != 0 && node_.size_bytes() != node_.data().size()) {
      violations_.Add(SymbolSizeDiffers(place_, node_.data().size(), node_.size_bytes()));
      return false;
    }
  }
  const bool good = op.size_bytes > 0 && op.size_bytes <= kMaxBufferBytes &&
                    op.offset_bytes <= std::numeric_limits<uint64_t>::max() - op.size_bytes;
  if (!good) violations_.Add(SymbolWithoutBytes(place_));
  return good;
}

std::optional<SymbolOp> SymbolReader::Read(const NameTable& modules, const ViewReader& views,
                                           uint32_t& uploads) {
  SymbolOp op;
  bool good = ReadVariable(modules, op);
  good = ReadSource(views, uploads, op) && good;
  if (!good) return std::nullopt;
  return op;
}

}  // namespace weft::ir
