#include "client/cli/code_report.h"

#include <cxxabi.h>
#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/output.h"
#include "kernels/compile/occupancy.h"

namespace weft::cli {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using kernels::CodeInfo;
using kernels::KernelInfo;
using kernels::Occupancy;

// "void scale<float>(float*, float, int)" for its name in the module; others as they are.
std::string Demangled(const std::string& symbol) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  int status = 0;
  const std::unique_ptr<char, Free> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status));
  return status == 0 && text != nullptr ? std::string(text.get()) : symbol;
}

std::optional<kernels::MultiprocessorLimits> LimitsFor(const CodeInfo& info,
                                                       const CodeReportOptions& options) {
  if (options.architecture.has_value()) return kernels::LimitsOf(*options.architecture);
  const std::optional<uint32_t> own = kernels::ParseArchitecture(info.architecture);
  return own.has_value() ? kernels::LimitsOf(*own) : std::nullopt;
}

uint64_t ParameterBytes(const KernelInfo& kernel) {
  uint64_t end = 0;
  for (const kernels::KernelParameterInfo& parameter : kernel.parameters) {
    end = std::max(end, uint64_t{parameter.offset_bytes} + parameter.size_bytes);
  }
  return end;
}

uint64_t MaxThreads(const KernelInfo& kernel) {
  return uint64_t{kernel.max_block[0]} * kernel.max_block[1] * kernel.max_block[2];
}

std::string SizesOf(const KernelInfo& kernel) {
  std::string text;
  for (const kernels::KernelParameterInfo& parameter : kernel.parameters) {
    absl::StrAppend(&text, text.empty() ? "" : " ", parameter.size_bytes);
  }
  return text.empty() ? "-" : text;
}

std::string OccupancyText(const Occupancy& occupancy) {
  if (occupancy.blocks == 0) return "does not fit";
  return absl::StrFormat("%.0f%% (%d blocks; %s)", 100 * occupancy.fraction, occupancy.blocks,
                         kernels::NameOf(occupancy.limit));
}

void PrintKernels(std::ostream& out, const CodeInfo& info, const CodeReportOptions& options) {
  using Align = Table::Align;
  const auto limits = LimitsFor(info, options);
  Table table({{"KERNEL"},
               {"PARAMETER BYTES"},
               {"REGISTERS", Align::kRight},
               {"STACK", Align::kRight},
               {"SHARED", Align::kRight},
               {"CONSTANT", Align::kRight},
               {"MAX BLOCK", Align::kRight},
               {absl::StrCat("OCCUPANCY AT ", options.block_threads)},
               {"BEST BLOCK", Align::kRight}});
  for (const KernelInfo& kernel : info.kernels) {
    std::vector<std::string> row = {Printable(Demangled(kernel.name)), SizesOf(kernel)};
    const uint64_t threads = MaxThreads(kernel);
    const std::string most = threads == 0 ? "-" : absl::StrCat(threads);
    if (!kernel.resources.has_value()) {
      row.insert(row.end(), {"-", "-", "-", "-", most, "-", "-"});
      table.AddRow(std::move(row));
      continue;
    }
    const kernels::KernelResources& resources = *kernel.resources;
    row.insert(row.end(), {absl::StrCat(resources.registers), FormatBytes(resources.stack_bytes),
                           FormatBytes(resources.static_shared_bytes),
                           FormatBytes(resources.constant_bytes), most});
    if (limits.has_value()) {
      row.push_back(OccupancyText(kernels::ComputeOccupancy(*limits, kernel, options.block_threads,
                                                            options.dynamic_shared_bytes)));
      row.push_back(
          absl::StrCat(kernels::BestBlockThreads(*limits, kernel, options.dynamic_shared_bytes)));
    } else {
      row.insert(row.end(), {"-", "-"});
    }
    table.AddRow(std::move(row));
  }
  table.Print(out);
}

void SetNumber(Struct& object, const char* name, double number) {
  (*object.mutable_fields())[name].set_number_value(number);
}

void SetText(Struct& object, const char* name, const std::string& text) {
  (*object.mutable_fields())[name].set_string_value(Printable(text));
}

