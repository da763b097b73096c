#include "learn/experience.h"

#include <algorithm>

#include "base/check.h"

namespace partita::learn {
namespace {

// Of one sample of width `width` in a row of samples.
template <typename T, typename A>
std::span<T> piece(std::vector<T, A>& all, std::size_t index, std::size_t width) {
  return std::span(all).subspan(index * width, width);
}

// A restart moves every environment this many episodes on, so that none is played twice.
constexpr std::uint64_t kEpisodesPerRound = 1 << 12;

}  // namespace

void Experience::resize(const EnvSpec& env_spec, std::size_t times, std::size_t env_count) {
  spec = env_spec;
  envs = env_count;
  const std::size_t count = times * envs;
  observations.resize(count * static_cast<std::size_t>(spec.observation));
  allowed.resize(count * static_cast<std::size_t>(spec.table.size()));
  tables.resize(count * static_cast<std::size_t>(spec.table.size()));
  for (auto* each : {&log_probabilities, &values, &rewards, &advantages, &returns}) {
    each->resize(count);
  }
  done.resize(count);
}

void Experience::estimate_advantages(std::span<const float> last_values, double discount,
                                     double lambda) {
  CHECK(last_values.size() == envs);
  for (std::size_t env = 0; env < envs; ++env) {
    double next_value = static_cast<double>(last_values[env]);
    double advantage = 0;
    for (std::size_t i = samples() - envs + env;; i -= envs) {
      const double goes_on = done[i] != 0 ? 0 : 1;
      const double value = static_cast<double>(values[i]);
      const double surprise =
          static_cast<double>(rewards[i]) + discount * goes_on * next_value - value;
      advantage = surprise + discount * lambda * goes_on * advantage;
      advantages[i] = static_cast<float>(advantage);
      returns[i] = static_cast<float>(advantage + value);
      next_value = value;
      if (i < envs) break;
    }
  }
}

Collector::Collector(std::vector<std::unique_ptr<Env>> envs)
    : spec_(envs.front()->spec()), observed_(static_cast<std::size_t>(spec_.observation)) {
  for (std::unique_ptr<Env>& env : envs) {
    CHECK(env->spec() == spec_);
    envs_.push_back({std::move(env), 0, 0, 0});
  }
  const std::size_t count = envs_.size();
  states_.resize(count * static_cast<std::size_t>(spec_.observation));
  allowed_.resize(count * static_cast<std::size_t>(spec_.table.size()));
  draws_.resize(count * static_cast<std::size_t>(spec_.table.rows));
  probabilities_.resize(static_cast<std::size_t>(spec_.table.size()));
}

void Collector::restart() {
  for (std::size_t e = 0; e < envs_.size(); ++e) {
    Copy& copy = envs_[e];
    copy.next_episode = rounds_ * kEpisodesPerRound + e;
    copy.reward = copy.discounted = 0;
    copy.env->begin(copy.next_episode);
    copy.next_episode += envs_.size();
  }
  ++rounds_;
}

void Collector::settle_normaliser() {
  if (normalises && observed_.count() > 1) normaliser_ = observed_.normaliser();
}

void Collector::observe() {
  for (std::size_t e = 0; e < envs_.size(); ++e) {
    const auto state = piece(states_, e, static_cast<std::size_t>(spec_.observation));
    envs_[e].env->observe(state, piece(allowed_, e, static_cast<std::size_t>(spec_.table.size())),
                          piece(draws_, e, static_cast<std::size_t>(spec_.table.rows)));
    if (normalises) observed_.add(state);
    normaliser_.apply(state);
  }
}

void Collector::decide_all(const nn::Network& policy, int top, Rng& rng, Experience& experience,
                           std::size_t first) {
  const auto table = static_cast<std::size_t>(spec_.table.size());
  policy_activations_.forward(policy, states_, static_cast<int>(envs_.size()), nn::best_kernels());
  const std::span<const float> logits = policy_activations_.outputs();
  for (std::size_t e = 0; e < envs_.size(); ++e) {
    const auto allowed = piece(allowed_, e, table);
    nn::probabilities(spec_.table, logits.subspan(e * table, table), allowed, top, probabilities_);
    const auto decision = piece(experience.tables, first + e, table);
    nn::draw(spec_.table, probabilities_,
             piece(draws_, e, static_cast<std::size_t>(spec_.table.rows)), rng, decision);
    experience.log_probabilities[first + e] = nn::log_probability(probabilities_, decision);
    std::ranges::copy(allowed, piece(experience.allowed, first + e, table).begin());
  }
}

void Collector::step_all(double discount, float scale, Experience& experience, std::size_t first,
                         EpisodeTally& tally) {
  for (std::size_t e = 0; e < envs_.size(); ++e) {
    Copy& copy = envs_[e];
    const Step step = copy.env->step(
        piece(experience.tables, first + e, static_cast<std::size_t>(spec_.table.size())));
    copy.reward += static_cast<double>(step.reward);
    copy.discounted = copy.discounted * discount + static_cast<double>(step.reward);
    const auto discounted = static_cast<float>(copy.discounted);
    returned_.add({&discounted, 1});
    experience.rewards[first + e] = step.reward * scale;
    experience.done[first + e] = step.done ? 1 : 0;
    if (!step.done) continue;
    ++tally.episodes;
    tally.reward += copy.reward;
    copy.reward = copy.discounted = 0;
    copy.env->begin(copy.next_episode);
    copy.next_episode += envs_.size();
  }
}

EpisodeTally Collector::collect(const nn::Network& policy, const nn::Network& value,
                                std::size_t times, int top, double discount, Rng& rng,
                                Experience& experience) {
  experience.resize(spec_, times, envs_.size());
  EpisodeTally tally;
  const double spread = returned_.deviation(0);
  const float scale = spread > 1e-8 ? static_cast<float>(1 / spread) : 1.0F;
  for (std::size_t time = 0; time < times; ++time) {
    const std::size_t first = time * envs_.size();
    observe();
    std::ranges::copy(states_, experience.observations.begin() +
                                   static_cast<std::ptrdiff_t>(time * states_.size()));
    value_activations_.forward(value, states_, static_cast<int>(envs_.size()), nn::best_kernels());
    std::ranges::copy(value_activations_.outputs(),
                      experience.values.begin() + static_cast<std::ptrdiff_t>(first));
    decide_all(policy, top, rng, experience, first);
    step_all(discount, scale, experience, first, tally);
  }
  return tally;
}

std::span<const float> Collector::last_values(const nn::Network& value) {
  for (std::size_t e = 0; e < envs_.size(); ++e) {
    const auto state = piece(states_, e, static_cast<std::size_t>(spec_.observation));
    envs_[e].env->observe(state, piece(allowed_, e, static_cast<std::size_t>(spec_.table.size())),
                          piece(draws_, e, static_cast<std::size_t>(spec_.table.rows)));
    normaliser_.apply(state);
  }
  value_activations_.forward(value, states_, static_cast<int>(envs_.size()), nn::best_kernels());
  return value_activations_.outputs();
}

}  // namespace partita::learn
