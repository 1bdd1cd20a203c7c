#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "client/cli/array_file.h"
#include "client/cli/bind_files.h"
#include "client/cli/buffer_name.h"
#include "client/cli/command.h"
#include "client/cli/errors.h"
#include "client/cli/output.h"
#include "client/client.h"
#include "graph/ir/data_type.h"
#include "kernels/nearest_name.h"

namespace weft::cli {
namespace {

constexpr char kPutDetails[] =
    "Makes the buffer when there is none of that name, with the type and shape of the file; raw\n"
    "bytes are u8 [size] unless --dtype and --shape say otherwise. A buffer that is there must "
    "have\n"
    "as many bytes as the file.";

absl::StatusOr<std::vector<int64_t>> ParseShape(const std::string& text) {
  std::vector<int64_t> shape;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int64_t extent = 0;
    if (!absl::SimpleAtoi(part, &extent) || extent < 1) return ShapeSyntaxError(text);
    shape.push_back(extent);
  }
  return shape;
}

absl::StatusOr<kernels::DType> ParseDTypeOption(const std::string& text) {
  if (const auto dtype = kernels::ParseDType(text); dtype.has_value()) return *dtype;
  std::vector<absl::string_view> names;
  for (const kernels::DType dtype : kernels::AllDTypes()) names.push_back(kernels::NameOf(dtype));
  return DataTypeNameError(text, kernels::NearestName(text, names));
}

class PutCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"put", "Copy a file into a buffer of the server", kPutDetails};
  }
  std::vector<Option> options() override {
    return {
        Argument("name", "NAME", "Buffer, by its name or as #ID", &name_),
        Argument("file", "FILE", ".npy, .png or raw bytes", &file_, Completes::kFiles),
        Value("dtype", "TYPE", "Type of the elements, for raw bytes", &dtype_),
        Value("shape", "N,N,…", "Shape, for raw bytes", &shape_),
        Value("device", "N", "Device of a new buffer (default 0)", &device_),
        Flag("json", "Print the buffer as JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override;

 private:
  absl::StatusOr<ArrayType> TypeOfFile(const Array& array) const;
  absl::StatusOr<v1::BufferInfo> FindOrCreate(client::Connection& connection,
                                              const ArrayType& type) const;
  absl::Status CheckFits(const v1::BufferInfo& buffer, const Array& array,
                         const ArrayType& type) const;

  std::string name_;
  std::string file_;
  std::string dtype_;
  std::string shape_;
  uint32_t device_ = 0;
  bool json_ = false;
};

absl::StatusOr<ArrayType> PutCommand::TypeOfFile(const Array& array) const {
  if (array.type.has_value()) {
    if (dtype_.empty() && shape_.empty()) return *array.type;
    return absl::InvalidArgumentError(
        absl::StrCat(file_, " has a type and a shape of its own: leave out --dtype and --shape"));
  }
  ArrayType type;
  if (!dtype_.empty()) {
    WEFT_ASSIGN_OR_RETURN(type.dtype, ParseDTypeOption(dtype_));
  }
  if (!shape_.empty()) {
    WEFT_ASSIGN_OR_RETURN(type.shape, ParseShape(shape_));
  } else {
    type.shape = {static_cast<int64_t>(array.bytes.size() / kernels::SizeOf(type.dtype))};
  }
  if (BytesOf(type) != array.bytes.size()) {
    return FileShapeError(file_, array.bytes.size(), Describe(type));
  }
  return type;
}

absl::StatusOr<v1::BufferInfo> PutCommand::FindOrCreate(client::Connection& connection,
                                                        const ArrayType& type) const {
  v1::GetBufferRequest get;
  WEFT_ASSIGN_OR_RETURN(*get.mutable_buffer(), ParseBufferRef(name_));
  absl::StatusOr<v1::GetBufferResponse> found = connection.GetBuffer(get);
  if (found.ok()) return std::move(*found->mutable_buffer());
  if (!absl::IsNotFound(found.status()) || get.buffer().name().empty()) return found.status();
  v1::CreateBufferRequest create;
  create.set_name(name_);
  create.set_data_type(ir::DataTypeOf(type.dtype));
  create.mutable_shape()->Assign(type.shape.begin(), type.shape.end());
  create.set_device(device_);
  WEFT_ASSIGN_OR_RETURN(v1::CreateBufferResponse created, connection.CreateBuffer(create));
  return std::move(*created.mutable_buffer());
}

absl::Status PutCommand::CheckFits(const v1::BufferInfo& buffer, const Array& array,
                                   const ArrayType& type) const {
  const bool same_type = !array.type.has_value() || ir::DTypeOf(buffer.data_type()) == type.dtype;
  if (buffer.size_bytes() == array.bytes.size() && same_type) return absl::OkStatus();
  return BufferMismatchError(
      name_, file_, Describe(type),
      absl::StrCat(FormatDataType(buffer.data_type()), " ", FormatShape(buffer.shape())));
}

absl::StatusOr<ExitCode> PutCommand::Run(Environment& environment) {
  WEFT_ASSIGN_OR_RETURN(const Array array, ReadArray(file_, kMaxArrayBytes));
  WEFT_ASSIGN_OR_RETURN(const ArrayType type, TypeOfFile(array));
  WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
  WEFT_ASSIGN_OR_RETURN(const v1::BufferInfo info, FindOrCreate(*connection, type));
  WEFT_RETURN_IF_ERROR(CheckFits(info, array, type));
  v1::BufferRef ref;
  ref.set_id(info.id());
  const auto bytes = std::as_bytes(std::span(array.bytes.data(), array.bytes.size()));
  WEFT_RETURN_IF_ERROR(connection->Write(ref, 0, bytes).status());
  if (json_) {
    environment.out << ToJson(info);
  } else {
    environment.out << Printable(name_) << "  " << FormatDataType(info.data_type()) << " "
                    << FormatShape(info.shape()) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakePutCommand() { return std::make_unique<PutCommand>(); }

}  // namespace weft::cli
