// Words in which the built-in kernels' schemas are written.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/schema.h"

namespace weft::kernels {

inline DTypeRule OneOf(std::vector<DType> allowed) {
  return {DTypeRule::Kind::kOneOf, std::move(allowed), 0};
}
inline DTypeRule SameAs(uint32_t argument) { return {DTypeRule::Kind::kSameAs, {}, argument}; }
inline DTypeRule SumOf(uint32_t argument) { return {DTypeRule::Kind::kSumOf, {}, argument}; }
inline DTypeRule ComputeOf(uint32_t argument) {
  return {DTypeRule::Kind::kComputeOf, {}, argument};
}

// Every type, for kernels that only move elements.
inline std::vector<DType> AnyType() { return {AllDTypes().begin(), AllDTypes().end()}; }
// The types that arithmetic kernels take.
inline std::vector<DType> Arithmetic() {
  return {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI32, DType::kU8};
}
inline std::vector<DType> Floats() { return {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}; }

// The product of the scalar arguments at these positions.
inline Product Of(const std::vector<uint32_t>& arguments) {
  Product product;
  for (const uint32_t argument : arguments) product.push_back({argument, 1});
  return product;
}
inline Factor Constant(uint64_t value) { return {std::nullopt, value}; }

inline ArgumentSchema Buffer(std::string name, std::string doc, Access access, DTypeRule dtype,
                             Product shape, std::vector<uint32_t> in_place_with = {}) {
  return {std::move(name), std::move(doc),
          BufferSchema{access, std::move(dtype), std::move(shape), std::move(in_place_with)}};
}

inline ScalarDefault Required() { return {}; }
inline ScalarDefault Default(Number value) { return {ScalarDefault::Kind::kConstant, value, 0, 0}; }
inline ScalarDefault Count(uint32_t buffer) {
  return {ScalarDefault::Kind::kElementCount, int64_t{0}, buffer, 0};
}
inline ScalarDefault Dimension(uint32_t buffer, uint32_t from_last) {
  return {ScalarDefault::Kind::kDimension, int64_t{0}, buffer, from_last};
}
inline ScalarDefault Leading(uint32_t buffer, uint32_t without_last) {
  return {ScalarDefault::Kind::kLeadingCount, int64_t{0}, buffer, without_last};
}

// An i64 that counts elements; never negative.
inline ArgumentSchema Extent(std::string name, std::string doc, ScalarDefault value) {
  return {std::move(name), std::move(doc),
          ScalarSchema{OneOf({DType::kI64}), value, Number{int64_t{0}}, std::nullopt}};
}
inline ArgumentSchema Scalar(std::string name, std::string doc, DTypeRule dtype,
                             ScalarDefault value) {
  return {std::move(name), std::move(doc), ScalarSchema{std::move(dtype), value, {}, {}}};
}

// Where in a random sequence to start; at most 2^62, so that the places of all elements fit an i64.
inline ArgumentSchema RandomOffset() {
  return {"offset", "where in the sequence to start",
          ScalarSchema{OneOf({DType::kI64}), Default(int64_t{0}), Number{int64_t{0}},
                       Number{int64_t{1} << 62}}};
}

// Threads striding by the grid, 256 a block; a block for 1024 elements, since a thread takes up to 16 bytes at once.
// 65536 blocks keep any device full.
inline LaunchShape Elementwise(Product extent) {
  LaunchShape shape;
  shape.grid[0] = {std::move(extent), 1024, 65536};
  shape.block[0] = 256;
  shape.block_rule = LaunchShape::Block::kAny;
  return shape;
}

// A thread a pixel and step, 32 × 8 a block; a block goes down `rows_per_block` rows.
inline LaunchShape Pixels(Product rows, Product cols, uint32_t rows_per_block) {
  LaunchShape shape;
  shape.grid[0] = {std::move(cols), 32, 65536};
  shape.grid[1] = {std::move(rows), rows_per_block, 32768};
  shape.block[0] = 32;
  shape.block[1] = 8;
  shape.block_rule = LaunchShape::Block::kAny;
  return shape;
}

// reduce_math.h: a block for 4096 elements, at most 1024 blocks (kReduceTile, kReduceMaxPartials); then one block.
inline LaunchShape ReducePartialShape(Product extent) {
  LaunchShape shape;
  shape.grid[0] = {std::move(extent), 4096, 1024};
  shape.block[0] = 256;
  return shape;
}
inline LaunchShape ReduceFinalShape() {
  LaunchShape shape;
  shape.block[0] = 256;
  return shape;
}
inline WorkspaceRule ReduceWorkspace(Product units) { return {std::move(units), 4096, 1024, 8}; }

// scan_math.h: a block of 256 threads takes tiles of 2048 elements (kScanTile); a sum a tile in the workspace, and one
// block for them.
inline LaunchShape ScanShape(Product extent) {
  LaunchShape shape;
  shape.grid[0] = {std::move(extent), 2048, 65536};
  shape.block[0] = 256;
  return shape;
}
inline LaunchShape ScanOffsetsShape(Product extent) {
  LaunchShape shape;
  shape.grid[0] = {std::move(extent), 2048, 1};
  shape.block[0] = 256;
  return shape;
}
inline WorkspaceRule ScanWorkspace(Product units) {
  return {std::move(units), 2048, UINT64_MAX, 8};
}

// A block of block_x × block_y threads for a tile of tile × tile elements of a rows × cols matrix.
inline LaunchShape Tiled(Product rows, Product cols, uint32_t tile, uint32_t block_x,
                         uint32_t block_y) {
  LaunchShape shape;
  shape.grid[0] = {std::move(cols), tile, 65536};
  shape.grid[1] = {std::move(rows), tile, 32768};
  shape.block[0] = block_x;
  shape.block[1] = block_y;
  return shape;
}

}  // namespace weft::kernels
