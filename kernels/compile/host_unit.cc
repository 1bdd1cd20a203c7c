#include "kernels/compile/host_unit.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace weft::kernels {
namespace {

constexpr size_t kMaxNameBytes = 64;

std::string Row(const std::string& entry) {
  return absl::StrCat("#line 1 \"entry ", entry, "\"\n", "    weft_on_host::Entry<decltype(&",
                      entry, "), &", entry, ">::Row(\"", entry, "\"),\n");
}

}  // namespace

std::string SourceFileName(const CudaSource& source) {
  std::string name = source.name.substr(0, kMaxNameBytes);
  for (char& c : name) {
    const bool plain = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return absl::StrCat(name.empty() ? "kernel" : name, ".cu");
}

std::string HostUnit(const CudaSource& source, const std::string& code, int globals) {
  std::string unit =
      absl::StrCat("#include \"kernels/compile/host/cuda_on_host.h\"\n#line 1 \"",
                   SourceFileName(source), "\"\n", code, "\n#line 1 \"the image's table\"\n");
  absl::StrAppend(&unit, "namespace weft_on_host {\nstatic const weft_host_image* Table() {\n",
                  "  static weft_host_global globals[", globals + 1, "];\n");
  absl::StrAppend(&unit, "  static const uint32_t global_count = Global::List(globals);\n");
  absl::StrAppend(&unit, "  static constexpr weft_host_kernel kernels[] = {\n");
  for (const std::string& entry : source.entries) absl::StrAppend(&unit, Row(entry));
  absl::StrAppend(&unit, "#line 9 \"the image's table\"\n  };\n",
                  "  static const weft_host_image image = {WEFT_HOST_IMAGE_ABI, ",
                  source.entries.size(), ", kernels, global_count, globals};\n",
                  "  return &image;\n}\n}\n");
  absl::StrAppend(&unit, "extern \"C\" __attribute__((visibility(\"default\")))\n",
                  "const weft_host_image* weft_host_image_table() {\n",
                  "  return weft_on_host::Table();\n}\n");
  return unit;
}

}  // namespace weft::kernels
