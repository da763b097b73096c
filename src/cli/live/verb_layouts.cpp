#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/text/layout_picture.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "mig/enumerate.h"

namespace partita::cli {
namespace {

using mig::GpuModel;
using mig::Layout;

struct Used {
  int compute = 0;
  int memory = 0;
  int sms = 0;
};

Used used_by(const GpuModel& model, const Layout& layout) {
  Used used;
  for (const mig::Placement placement : layout.instances()) {
    const mig::Profile& profile = model.profiles[placement.profile];
    used.compute += profile.compute_slices;
    used.memory += profile.memory_slices;
    used.sms += profile.sms;
  }
  return used;
}

nlohmann::ordered_json layout_json(const GpuModel& model, const Layout& layout) {
  const Used used = used_by(model, layout);
  const auto number = mig::number_of(model, layout);
  nlohmann::ordered_json json;
  json["number"] = number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
  json["layout"] = mig::format_layout(model, layout);
  json["instances"] = layout.instances().size();
  json["compute_slices"] = used.compute;
  json["memory_slices"] = used.memory;
  json["sms"] = used.sms;
  json["picture"] = layout_picture(model, layout);
  return json;
}

std::string layouts_text(const GpuModel& model, const std::vector<Layout>& layouts, bool bold) {
  Table table({{"no.", Align::kRight},
               {"compute", Align::kRight},
               {"memory", Align::kRight},
               {"SMs", Align::kRight},
               {"memory slices 0 to " + std::to_string(model.memory_slices - 1), Align::kLeft},
               {"layout", Align::kLeft}});
  for (const Layout& layout : layouts) {
    const Used used = used_by(model, layout);
    const auto number = mig::number_of(model, layout);
    table.add({number ? std::to_string(*number) : "", std::to_string(used.compute),
               std::to_string(used.memory), std::to_string(used.sms), layout_picture(model, layout),
               mig::format_layout(model, layout)});
  }
  return table.text(bold);
}

}  // namespace

Outcome run_layouts(const Values& values, Console& console) {
  const GpuModel& model = *values.as<const GpuModel*>("gpu");
  const bool maximal = values.has_switch("maximal");
  const mig::ProfileFamilies families{values.has_switch("double-memory"),
                                      values.has_switch("media")};
  const std::vector<Layout> layouts =
      maximal ? mig::maximal_layouts(model, families) : mig::legal_layouts(model, families);
  const std::size_t mixes = mig::distinct_mixes(model, layouts).size();
  if (!values.has_switch("json")) {
    console.out.write(layouts_text(model, layouts, console.bold));
    console.out.write(fmt::format("\n{}: {} {} layouts, {} distinct mixes of profiles\n", model.key,
                                  layouts.size(), maximal ? "maximal" : "legal", mixes));
    return 0;
  }
  nlohmann::ordered_json json;
  json["gpu"] = model.key;
  json["maximal"] = maximal;
  json["count"] = layouts.size();
  json["distinct_mixes"] = mixes;
  json["layouts"] = nlohmann::ordered_json::array();
  for (const Layout& layout : layouts) json["layouts"].push_back(layout_json(model, layout));
  print_json(console, json);
  return 0;
}

}  // namespace partita::cli
