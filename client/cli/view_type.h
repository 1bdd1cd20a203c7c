// What a view of a job holds, as far as the job alone says so.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/array_file.h"
#include "weft/v1/job.pb.h"

namespace weft::cli {

struct ViewType {
  std::optional<kernels::DType> dtype;  // nullopt: the server's buffer decides
  std::optional<std::vector<int64_t>> shape;
  bool shape_is_given = false;  // false: `shape` only counts the elements of a part of a buffer
  std::optional<uint64_t> bytes;
};

// Faulty views (no such buffer, sizes that overflow) give an empty type: the server explains them.
ViewType TypeOfView(const v1::Job& job, const v1::View& view);

// "f32 [480, 640] (buffer \"x\")", for messages.
std::string Describe(const ViewType& type, const v1::View& view);

// True when an array of this type is what the view holds; sizes of 1 do not count.
bool Fits(const ArrayType& array, const ViewType& view);

}  // namespace weft::cli
