#include "mig/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/fnv.h"
#include "base/text.h"

namespace partita::mig {
namespace {

const Profile& profile_of(const GpuModel& model, Placement placement) {
  CHECK(placement.profile < model.profiles.size());
  return model.profiles[placement.profile];
}

bool legal_start(const Profile& profile, std::uint8_t start) {
  return std::find(profile.starts.begin(), profile.starts.end(), start) != profile.starts.end();
}

std::optional<Placement> media_instance(const GpuModel& model, const Layout& layout) {
  for (const Placement placement : layout.instances()) {
    if (profile_of(model, placement).media) return placement;
  }
  return {};
}

std::string slice_range(int start, int size) {
  return size == 1 ? fmt::format("{}", start) : fmt::format("{}-{}", start, start + size - 1);
}

std::string starts_sentence(const Profile& profile) {
  return fmt::format("its legal start{} {}", profile.starts.size() == 1 ? " is" : "s are",
                     fmt::join(profile.starts, ", "));
}

// REQUIRES: `placement` has a legal start and overlaps an instance of `layout`.
std::string overlap_sentence(const GpuModel& model, const Layout& layout, Placement placement) {
  const std::uint8_t wanted = memory_mask(model, placement);
  std::vector<std::string> holders;
  for (const Placement other : layout.instances()) {
    if ((memory_mask(model, other) & wanted) == 0) continue;
    holders.push_back(
        fmt::format("{} holds {}", format_placement(model, other),
                    slice_range(other.start, profile_of(model, other).memory_slices)));
  }
  CHECK(!holders.empty());
  const Profile& profile = profile_of(model, placement);
  return fmt::format("{} needs memory slice{} {}; {}", profile.name,
                     profile.memory_slices == 1 ? "" : "s",
                     slice_range(placement.start, profile.memory_slices), fmt::join(holders, ", "));
}

Result<Placement> parse_placement(const GpuModel& model, std::string_view text) {
  const auto colon = text.rfind(':');
  const Result<ProfileIndex> index = parse_profile(model, text.substr(0, colon));
  if (!index) return index.error();
  const Profile& profile = model.profiles[*index];
  if (colon == std::string_view::npos) {
    return Error{fmt::format("'{}' has no start (as in {}:{}); {}", text, profile.name,
                             profile.starts.front(), starts_sentence(profile))};
  }
  const std::string_view start_text = trim(text.substr(colon + 1));
  const std::optional<std::int64_t> start = parse_int(start_text);
  if (!start || *start < 0 || *start >= kMemorySlicesMax) {
    return Error{fmt::format("{} cannot start at '{}'; {}", profile.name, start_text,
                             starts_sentence(profile))};
  }
  return Placement{*index, static_cast<std::uint8_t>(*start)};
}

}  // namespace

bool Layout::contains(Placement placement) const {
  const auto placed = instances();
  return std::find(placed.begin(), placed.end(), placement) != placed.end();
}

std::optional<Placement> Layout::at(std::uint8_t start) const {
  for (const Placement placement : instances()) {
    if (placement.start == start) return placement;
  }
  return {};
}

void Layout::add(Placement placement) {
  CHECK(count_ < placed_.size());
  CHECK(!at(placement.start));
  std::size_t i = count_++;
  for (; i > 0 && placed_[i - 1].start > placement.start; --i) placed_[i] = placed_[i - 1];
  placed_[i] = placement;
}

void Layout::remove(Placement placement) {
  const auto end = placed_.begin() + count_;
  const auto found = std::find(placed_.begin(), end, placement);
  CHECK(found != end);
  std::move(found + 1, end, found);
  placed_[--count_] = {};
}

bool Layout::operator==(const Layout& other) const {
  return std::ranges::equal(instances(), other.instances());
}

std::strong_ordering Layout::operator<=>(const Layout& other) const {
  const auto mine = instances();
  const auto theirs = other.instances();
  return std::lexicographical_compare_three_way(mine.begin(), mine.end(), theirs.begin(),
                                                theirs.end());
}

std::uint8_t memory_mask(const GpuModel& model, Placement placement) {
  const Profile& profile = profile_of(model, placement);
  CHECK(placement.start + profile.memory_slices <= kMemorySlicesMax);
  return static_cast<std::uint8_t>(((1U << profile.memory_slices) - 1U) << placement.start);
}

std::uint8_t memory_mask(const GpuModel& model, const Layout& layout) {
  std::uint8_t mask = 0;
  for (const Placement placement : layout.instances()) mask |= memory_mask(model, placement);
  return mask;
}

int compute_slices_used(const GpuModel& model, const Layout& layout) {
  int slices = 0;
  for (const Placement placement : layout.instances()) {
    slices += profile_of(model, placement).compute_slices;
  }
  return slices;
}

// Legal starts and disjoint memory slices imply that compute slices and instances_max suffice on
// every part of the catalogue; the tests check it over all layouts.
bool fits(const GpuModel& model, const Layout& layout, Placement placement) {
  const Profile& profile = profile_of(model, placement);
  return legal_start(profile, placement.start) &&
         (memory_mask(model, layout) & memory_mask(model, placement)) == 0 &&
         !(profile.media && media_instance(model, layout));
}

std::optional<std::string> why_not(const GpuModel& model, const Layout& layout,
                                   Placement placement) {
  if (fits(model, layout, placement)) return {};
  const Profile& profile = profile_of(model, placement);
  if (!legal_start(profile, placement.start)) {
    return fmt::format("{} cannot start at memory slice {}; {}", profile.name, placement.start,
                       starts_sentence(profile));
  }
  if ((memory_mask(model, layout) & memory_mask(model, placement)) != 0) {
    return overlap_sentence(model, layout, placement);
  }
  const std::optional<Placement> media = media_instance(model, layout);
  CHECK(media);
  return fmt::format("{} is a second +me instance; a GPU takes at most one, and {} is there",
                     format_placement(model, placement), format_placement(model, *media));
}

Result<Layout> parse_layout(const GpuModel& model, std::string_view text) {
  text = trim(text);
  Layout layout;
  if (lower(text) == "empty") return layout;
  if (text.empty()) {
    return Error{fmt::format("a layout is a list of profile:start, like '{}:0,{}:1', or 'empty'",
                             model.profiles.front().name, model.profiles.front().name)};
  }
  for (const std::string_view part : split(text, ',')) {
    const Result<Placement> placement = parse_placement(model, trim(part));
    if (!placement) return placement.error();
    if (std::optional<std::string> reason = why_not(model, layout, *placement)) {
      return Error{std::move(*reason)};
    }
    layout.add(*placement);
  }
  return layout;
}

std::string format_placement(const GpuModel& model, Placement placement) {
  return fmt::format("{}:{}", profile_of(model, placement).name, placement.start);
}

std::string format_layout(const GpuModel& model, const Layout& layout) {
  if (layout.empty()) return "empty";
  std::vector<std::string> parts;
  for (const Placement placement : layout.instances()) {
    parts.push_back(format_placement(model, placement));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace partita::mig

std::size_t std::hash<partita::mig::Layout>::operator()(
    const partita::mig::Layout& layout) const noexcept {
  partita::Fnv hash;
  for (const partita::mig::Placement placement : layout.instances()) {
    hash.add_byte(placement.profile);
    hash.add_byte(placement.start);
  }
  return static_cast<std::size_t>(hash.value());
}
