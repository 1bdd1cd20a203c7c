// What a command works with beside its own options: streams, and the way to a server. main makes
// one with the real ones; tests make one with string streams and a mock.
//
// Thread safety: none; the main thread alone.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"

namespace weft::client {
class Connection;
}  // namespace weft::client

namespace weft::cli {

struct Environment {
  using Connector =
      std::function<absl::StatusOr<std::shared_ptr<client::Connection>>(const std::string& socket)>;

  std::ostream& out;  // what was asked for
  std::ostream& err;  // progress, hints, errors
  bool err_is_terminal = false;
  Connector connector;
  std::string socket = {};   // --socket; empty: the default search
  std::string program = {};  // path of this program, to find weftd beside it

  absl::StatusOr<std::shared_ptr<client::Connection>> Connect() const { return connector(socket); }
};

}  // namespace weft::cli
