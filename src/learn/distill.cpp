#include "learn/distill.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/check.h"
#include "policies/learned/learned_repartitioner.h"
#include "policies/registry.h"
#include "sim/engine.h"

namespace partita::learn {
namespace {

constexpr std::array<double, 15> kBacklogs{0,   0.5, 0.75, 1, 1.25, 1.5, 1.75, 2,
                                           2.5, 3,   4,    5, 7,    10,  15};

struct Cell {
  std::uint64_t visits = 0;
  std::vector<double> sums;  // of shares, by layout
};

// By row of hours and backlog.
using Cells = std::map<std::pair<int, std::size_t>, Cell>;

// Hands everything on and notes the mix after each decision.
class Recorder : public decide::Repartitioner {
 public:
  Recorder(decide::Repartitioner& inner, const policies::MixMenu& menu, int hours_per_row,
           Cells& cells)
      : inner_(inner), menu_(menu), hours_per_row_(hours_per_row), cells_(cells) {}

  std::vector<mig::Layout> initial_layouts(const decide::View& view) override {
    present_ = inner_.initial_layouts(view);
    return present_;
  }
  std::optional<Micros> next_time(Micros now) const override { return inner_.next_time(now); }
  std::uint64_t every_events() const override { return inner_.every_events(); }
  bool watches_arrivals() const override { return inner_.watches_arrivals(); }
  void job_arrived(const decide::View& view, cluster::JobHandle job) override {
    inner_.job_arrived(view, job);
  }
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override {
    inner_.decide(view, requests);
    for (const auto& request : requests) present_[request.gpu.value] = request.layout;
    note(view);
  }

 private:
  void note(const decide::View& view) {
    const double jobs =
        static_cast<double>(view.jobs.size()) / static_cast<double>(present_.size());
    const auto backlog = static_cast<std::size_t>(
        std::upper_bound(kBacklogs.begin(), kBacklogs.end(), jobs) - kBacklogs.begin() - 1);
    const int hour = static_cast<int>(view.now.count / 3'600'000'000 % 24);
    Cell& cell = cells_[{hour / hours_per_row_ * hours_per_row_, backlog}];
    ++cell.visits;
    cell.sums.resize(menu_.layouts.size());
    for (const mig::Layout& layout : present_) {
      const auto at = std::find(menu_.layouts.begin(), menu_.layouts.end(), layout);
      CHECK(at != menu_.layouts.end());
      cell.sums[static_cast<std::size_t>(at - menu_.layouts.begin())] +=
          1 / static_cast<double>(present_.size());
    }
  }

  decide::Repartitioner& inner_;
  const policies::MixMenu& menu_;
  int hours_per_row_;
  Cells& cells_;
  std::vector<mig::Layout> present_;
};

std::string mix_text(const Cell& cell, const policies::MixMenu& menu, int parts) {
  std::vector<float> shares;
  for (const double sum : cell.sums) {
    shares.push_back(static_cast<float>(sum / static_cast<double>(cell.visits)));
  }
  const auto counts = policies::counts_for(shares, static_cast<std::uint32_t>(parts));
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += fmt::format("{}{}*{}", text.empty() ? "" : ",", menu.numbers[i], counts[i]);
  }
  return text;
}

std::string table_text(const Cells& cells, const policies::MixMenu& menu,
                       const DistillOptions& options) {
  std::string text =
      "# What a learned policy does, by hour of the day and jobs for each GPU.\n"
      "# From HOUR and from JOBS on, the fleet is to have MIX: papers' layout * parts of it.\n"
      "# HOUR JOBS MIX\n";
  std::pair<int, std::string> last{-1, ""};
  for (const auto& [key, cell] : cells) {
    if (cell.visits < options.visits) continue;
    const std::pair<int, std::string> row{key.first, mix_text(cell, menu, options.parts)};
    if (row == last) continue;  // says nothing new
    text += fmt::format("{:>2} {:>5} {}\n", key.first, kBacklogs[key.second], row.second);
    last = row;
  }
  return text;
}

}  // namespace

Result<std::string> distill(const nn::Model& model, const DistillOptions& options) {
  const auto rules = policies::read_rules(model, *options.run.model);
  if (!rules) return rules.error();
  Cells cells;
  for (const workload::Trace& day : options.days) {
    const auto scheduler = policies::make_scheduler(options.scheduler, 1);
    if (!scheduler) return scheduler.error();
    policies::LearnedRepartitioner learned(model, *rules, options.run.gpus);
    Recorder recorder(learned, rules->menu, options.hours_per_row, cells);
    const auto result = sim::simulate(day, options.run, **scheduler, recorder);
    if (!result) return result.error();
  }
  const bool any = std::ranges::any_of(
      cells, [&](const auto& each) { return each.second.visits >= options.visits; });
  if (!any) return Error{"the days are too few to say what the model does"};
  return table_text(cells, rules->menu, options);
}

}  // namespace partita::learn
