#include "learn/day_evolution.h"

namespace partita::learn {

DayEvolution::DayEvolution(const EvolutionOptions& options, nn::Model start,
                           const Trainable& trainable, const sim::RunOptions& run,
                           const DaySource& days, std::uint64_t first_day)
    : trainable_(trainable),
      run_(run),
      source_(days),
      first_day_(first_day),
      days_per_step_(2 * static_cast<std::uint64_t>(options.pairs) *
                     static_cast<std::uint64_t>(options.days)),
      days_(static_cast<std::size_t>(options.days)),
      trials_(options.threads, start),
      failures_(options.threads),
      evolution_(options, std::move(start.policy),
                 [this](const nn::Network& policy, std::uint64_t day, std::size_t thread) {
                   return score(policy, day, thread);
                 }) {}

double DayEvolution::score(const nn::Network& policy, std::uint64_t day, std::size_t thread) {
  trials_[thread].policy = policy;
  const auto result = trainable_.run_day(trials_[thread], run_, days_[day % days_.size()], nullptr);
  if (result) return trainable_.weigh(*result, first_day_ + day);
  failures_[thread] = result.error();
  return 0;
}

Result<Figures> DayEvolution::learn() {
  for (std::size_t i = 0; i < days_.size(); ++i) {
    days_[i] = source_(first_day_ + evolution_.steps() * days_.size() + i);
  }
  const double tried = evolution_.step();
  for (const std::optional<Error>& failure : failures_) {
    if (failure) return *failure;
  }
  return Figures{{"tried_score", tried}};
}

}  // namespace partita::learn
