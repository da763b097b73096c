// Lists of layouts as users write them: "1,2,2,6", "1x100,2x28", "4g.20gb:0,3g.20gb:4;1".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mig/layout.h"

namespace partita::policies {

// Whether there is a layout written out ("4g.20gb:0", "9:4") in the text, rather than numbers only.
bool has_layout_text(std::string_view text);

// One layout for every GPU. Items are numbers or layout texts; they are separated by commas when
// all are numbers, else by semicolons (a layout text has commas of its own). "2x28" stands for 28
// items that are all "2". One item without such a count stands for all GPUs; any other number of
// items must be the number of GPUs.
Result<std::vector<mig::Layout>> parse_layout_list(const mig::GpuModel& model, std::uint32_t gpus,
                                                   std::string_view text);

// The same where commas and semicolons separate something else: items are separated by slashes.
Result<std::vector<mig::Layout>> parse_slashed_layouts(const mig::GpuModel& model,
                                                       std::uint32_t gpus, std::string_view text);

// A rule as --repartition takes it, for people to read: where more than eight layouts in a row have
// the same number, that is written once with how many they are. It means the same.
std::string with_runs(std::string_view rule);

}  // namespace partita::policies
