#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "policies/balanced_mix.h"
#include "policies/layout_list.h"
#include "policies/learned/learned_repartitioner.h"
#include "policies/registry.h"
#include "policies/repartitioners/backlog_table.h"
#include "policies/repartitioners/guarded.h"
#include "policies/repartitioners/lookahead_spec.h"
#include "policies/repartitioners/memory_groups.h"
#include "policies/repartitioners/on_demand.h"
#include "policies/repartitioners/static_layouts.h"
#include "policies/repartitioners/timetable.h"

namespace partita::policies {
namespace {

using Made = Result<std::unique_ptr<decide::Repartitioner>>;

std::vector<mig::Layout> numbered_layouts(const mig::GpuModel& model) {
  std::vector<mig::Layout> layouts;
  for (int number = 1; number <= mig::numbered_layouts_count(model); ++number) {
    layouts.push_back(*mig::numbered_layout(model, number));
  }
  return layouts;
}

// Follows the other as long as no job is left without a slice.
Made within_reach(Made inner, const mig::GpuModel& model) {
  if (!inner) return inner;
  GuardOptions guard;
  guard.relief = numbered_layouts(model);
  guard.loss_max = -1;
  return std::unique_ptr<decide::Repartitioner>(
      std::make_unique<Guarded>(*std::move(inner), std::move(guard)));
}

// "HH:MM" at the front of the text, or nothing.
std::optional<Micros> time_of_day(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon > 2) return {};
  const auto hours = parse_int(text.substr(0, colon));
  const auto minutes = parse_int(text.substr(colon + 1));
  if (!hours || !minutes || text.size() - colon != 3) return {};
  if (*hours < 0 || *hours > 23 || *minutes < 0 || *minutes > 59) return {};
  return Micros::seconds(*hours * 3600 + *minutes * 60);
}

// Cuts "08:00=1,2,20:00=2" before every comma that "HH:MM=" follows.
std::vector<std::string_view> split_switches(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t at = text.find(','); at != std::string_view::npos; at = text.find(',', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    if (!time_of_day(rest.substr(0, rest.find('=')))) continue;
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

Result<TimetableSwitch> parse_switch(std::string_view part, const mig::GpuModel& model,
                                     std::uint32_t gpus) {
  const auto equals = part.find('=');
  const auto time = time_of_day(part.substr(0, equals));
  if (equals == std::string_view::npos || !time) {
    return Error{fmt::format(
        "timetable entry '{}' is not HH:MM=LAYOUTS, for example timetable:08:00=9,20:00=2", part)};
  }
  auto layouts = parse_layout_list(model, gpus, part.substr(equals + 1));
  if (!layouts) return layouts.error();
  return TimetableSwitch{*time, *layouts};
}

Made make_timetable(std::string_view text, const mig::GpuModel& model, std::uint32_t gpus) {
  if (text.starts_with('@')) {
    return within_reach(load_backlog_table(std::string(text.substr(1)), model, gpus), model);
  }
  std::vector<TimetableSwitch> switches;
  for (const std::string_view part : split_switches(text)) {
    Result<TimetableSwitch> parsed = parse_switch(part, model, gpus);
    if (!parsed) return parsed.error();
    if (!switches.empty() && parsed->time_of_day <= switches.back().time_of_day) {
      return Error{fmt::format("timetable entry '{}' is not later than the one before it", part)};
    }
    switches.push_back(*std::move(parsed));
  }
  return within_reach(
      std::unique_ptr<decide::Repartitioner>(std::make_unique<Timetable>(std::move(switches))),
      model);
}

Made make_static(std::string_view text, const mig::GpuModel& model, std::uint32_t gpus) {
  auto layouts = parse_layout_list(model, gpus, text);
  if (!layouts) return layouts.error();
  return std::unique_ptr<decide::Repartitioner>(
      std::make_unique<StaticLayouts>(*std::move(layouts)));
}

Made make_lookahead(std::string_view text, const mig::GpuModel& model, std::uint32_t gpus) {
  Result<LookaheadOptions> options = parse_lookahead(text, model, gpus);
  if (!options) return options.error();
  GuardOptions guard;
  guard.base = options->start;
  guard.relief = options->candidates;
  guard.loss_max = options->loss_max;
  return std::unique_ptr<decide::Repartitioner>(std::make_unique<Guarded>(
      std::make_unique<Lookahead>(*std::move(options)), std::move(guard)));
}

Made make_on_demand(std::string_view text, const mig::GpuModel&, std::uint32_t) {
  OnDemand::Options options;
  options.moves = true;
  const std::vector<std::string> known{"first-fit", "least-fragmenting", "half-speed", "no-moves"};
  for (const std::string_view word : split(text, ',')) {
    if (word == "least-fragmenting") options.fit = OnDemand::FitRule::kLeastFragmenting;
    if (word == "half-speed") options.asked = half_speed_profile;
    if (word == "no-moves") options.moves = false;
    const bool good = std::find(known.begin(), known.end(), word) != known.end();
    if (!good && !text.empty()) return unknown_name("word of ondemand", word, known);
  }
  return std::unique_ptr<decide::Repartitioner>(std::make_unique<OnDemand>(options));
}

// What may stand behind the file of a model.
struct LearnedSpec {
  std::string path;
  GuardOptions guard;
  bool loss_max_given = false;
};

// Of ET, for a model that knows what it sees.
constexpr double kLossMaxRecorded = 1;

const std::vector<std::string> kLearnedKeys{"base", "loss_max"};

// The first comma behind which a key stands ends the path, which may have commas of its own.
std::size_t end_of_path(std::string_view text) {
  return std::min(text.find(",base="), text.find(",loss_max="));
}

Result<LearnedSpec> parse_learned(std::string_view text, const mig::GpuModel& model,
                                  std::uint32_t gpus) {
  const std::size_t end = end_of_path(text);
  LearnedSpec spec;
  spec.path = text.substr(0, end);
  spec.guard.relief = numbered_layouts(model);
  if (end == std::string_view::npos) return spec;
  for (const std::string_view part : split(text.substr(end + 1), ',')) {
    const auto equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    if (key == "base") {
      auto layouts = parse_slashed_layouts(model, gpus, value);
      if (!layouts) return layouts.error();
      spec.guard.base = *std::move(layouts);
    } else if (key == "loss_max") {
      const auto percent = parse_double(value);
      if (!percent || *percent < 0 || *percent > kLossMaxPercent) {
        return Error{fmt::format("learned key loss_max: found '{}', wanted per cent from 0 to {:g}",
                                 value, kLossMaxPercent)};
      }
      spec.guard.loss_max = loss_max_of(*percent);
      spec.loss_max_given = true;
    } else {
      return unknown_name("key of learned", key, kLearnedKeys);
    }
  }
  return spec;
}

Made make_learned(std::string_view text, const mig::GpuModel& model, std::uint32_t gpus) {
  Result<LearnedSpec> spec = parse_learned(text, model, gpus);
  if (!spec) return spec.error();
  auto inner = load_learned_repartitioner(spec->path, model, gpus);
  if (!inner) return inner.error();
  if (spec->guard.base.empty()) {
    spec->guard.base = balanced_mix(model, gpus);
    spec->guard.begins_with_base = false;
  }
  spec->guard.changes_often = true;
  // Where jobs and backlog are those of the training, its days say more than the last hours do.
  spec->guard.at_once = (*inner)->recorded();
  if (!spec->loss_max_given && (*inner)->recorded()) spec->guard.loss_max = kLossMaxRecorded;
  spec->guard.trust = [policy = inner->get()] { return policy->trust(); };
  return std::unique_ptr<decide::Repartitioner>(
      std::make_unique<Guarded>(*std::move(inner), std::move(spec->guard)));
}

Made make_migm_a(std::string_view, const mig::GpuModel&, std::uint32_t) {
  return std::unique_ptr<decide::Repartitioner>(std::make_unique<MemoryGroups>());
}

Made make_migm_b(std::string_view, const mig::GpuModel&, std::uint32_t) {
  return std::unique_ptr<decide::Repartitioner>(std::make_unique<OnDemand>(
      OnDemand::Options{tightest_profiles, OnDemand::FitRule::kMostReachable, true}));
}

Made make_none(std::string_view, const mig::GpuModel& model, std::uint32_t gpus) {
  return make_static("1", model, gpus);
}

// One row a repartitioner: the word before the colon, and whether text must, may or must not
// follow.
struct Row {
  enum class Text : std::uint8_t { kNone, kOptional, kRequired };
  std::string name;
  Text text;
  RepartitionerTraits traits;
  std::string syntax;
  std::string summary;
  Made (*make)(std::string_view text, const mig::GpuModel& model, std::uint32_t gpus);
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"learned",
       Row::Text::kRequired,
       {.habit = LayoutHabit::kPlanned, .file_mark = ""},
       "learned:FILE[,base=LAYOUTS][,loss_max=PERCENT]",
       "asks the trained network of a model file which mix of layouts the fleet should have",
       make_learned},
      {"lookahead",
       Row::Text::kOptional,
       {.habit = LayoutHabit::kPlanned, .budget_key = "budget_us"},
       "lookahead[:KEY=VALUE,...]",
       "changes a GPU when simulating ahead says it pays",
       make_lookahead},
      {"migm-a",
       Row::Text::kNone,
       {.habit = LayoutHabit::kForQueue},
       "migm-a",
       "jobs of one memory size at a time, so that layouts change as rarely as can be; with the "
       "placement tightest",
       make_migm_a},
      {"migm-b",
       Row::Text::kNone,
       {.habit = LayoutHabit::kForQueue},
       "migm-b",
       "fuses and splits idle instances for the next job in the queue; with the placement tightest",
       make_migm_b},
      {"none",
       Row::Text::kNone,
       {.habit = LayoutHabit::kNever, .whole_gpus = true},
       "none",
       "every GPU is one whole slice",
       make_none},
      {"ondemand",
       Row::Text::kOptional,
       {.habit = LayoutHabit::kOnDemand},
       "ondemand[:first-fit|least-fragmenting][,half-speed][,no-moves]",
       "an instance for each job as it comes, unmade when it ends, as dynamic MIG drivers do; with "
       "the placement requested, or half-speed for both; with preemption pays, jobs are moved to "
       "make room, unless no-moves",
       make_on_demand},
      {"static",
       Row::Text::kRequired,
       {.habit = LayoutHabit::kNever},
       "static:LAYOUTS",
       "one layout for each GPU, or one for all, for the whole run",
       make_static},
      {"timetable",
       Row::Text::kRequired,
       {.habit = LayoutHabit::kPlanned, .file_mark = "@"},
       "timetable:HH:MM=LAYOUTS,...|@FILE",
       "the same layouts at the same times of every day, any number of switches; or a file of "
       "mixes by hour and backlog",
       make_timetable},
  };
  return kRows;
}

}  // namespace

