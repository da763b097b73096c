// libFuzzer target: whatever text is given, parsing answers, and what it accepts prints and parses
// back to itself. The first byte picks the GPU.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "mig/layout.h"

namespace partita::mig {
namespace {

void check_profile(const GpuModel& model, std::string_view text) {
  const Result<ProfileIndex> index = parse_profile(model, text);
  if (!index) {
    CHECK(!index.error().message.empty());
    return;
  }
  const Result<ProfileIndex> again = parse_profile(model, model.profiles[*index].name);
  CHECK(again.ok());
  CHECK(*again == *index);
}

void check_layout(const GpuModel& model, std::string_view text) {
  const Result<Layout> layout = parse_layout_reference(model, text);
  if (!layout) {
    CHECK(!layout.error().message.empty());
    return;
  }
  CHECK(compute_slices_used(model, *layout) <= model.compute_slices);
  const Result<Layout> again = parse_layout_reference(model, format_layout(model, *layout));
  CHECK(again.ok());
  CHECK(*again == *layout);
}

}  // namespace
}  // namespace partita::mig

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& models = partita::mig::catalogue();
  const partita::mig::GpuModel& model = *models[data[0] % models.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  partita::mig::check_profile(model, text);
  partita::mig::check_layout(model, text);
  return 0;
}
