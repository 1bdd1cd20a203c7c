#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/array_file.h"
#include "client/cli/bind_files.h"
#include "client/cli/buffer_name.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/connection.h"

namespace weft::cli {
namespace {

class GetCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"get", "Copy a buffer of the server into a file",
            "The file is written whole or not at all. - writes raw bytes to standard output."};
  }
  std::vector<Option> options() override {
    return {
        Argument("name", "NAME", "Buffer, by its name or as #ID", &name_),
        Argument("file", "FILE", ".npy, .png or, with any other ending, raw bytes; or -", &file_,
                 Completes::kFiles),
        Flag("json", "Print the buffer as JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override;

 private:
  absl::Status Copy(client::Connection& connection, const v1::BufferInfo& info,
                    std::ostream& out) const;

  std::string name_;
  std::string file_;
  bool json_ = false;
};

absl::Status GetCommand::Copy(client::Connection& connection, const v1::BufferInfo& info,
                              std::ostream& out) const {
  WEFT_ASSIGN_OR_RETURN(const ArrayType type, TypeOf(info.data_type(), info.shape()));
  if (file_ != "-") WEFT_RETURN_IF_ERROR(CheckWritable(file_, type));
  v1::ReadBufferRequest request;
  request.mutable_buffer()->set_id(info.id());
  std::string bytes;
  WEFT_RETURN_IF_ERROR(connection.Read(request, [&](absl::string_view chunk) {
    if (chunk.size() > info.size_bytes() - bytes.size()) {
      return absl::DataLossError(absl::StrCat("the server sent more than the ", info.size_bytes(),
                                              " bytes of the buffer"));
    }
    bytes.append(chunk.data(), chunk.size());
    return absl::OkStatus();
  }));
  if (file_ != "-") return WriteArray(file_, type, bytes);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> GetCommand::Run(Environment& environment) {
  if (json_ && file_ == "-") {
    return absl::InvalidArgumentError(
        "--json and the bytes would both go to standard output: give a file in place of -");
  }
  v1::GetBufferRequest request;
  WEFT_ASSIGN_OR_RETURN(*request.mutable_buffer(), ParseBufferRef(name_));
  WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
  WEFT_ASSIGN_OR_RETURN(const v1::GetBufferResponse found, connection->GetBuffer(request));
  WEFT_RETURN_IF_ERROR(Copy(*connection, found.buffer(), environment.out));
  if (json_) {
    environment.out << ToJson(found.buffer());
  } else if (file_ != "-") {
    environment.out << Printable(file_) << "  " << FormatDataType(found.buffer().data_type()) << " "
                    << FormatShape(found.buffer().shape()) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeGetCommand() { return std::make_unique<GetCommand>(); }

}  // namespace weft::cli
