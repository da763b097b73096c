#include "cli/text/layout_picture.h"

#include <fmt/format.h>

namespace partita::cli {
namespace {

// Two memory slices and the bar between them have space for "2g.10gb".
constexpr std::size_t kColumnsPerSlice = 3;

std::string box(const std::string& name, int slices) {
  const auto count = static_cast<std::size_t>(slices);
  const std::size_t width = count * kColumnsPerSlice + count - 1;
  const std::string label = name.size() <= width ? name : name.substr(0, name.find('.'));
  return fmt::format("{:<{}}|", label, width);
}

}  // namespace

std::string layout_picture(const mig::GpuModel& model, const mig::Layout& layout) {
  std::string picture = "|";
  for (int slice = 0; slice < model.memory_slices;) {
    const auto placed = layout.at(static_cast<std::uint8_t>(slice));
    if (placed) {
      const mig::Profile& profile = model.profiles[placed->profile];
      picture += box(profile.name, profile.memory_slices);
      slice += profile.memory_slices;
    } else {
      picture += box(" . ", 1);
      ++slice;
    }
  }
  return picture;
}

}  // namespace partita::cli
