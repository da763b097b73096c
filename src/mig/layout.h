// Layout: the set of instances placed on one GPU.
//
// Text form: "4g.20gb:0,3g.20gb:4", profile and first memory slice, as `nvidia-smi mig -cgi` takes
// it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mig/gpu_model.h"

namespace partita::mig {

// One instance: a profile at a first memory slice.
struct Placement {
  ProfileIndex profile = 0;
  std::uint8_t start = 0;

  constexpr auto operator<=>(const Placement&) const = default;
};

// A value: copyable, comparable, hashable. Instances are kept in order of start.
class Layout {
 public:
  Layout() = default;

  std::span<const Placement> instances() const { return {placed_.data(), count_}; }
  bool empty() const { return count_ == 0; }
  bool contains(Placement placement) const;
  std::optional<Placement> at(std::uint8_t start) const;

  // REQUIRES: the result is legal (see why_not) and `start` is free.
  void add(Placement placement);
  // REQUIRES: contains(placement).
  void remove(Placement placement);

  bool operator==(const Layout& other) const;
  std::strong_ordering operator<=>(const Layout& other) const;

 private:
  std::array<Placement, kMemorySlicesMax> placed_{};
  std::uint8_t count_ = 0;
};

// Memory slices a placement occupies, bit i for slice i.
std::uint8_t memory_mask(const GpuModel& model, Placement placement);
std::uint8_t memory_mask(const GpuModel& model, const Layout& layout);
int compute_slices_used(const GpuModel& model, const Layout& layout);

// Whether `placement` can be added to `layout`: why_not without the sentence, and without its cost.
bool fits(const GpuModel& model, const Layout& layout, Placement placement);

// Why `placement` cannot be added to `layout`, in one sentence ("3g.20gb needs memory slices 4-7;
// 2g.10gb:4 holds 4-5"), or nothing when it can.
std::optional<std::string> why_not(const GpuModel& model, const Layout& layout,
                                   Placement placement);

// Parses and checks. Profiles as parse_profile takes them; a missing ":start" is refused with the
// legal starts. Empty text is the empty layout only as "empty".
Result<Layout> parse_layout(const GpuModel& model, std::string_view text);
std::string format_placement(const GpuModel& model, Placement placement);
std::string format_layout(const GpuModel& model, const Layout& layout);

// The papers' configurations: 1..12 on every 7-slice GPU (the A100's numbers of SMART-MIG, with the
// same shapes on its siblings); on other parts the maximal plain layouts in listing order, from 1.
Result<Layout> numbered_layout(const GpuModel& model, int number);
int numbered_layouts_count(const GpuModel& model);
std::optional<int> number_of(const GpuModel& model, const Layout& layout);
// The technical report's own table of 19, written t1..t19 (entries that are not placeable in the
// report's order are placed in a legal one).
Result<Layout> tech_report_layout(const GpuModel& model, int number);

// A number ("3"), a tech-report number ("t12") or a layout text.
Result<Layout> parse_layout_reference(const GpuModel& model, std::string_view text);

}  // namespace partita::mig

template <>
struct std::hash<partita::mig::Layout> {
  std::size_t operator()(const partita::mig::Layout& layout) const noexcept;
};
