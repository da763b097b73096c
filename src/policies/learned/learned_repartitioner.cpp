#include "policies/learned/learned_repartitioner.h"

#include <fmt/format.h>

#include <algorithm>

#include "nn/choice_table.h"

namespace partita::policies {
namespace {

constexpr std::uint64_t kDrawSeed = 1;  // a run is repeated to the bit

}  // namespace

LearnedRepartitioner::LearnedRepartitioner(nn::Model model, MixRules rules, std::uint32_t gpus)
    : model_(std::move(model)),
      rules_(std::move(rules)),
      gpus_(gpus),
      state_(rules_),
      familiarity_(model_) {
  const auto size = static_cast<std::size_t>(rules_.table().size());
  observation_.resize(rules_.observation_size());
  allowed_.resize(size);
  probabilities_.resize(size);
  table_.resize(size);
  draws_.resize(static_cast<std::size_t>(rules_.table().rows));
}

std::vector<mig::Layout> LearnedRepartitioner::initial_layouts(const decide::View& view) {
  rng_ = Rng(kDrawSeed);
  familiarity_.begin(view);
  return state_.begin(gpus_);
}

void LearnedRepartitioner::decide(const decide::View& view,
                                  std::vector<decide::LayoutRequest>& requests) {
  state_.observe(view, observation_);
  familiarity_.look(observation_);
  if (record_ != nullptr) record_->add(observation_);
  model_.normaliser.apply(observation_);
  const std::span<const float> logits = evaluate_(model_.policy, observation_);
  if (rules_.pick == MixPick::kBest) {
    const auto best = std::ranges::max_element(logits) - logits.begin();
    state_.take(view, static_cast<std::size_t>(best), requests);
    return;
  }
  std::ranges::fill(allowed_, std::uint8_t{1});
  nn::probabilities(rules_.table(), logits, allowed_, rules_.top, probabilities_);
  if (rules_.pick == MixPick::kMean) {
    state_.take_mean(view, probabilities_, requests);
    return;
  }
  state_.draws(draws_);
  nn::draw(rules_.table(), probabilities_, draws_, rng_, table_);
  state_.take_table(view, table_, requests);
}

Result<std::unique_ptr<LearnedRepartitioner>> load_learned_repartitioner(const std::string& path,
                                                                         const mig::GpuModel& model,
                                                                         std::uint32_t gpus) {
  Result<nn::Model> file = nn::read_model(path);
  if (!file) return file.error();
  Result<MixRules> rules = read_rules(*file, model);
  if (!rules) return Error{fmt::format("'{}': {}", path, rules.error().message)};
  return std::make_unique<LearnedRepartitioner>(*std::move(file), *std::move(rules), gpus);
}

}  // namespace partita::policies
