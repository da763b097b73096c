#include "policies/repartitioners/lookahead_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "policies/layout_list.h"
#include "policies/repartitioners/guarded.h"
#include "workload/generators/profiles.h"

namespace partita::policies {
namespace {

// Events a microsecond that a budget is reckoned with: what bench/simulate_bench measures for eight
// GPUs with free preemption.
constexpr std::uint64_t kEventsPerMicrosecond = 3;

struct Key {
  std::string name;
  std::string meaning;
  double low = 0;
  double high = 0;
  std::function<void(LookaheadOptions&, double)> set;
};

const std::vector<Key>& number_keys() {
  static const std::vector<Key> kKeys = {
      {"horizon", "seconds of arrivals it looks ahead, 0: 27 times the jobs' mean time", 0, 864'000,
       [](LookaheadOptions& o, double v) { o.horizon = micros_from_seconds(v); }},
      {"screen", "seconds of arrivals with which it screens changes, 0: as horizon", 0, 864'000,
       [](LookaheadOptions& o, double v) { o.screen = micros_from_seconds(v); }},
      {"margin", "arrivals it reckons with, of those it expects, 1", 0.01, 100,
       [](LookaheadOptions& o, double v) { o.margin = v; }},
      {"samples", "futures in which changes race, 4", 1, 1'000,
       [](LookaheadOptions& o, double v) { o.samples = static_cast<int>(v); }},
      {"samples_max", "futures at most, where fewer do not decide, 16", 1, 1'000,
       [](LookaheadOptions& o, double v) { o.samples_max = static_cast<int>(v); }},
      {"fleet", "GPUs it simulates of a larger fleet, 16", 1, 100'000,
       [](LookaheadOptions& o, double v) { o.fleet = static_cast<int>(v); }},
      {"every", "arrivals and completions between two turns, for each `fleet` GPUs, 30", 1, 1e9,
       [](LookaheadOptions& o, double v) { o.every_events = static_cast<std::uint64_t>(v); }},
      {"rest", "turns it skips after one that changed nothing, while load is steady, 4", 0, 1'000,
       [](LookaheadOptions& o, double v) { o.rest = static_cast<int>(v); }},
      {"wide", "layouts it tries on GPUs of every layout, 1", 1, 1'000,
       [](LookaheadOptions& o, double v) { o.wide = static_cast<int>(v); }},
      {"moves", "GPUs it may change at a turn, 1", 1, 1'000,
       [](LookaheadOptions& o, double v) { o.moves = static_cast<int>(v); }},
      {"finalists", "changes that race, 3", 1, 10'000,
       [](LookaheadOptions& o, double v) { o.finalists = static_cast<int>(v); }},
      {"caution", "standard errors a saving must exceed, 2", 0, 100,
       [](LookaheadOptions& o, double v) { o.caution = v; }},
      {"evidence", "share by which the jobs' mean time may be off, 0.1", 0, 1'000,
       [](LookaheadOptions& o, double v) { o.evidence = v; }},
      {"budget_us", "microseconds it may simulate at a turn (at 3 events each), 0: no limit", 0,
       1e12,
       [](LookaheadOptions& o, double v) {
         o.budget_events = static_cast<std::uint64_t>(v) * kEventsPerMicrosecond;
       }},
      {"loss_max", "per cent of ET it may lose before it goes back to `start`, 1; 1000: any", 0,
       kLossMaxPercent, [](LookaheadOptions& o, double v) { o.loss_max = loss_max_of(v); }},
      {"seed", "of its futures, 1", 0, 9e15,
       [](LookaheadOptions& o, double v) { o.seed = static_cast<std::uint64_t>(v); }},
  };
  return kKeys;
}

std::vector<std::string> known_keys() {
  std::vector<std::string> names{"start", "profile"};
  for (const Key& key : number_keys()) names.push_back(key.name);
  return names;
}

Status set_profile(LookaheadOptions& options, std::string_view name) {
  const auto profile = workload::find_profile(name);
  if (!profile) return profile.error();
  options.profile = (*profile)->weight;
  return {};
}

Status set_start(LookaheadOptions& options, std::string_view value, const mig::GpuModel& model,
                 std::uint32_t gpus) {
  Result<std::vector<mig::Layout>> layouts = parse_slashed_layouts(model, gpus, value);
  if (!layouts) return layouts.error();
  options.start = *std::move(layouts);
  return {};
}

Status set_number(LookaheadOptions& options, std::string_view name, std::string_view value) {
  const auto& keys = number_keys();
  const auto key =
      std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == name; });
  if (key == keys.end()) return unknown_name("key of lookahead", name, known_keys());
  const auto number = parse_double(value);
  if (!number || *number < key->low || *number > key->high) {
    return Error{fmt::format("lookahead key {} ({}): found '{}', wanted a number from {:g} to {:g}",
                             name, key->meaning, value, key->low, key->high)};
  }
  key->set(options, *number);
  return {};
}

}  // namespace

Result<LookaheadOptions> parse_lookahead(std::string_view text, const mig::GpuModel& model,
                                         std::uint32_t gpus) {
  LookaheadOptions options;
  options.profile.fill(1);
  const int count = mig::numbered_layouts_count(model);
  for (int number = 1; number <= count; ++number) {
    options.candidates.push_back(*mig::numbered_layout(model, number));
  }
  Status status = set_start(options, "2", model, gpus);
  if (!status) return status.error();
  if (text.empty()) return options;
  for (const std::string_view part : split(text, ',')) {
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) {
      return Error{fmt::format("lookahead option '{}' is not KEY=VALUE; keys: {}", part,
                               fmt::join(known_keys(), ", "))};
    }
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    status = key == "start"     ? set_start(options, value, model, gpus)
             : key == "profile" ? set_profile(options, value)
                                : set_number(options, key, value);
    if (!status) return status.error();
  }
  options.samples_max = std::max(options.samples, options.samples_max);
  return options;
}

}  // namespace partita::policies
