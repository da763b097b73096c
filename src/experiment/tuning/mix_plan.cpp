#include "experiment/tuning/mix_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "policies/repartitioners/static_layouts.h"

namespace partita::experiment {
namespace {

// `wanted` on the GPUs that have `present`: who has one of the wanted keeps it.
std::vector<int> rearrange(const std::vector<int>& present, Mix wanted) {
  std::vector<int> next(present.size(), 0);
  for (std::size_t gpu = 0; gpu < present.size(); ++gpu) {
    const auto kept = std::find(wanted.begin(), wanted.end(), present[gpu]);
    if (kept == wanted.end()) continue;
    next[gpu] = *kept;
    wanted.erase(kept);
  }
  for (int& number : next) {
    if (number != 0) continue;
    number = wanted.front();
    wanted.erase(wanted.begin());
  }
  return next;
}

std::vector<mig::Layout> layouts_of(const std::vector<int>& numbers, const mig::GpuModel& model) {
  std::vector<mig::Layout> layouts;
  for (const int number : numbers) {
    const auto layout = mig::numbered_layout(model, number);
    CHECK(layout.ok());
    layouts.push_back(*layout);
  }
  return layouts;
}

}  // namespace

std::vector<std::vector<int>> assign_gpus(const MixPlan& plan) {
  CHECK(!plan.segments.empty());
  std::vector<std::vector<int>> assigned{plan.segments.front().mix};
  for (std::size_t i = 1; i < plan.segments.size(); ++i) {
    assigned.push_back(rearrange(assigned.back(), plan.segments[i].mix));
  }
  return assigned;
}

std::string to_text(const MixPlan& plan) {
  const std::vector<std::vector<int>> assigned = assign_gpus(plan);
  if (assigned.size() == 1) return fmt::format("static:{}", fmt::join(assigned[0], ","));
  std::string text = "timetable:";
  for (std::size_t i = 0; i < assigned.size(); ++i) {
    const std::int64_t minutes = plan.segments[i].from.count / 60'000'000;
    text += fmt::format("{}{:02}:{:02}={}", i == 0 ? "" : ",", minutes / 60, minutes % 60,
                        fmt::join(assigned[i], ","));
  }
  return text;
}

std::unique_ptr<decide::Repartitioner> repartitioner_of(const MixPlan& plan,
                                                        const mig::GpuModel& model) {
  const std::vector<std::vector<int>> assigned = assign_gpus(plan);
  if (assigned.size() == 1) {
    return std::make_unique<policies::StaticLayouts>(layouts_of(assigned[0], model));
  }
  std::vector<policies::TimetableSwitch> switches;
  for (std::size_t i = 0; i < assigned.size(); ++i) {
    switches.push_back({plan.segments[i].from, layouts_of(assigned[i], model)});
  }
  return std::make_unique<policies::Timetable>(std::move(switches));
}

}  // namespace partita::experiment
