#include "kernels/library/library_schemas.h"

#include <iterator>
#include <utility>

#include "kernels/library/dnn_schemas.h"
#include "kernels/library/prim_schemas.h"
#include "kernels/library/rand_schemas.h"
#include "kernels/library/solver_schemas.h"
#include "kernels/library/sparse_schemas.h"

namespace weft::kernels {

std::vector<KernelSchema> LibrarySchemas() {
  std::vector<KernelSchema> all = FftSchemas();
  all.push_back(BlasMatmulSchema());
  for (KernelSchema& schema : PrimSchemas()) all.push_back(std::move(schema));
  all.push_back(Conv2dForwardSchema());
  for (KernelSchema& schema : RandSchemas()) all.push_back(std::move(schema));
  for (KernelSchema& schema : SolverSchemas()) all.push_back(std::move(schema));
  for (KernelSchema& schema : SparseSchemas()) all.push_back(std::move(schema));
  return all;
}

}  // namespace weft::kernels
