#include "policies/learned/learned_scheduler.h"

#include <fmt/format.h>

#include "policies/learned/guarded_scheduler.h"
#include "policies/learned/place_scheduler.h"
#include "policies/learned/slice_scheduler.h"
#include "policies/registry.h"

namespace partita::policies {
namespace {

// Who places jobs where a model does not know what it sees. It draws no random numbers.
constexpr std::string_view kBaseScheduler = "mdd";
constexpr std::uint64_t kBaseSeed = 1;

struct PlaceFile {
  nn::Model model;
  PlaceRules rules;
};

Result<PlaceFile> read_place_file(const std::string& path) {
  Result<nn::Model> model = nn::read_model(path);
  if (!model) return model.error();
  if (!is_place_model(model->facts)) {
    return Error{fmt::format(
        "'{}' is a model of encoding {}, which chooses layouts; it goes with --repartition", path,
        model->facts.encoding)};
  }
  Result<PlaceRules> rules = read_place_rules(*model);
  if (!rules) return Error{fmt::format("'{}': {}", path, rules.error().message)};
  return PlaceFile{*std::move(model), *std::move(rules)};
}

std::unique_ptr<decide::Scheduler> make(nn::Model model, PlaceRules rules) {
  if (rules.encoding == PlaceEncoding::kPlus) {
    return std::make_unique<PlaceScheduler>(std::move(model), std::move(rules));
  }
  return std::make_unique<SliceScheduler>(std::move(model), std::move(rules));
}

}  // namespace

Result<std::unique_ptr<decide::Scheduler>> load_learned_scheduler(const std::string& path) {
  Result<PlaceFile> file = read_place_file(path);
  if (!file) return file.error();
  const bool guarded = file->rules.encoding == PlaceEncoding::kPlus && !file->model.seen.empty();
  if (!guarded) return make(std::move(file->model), std::move(file->rules));
  auto base = make_scheduler(kBaseScheduler, kBaseSeed);
  if (!base) return base.error();
  return std::unique_ptr<decide::Scheduler>(std::make_unique<GuardedScheduler>(
      std::move(file->model), std::move(file->rules), *std::move(base)));
}

Result<decide::PolicyFacts> learned_scheduler_facts(const std::string& name,
                                                    const std::string& path) {
  const Result<PlaceFile> file = read_place_file(path);
  if (!file) return file.error();
  const bool plus = file->rules.encoding == PlaceEncoding::kPlus;
  decide::PolicyFacts facts;
  facts.name = name;
  facts.summary = plus ? "joins jobs and slices, or waits, as a trained network scores them"
                       : "earliest deadline, the slice that a trained network chooses";
  facts.source = plus ? "this project" : "Hisaria et al., technical report 2025";
  facts.needs_run_times = true;
  facts.needs_deadlines = true;
  facts.needs_power_curve = plus;
  facts.may_wait = plus && file->rules.has(PlacePiece::kWait);
  return facts;
}

}  // namespace partita::policies
