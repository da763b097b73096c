#include "policies/layout_list.h"

#include <fmt/format.h>

#include "base/text.h"

namespace partita::policies {

Result<std::vector<mig::Layout>> parse_layout_list(const mig::GpuModel& model, std::uint32_t gpus,
                                                   std::string_view text) {
  const bool has_layout_text = text.find("g.") != std::string_view::npos;
  const bool semicolons = has_layout_text || text.find(';') != std::string_view::npos;
  std::vector<mig::Layout> layouts;
  for (const std::string_view item : split(text, semicolons ? ';' : ',')) {
    Result<mig::Layout> layout = mig::parse_layout_reference(model, trim(item));
    if (!layout) return layout.error();
    layouts.push_back(*layout);
  }
  if (layouts.size() == 1) layouts.resize(gpus, layouts.front());
  if (layouts.size() != gpus) {
    return Error{
        fmt::format("'{}' lists {} layouts for {} GPUs; give one for each GPU, or one for all",
                    text, layouts.size(), gpus)};
  }
  return layouts;
}

}  // namespace partita::policies