void FillKernel(const CodeInfo& info, const KernelInfo& kernel, const CodeReportOptions& options,
                Struct& out) {
  SetText(out, "name", Demangled(kernel.name));
  SetText(out, "symbol", kernel.name);
  SetNumber(out, "parameter_bytes", static_cast<double>(ParameterBytes(kernel)));
  ListValue& parameters = *(*out.mutable_fields())["parameters"].mutable_list_value();
  for (const kernels::KernelParameterInfo& parameter : kernel.parameters) {
    Struct& entry = *parameters.add_values()->mutable_struct_value();
    SetNumber(entry, "offset_bytes", parameter.offset_bytes);
    SetNumber(entry, "size_bytes", parameter.size_bytes);
  }
  if (MaxThreads(kernel) != 0) {
    SetNumber(out, "max_threads_per_block", static_cast<double>(MaxThreads(kernel)));
  }
  if (!kernel.resources.has_value()) return;
  const kernels::KernelResources& resources = *kernel.resources;
  SetNumber(out, "registers", resources.registers);
  SetNumber(out, "stack_bytes", resources.stack_bytes);
  SetNumber(out, "static_shared_bytes", resources.static_shared_bytes);
  SetNumber(out, "constant_bytes", resources.constant_bytes);
  const auto limits = LimitsFor(info, options);
  if (!limits.has_value()) return;
  const Occupancy occupancy = kernels::ComputeOccupancy(*limits, kernel, options.block_threads,
                                                        options.dynamic_shared_bytes);
  SetNumber(out, "block_threads", options.block_threads);
  SetNumber(out, "blocks_per_multiprocessor", occupancy.blocks);
  SetNumber(out, "occupancy", occupancy.fraction);
  SetText(out, "limited_by", std::string(kernels::NameOf(occupancy.limit)));
  SetNumber(out, "best_block_threads",
            kernels::BestBlockThreads(*limits, kernel, options.dynamic_shared_bytes));
}

void FillImage(const ReportedImage& image, const CodeReportOptions& options, Struct& out) {
  SetText(out, "architecture", image.info.architecture);
  if (!image.unread.empty()) SetText(out, "unread", image.unread);
  ListValue& kernel_list = *(*out.mutable_fields())["kernels"].mutable_list_value();
  for (const KernelInfo& kernel : image.info.kernels) {
    FillKernel(image.info, kernel, options, *kernel_list.add_values()->mutable_struct_value());
  }
  ListValue& variables = *(*out.mutable_fields())["variables"].mutable_list_value();
  for (const kernels::VariableInfo& variable : image.info.variables) {
    Struct& entry = *variables.add_values()->mutable_struct_value();
    SetText(entry, "name", variable.name);
    SetNumber(entry, "size_bytes", static_cast<double>(variable.size_bytes));
    SetText(entry, "memory", variable.constant ? "constant" : "global");
  }
}

}  // namespace

void PrintCode(std::ostream& out, const std::vector<ReportedImage>& images,
               const CodeReportOptions& options) {
  bool first = true;
  for (const ReportedImage& image : images) {
    if (!first) out << "\n";
    first = false;
    out << image.info.architecture << "\n";
    if (!image.unread.empty()) {
      out << Printable(image.unread) << "\n";
      continue;
    }
    PrintKernels(out, image.info, options);
    if (absl::StartsWith(image.info.architecture, "compute_")) {
      out << "PTX: what a kernel takes is known when the device's driver has compiled it\n";
    }
    for (const kernels::VariableInfo& variable : image.info.variables) {
      out << (variable.constant ? "constant " : "variable ") << Printable(Demangled(variable.name))
          << ": " << FormatBytes(variable.size_bytes) << "\n";
    }
  }
}

std::string CodeToJson(const std::vector<ReportedImage>& images, const CodeReportOptions& options) {
  Struct report;
  ListValue& list = *(*report.mutable_fields())["images"].mutable_list_value();
  for (const ReportedImage& image : images) {
    FillImage(image, options, *list.add_values()->mutable_struct_value());
  }
  return ToJson(report);
}

}  // namespace weft::cli
