// The one file that the host compiler compiles: the client's source between the headers and the image's table.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "kernels/compile/compiler.h"

namespace weft::kernels {

// "<name>.cu", of the source's name with what a file's name should not have replaced.
std::string SourceFileName(const CudaSource& source);

// `code`: the source's, rewritten (host_source.h). `globals`: the registrations in it and in the headers. Messages about
// the source name SourceFileName and its own lines; those about an entry name it.
std::string HostUnit(const CudaSource& source, const std::string& code, int globals);

}  // namespace weft::kernels
