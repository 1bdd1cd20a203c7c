// Early return on errors, for functions that return absl::Status or absl::StatusOr<T>.
//
//   WEFT_RETURN_IF_ERROR(stream.Synchronize());
//   WEFT_ASSIGN_OR_RETURN(auto event, cuda::Event::Create(context));
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define WEFT_MACRO_CONCAT_INNER(a, b) a##b
#define WEFT_MACRO_CONCAT(a, b) WEFT_MACRO_CONCAT_INNER(a, b)

#define WEFT_RETURN_IF_ERROR(expr)                                                \
  do {                                                                            \
    if (absl::Status weft_status = (expr); !weft_status.ok()) return weft_status; \
  } while (false)

#define WEFT_ASSIGN_OR_RETURN(lhs, expr) \
  WEFT_ASSIGN_OR_RETURN_IMPL(WEFT_MACRO_CONCAT(weft_status_or_, __LINE__), lhs, expr)

// `lhs` may be a declaration, which no parentheses may enclose.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define WEFT_ASSIGN_OR_RETURN_IMPL(status_or, lhs, expr)     \
  auto status_or = (expr);                                   \
  if (!status_or.ok()) return std::move(status_or).status(); \
  lhs = std::move(status_or).value()
// NOLINTEND(bugprone-macro-parentheses)
