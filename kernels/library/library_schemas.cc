#include "kernels/library/library_schemas.h"

#include <iterator>
#include <utility>

namespace weft::kernels {

std::vector<KernelSchema> LibrarySchemas() {
  std::vector<KernelSchema> all = FftSchemas();
  all.push_back(BlasMatmulSchema());
  return all;
}

}  // namespace weft::kernels