const std::vector<decide::PolicyFacts>& repartitioners() {
  static const std::vector<decide::PolicyFacts> kFacts = [] {
    std::vector<decide::PolicyFacts> facts;
    for (const Row& row : rows()) {
      decide::PolicyFacts each;
      each.name = row.name;
      each.summary = fmt::format("{}: {}", row.syntax, row.summary);
      facts.push_back(each);
    }
    return facts;
  }();
  return kFacts;
}

const RepartitionerTraits& repartitioner_traits(std::string_view text) {
  static const RepartitionerTraits kUnknown;
  const auto row = std::ranges::find(rows(), text.substr(0, text.find(':')), &Row::name);
  return row == rows().end() ? kUnknown : row->traits;
}

std::size_t repartitioner_file_at(std::string_view text) {
  const auto& mark = repartitioner_traits(text).file_mark;
  const auto colon = text.find(':');
  if (!mark || colon == std::string_view::npos) return std::string_view::npos;
  const bool named = text.substr(colon + 1).starts_with(*mark);
  return named ? colon + 1 + mark->size() : std::string_view::npos;
}

Made make_repartitioner(std::string_view text, const mig::GpuModel& model, std::uint32_t gpus) {
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  std::vector<std::string> known;
  for (const Row& row : rows()) {
    known.push_back(row.name);
    if (row.name != name) continue;
    const bool wrong = row.text == Row::Text::kNone
                           ? colon != std::string_view::npos
                           : row.text == Row::Text::kRequired && rest.empty();
    if (!wrong) return row.make(rest, model, gpus);
    return Error{fmt::format("repartitioner '{}' is incomplete or has too much; wanted {}", text,
                             row.syntax)};
  }
  return unknown_name("repartitioner", name, known);
}

}  // namespace partita::policies
