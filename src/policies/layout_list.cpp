#include "policies/layout_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace partita::policies {
namespace {

// "1,4g.20gb:0": meant as two layouts, but a comma joins the instances of one.
bool mixes_numbers_and_texts(std::string_view item) {
  const auto parts = split(item, ',');
  const auto written_out = [](std::string_view part) { return has_layout_text(part); };
  return parts.size() > 1 && !std::all_of(parts.begin(), parts.end(), written_out);
}

}  // namespace

bool has_layout_text(std::string_view text) {
  return text.find(':') != std::string_view::npos || text.find("g.") != std::string_view::npos;
}

Result<std::vector<mig::Layout>> parse_layout_list(const mig::GpuModel& model, std::uint32_t gpus,
                                                   std::string_view text) {
  const bool semicolons = has_layout_text(text) || text.find(';') != std::string_view::npos;
  std::vector<mig::Layout> layouts;
  for (const std::string_view item : split(text, semicolons ? ';' : ',')) {
    Result<mig::Layout> layout = mig::parse_layout_reference(model, trim(item));
    if (!layout && mixes_numbers_and_texts(item)) {
      return Error{layout.error().message + "; layouts are separated by semicolons"};
    }
    if (!layout) return layout.error();
    layouts.push_back(*layout);
  }
  if (layouts.size() == 1) layouts.resize(gpus, layouts.front());
  if (layouts.size() != gpus) {
    return Error{
        fmt::format("'{}' lists {} layouts for {} GPU{}; give one for each GPU, or one for all",
                    text, layouts.size(), gpus, gpus == 1 ? "" : "s")};
  }
  return layouts;
}

Result<std::vector<mig::Layout>> parse_slashed_layouts(const mig::GpuModel& model,
                                                       std::uint32_t gpus, std::string_view text) {
  std::string list(text);
  std::replace(list.begin(), list.end(), '/', has_layout_text(text) ? ';' : ',');
  return parse_layout_list(model, gpus, list);
}

}  // namespace partita::policies
