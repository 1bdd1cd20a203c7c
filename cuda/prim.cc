#include "cuda/prim.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cuda/toolkit_library.h"

namespace weft::cuda {
namespace {

absl::Status CheckPrim(const weft_prim_table_v1& table, int32_t result) {
  if (result == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(table.name_of(result), " (", result, ")"));
}

class PrimCall final : public LibraryCall {
 public:
  PrimCall(const ContextRef& context, const weft_prim_table_v1& table, const PrimRequest& request)
      : context_(context), table_(table), request_(request) {}

  absl::Status Enqueue(const StreamRef& stream) const override {
    WEFT_MAKE_CURRENT(context_);
    return CheckPrim(table_,
                     table_.enqueue(&request_.call, reinterpret_cast<void*>(request_.workspace),
                                    request_.workspace_bytes, stream.handle()));
  }

 private:
  const ContextRef context_;
  const weft_prim_table_v1& table_;
  const PrimRequest request_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const Prim>> Prim::Load(const Context& context,
                                                       const std::vector<std::string>& folders) {
  WEFT_ASSIGN_OR_RETURN(const ToolkitLibrary opened,
                        ToolkitLibrary::Open({"CUB", "WEFT_PRIM", {"prim.gpu.so"}, folders}));
  decltype(&weft_prim_table) make_table = nullptr;
  FunctionFinder finder(opened);
  finder.Find("weft_prim_table", make_table);
  WEFT_RETURN_IF_ERROR(finder.status());
  const weft_prim_table_v1* table = make_table();
  if (table->abi != WEFT_PRIM_ABI || table->call_size != sizeof(weft_prim_call)) {
    return absl::NotFoundError(absl::StrCat(opened.file(), " is of another build: its version is ",
                                            table->abi, ", wanted is ", WEFT_PRIM_ABI));
  }
  return std::unique_ptr<const Prim>(new Prim(context.ref(), *table));
}

absl::StatusOr<std::shared_ptr<const LibraryCall>> Prim::Prepare(const PrimRequest& request) const {
  WEFT_MAKE_CURRENT(context_);
  uint64_t needed = 0;
  WEFT_RETURN_IF_ERROR(CheckPrim(table_, table_.workspace(&request.call, &needed)));
  if (needed > request.workspace_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "CUB needs ", needed, " bytes of workspace, and the plan has ", request.workspace_bytes));
  }
  return std::make_shared<PrimCall>(context_, table_, request);
}

}  // namespace weft::cuda
