#include <fmt/format.h>

#include <array>

#include "base/check.h"
#include "base/text.h"
#include "mig/enumerate.h"
#include "mig/layout.h"

namespace partita::mig {
namespace {

// One character an instance, packed from memory slice 0 without gaps: its compute slices, or 'd'
// for a 1g with double memory.
using Shapes = std::string_view;

// SMART-MIG figure 2, in its order of slots. Numbers are 1-based.
constexpr std::array<Shapes, 12> kPapers = {
    "7",    "43",    "42d",  "411d",  "33",     "223",  //
    "2113", "11113", "222d", "2211d", "21111d", "111111d",
};

// MIG_PROFILE of the technical report. Its entries 7 and 15 to 18 put a 1g in memory slice 7 or a
// 2g at 6, where none can be; here the double-memory 1g has slices 6-7 instead, which makes 17 and
// 18 the same layout.
constexpr std::array<Shapes, 19> kTechReport = {
    "7",     "43",   "42d",   "4111",  "33",     "32d",    "311d",   "223",    "2113",    "1123",
    "11113", "222d", "2112d", "1122d", "21111d", "11211d", "11112d", "11112d", "1111111",
};

bool seven_slices(const GpuModel& model) {
  return model.compute_slices == 7 && model.memory_slices == 8;
}

ProfileIndex profile_of_shape(const GpuModel& model, char shape) {
  const bool doubled = shape == 'd';
  const int compute_slices = doubled ? 1 : shape - '0';
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const Profile& profile = model.profiles[i];
    if (profile.compute_slices == compute_slices && profile.double_memory == doubled &&
        !profile.media) {
      return static_cast<ProfileIndex>(i);
    }
  }
  CHECK(false);
  return 0;
}

Layout packed(const GpuModel& model, Shapes shapes) {
  Layout layout;
  int start = 0;
  for (const char shape : shapes) {
    const ProfileIndex profile = profile_of_shape(model, shape);
    const Placement placement{profile, static_cast<std::uint8_t>(start)};
    CHECK(fits(model, layout, placement));
    layout.add(placement);
    start += model.profiles[profile].memory_slices;
  }
  return layout;
}

Error no_such_number(const GpuModel& model, std::string_view prefix, int number, int count) {
  return {fmt::format("{} has no layout {}{}; its numbered layouts are {}1 to {}{}", model.key,
                      prefix, number, prefix, prefix, count)};
}

// A number small enough to be looked up, from "3" or (without its t) "t12".
std::optional<int> parse_number(std::string_view text) {
  const std::optional<std::int64_t> number = parse_int(text);
  constexpr std::int64_t kLookedUpMax = 1'000'000;
  if (!number || *number < -kLookedUpMax || *number > kLookedUpMax) return {};
  return static_cast<int>(*number);
}

}  // namespace

int numbered_layouts_count(const GpuModel& model) {
  if (seven_slices(model)) return static_cast<int>(kPapers.size());
  return static_cast<int>(maximal_layouts(model, {}).size());
}

Result<Layout> numbered_layout(const GpuModel& model, int number) {
  const int count = numbered_layouts_count(model);
  if (number < 1 || number > count) return no_such_number(model, "", number, count);
  const auto index = static_cast<std::size_t>(number - 1);
  if (seven_slices(model)) return packed(model, kPapers[index]);
  return maximal_layouts(model, {})[index];
}

std::optional<int> number_of(const GpuModel& model, const Layout& layout) {
  const int count = numbered_layouts_count(model);
  for (int number = 1; number <= count; ++number) {
    if (*numbered_layout(model, number) == layout) return number;
  }
  return {};
}

Result<Layout> tech_report_layout(const GpuModel& model, int number) {
  if (!seven_slices(model)) {
    return Error{
        fmt::format("{} has no layout t{}; the technical report's are for GPUs with 7 "
                    "compute slices",
                    model.key, number)};
  }
  constexpr int kCount = static_cast<int>(kTechReport.size());
  if (number < 1 || number > kCount) return no_such_number(model, "t", number, kCount);
  return packed(model, kTechReport[static_cast<std::size_t>(number - 1)]);
}

Result<Layout> parse_layout_reference(const GpuModel& model, std::string_view text) {
  text = trim(text);
  if (const std::optional<int> number = parse_number(text)) return numbered_layout(model, *number);
  if (!text.empty() && (text.front() == 't' || text.front() == 'T')) {
    const std::optional<int> number = parse_number(text.substr(1));
    if (number) return tech_report_layout(model, *number);
  }
  return parse_layout(model, text);
}

}  // namespace partita::mig
