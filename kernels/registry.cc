#include "kernels/registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/builtin/builtin_schemas.h"
#include "kernels/library/library_schemas.h"
#include "kernels/nearest_name.h"

namespace weft::kernels {
namespace {

std::vector<KernelSchema> BuiltinSchemas() {
  return {
      AddSchema(),           AddRowsSchema(),      ArgmaxSchema(),        ArgminSchema(),
      AxpySchema(),          BoxBlurSchema(),      CastSchema(),          ClampSchema(),
      CompactSchema(),       CopySchema(),         DotSchema(),           ExclusiveScanSchema(),
      FillSchema(),          GatherSchema(),       GaussianBlurSchema(),  HistogramSchema(),
      InclusiveScanSchema(), IotaSchema(),         LayernormSchema(),     MatmulSchema(),
      MulSchema(),           RandomNormalSchema(), RandomUniformSchema(), ReduceMaxSchema(),
      ReduceMinSchema(),     ReduceSumSchema(),    RgbToGraySchema(),     ScaleSchema(),
      ScatterSchema(),       SobelSchema(),        SoftmaxSchema(),       SpinSchema(),
      Stencil5Schema(),      TransposeSchema(),
  };
}

std::vector<KernelSchema> Sorted(std::vector<KernelSchema> schemas) {
  std::sort(schemas.begin(), schemas.end(),
            [](const KernelSchema& a, const KernelSchema& b) { return a.name < b.name; });
  return schemas;
}

}  // namespace

const Registry& Registry::Builtin() {
  static const Registry registry(BuiltinSchemas());
  return registry;
}

const Registry& Registry::Library() {
  static const Registry registry(LibrarySchemas());
  return registry;
}

Registry::Registry(std::vector<KernelSchema> schemas) : schemas_(Sorted(std::move(schemas))) {
  for (const KernelSchema& schema : schemas_) by_name_.emplace(schema.name, &schema);
}

const KernelSchema* Registry::Find(absl::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

absl::StatusOr<const KernelSchema*> Registry::Lookup(absl::string_view name) const {
  if (const KernelSchema* schema = Find(name)) return schema;
  std::vector<absl::string_view> names;
  names.reserve(schemas_.size());
  for (const KernelSchema& schema : schemas_) names.push_back(schema.name);
  return absl::NotFoundError(absl::StrCat("no built-in kernel \"", name, "\".",
                                          DidYouMean(NearestName(name, names)),
                                          " `weft kernels` lists all."));
}

}  // namespace weft::kernels
