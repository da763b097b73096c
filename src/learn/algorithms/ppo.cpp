#include "learn/algorithms/ppo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace partita::learn {
namespace {

nn::Network make_network(const PpoOptions& options, int inputs, int outputs, Rng& rng,
                         float output_gain) {
  nn::Shape shape{{inputs}, options.activation};
  shape.widths.insert(shape.widths.end(), options.hidden.begin(), options.hidden.end());
  shape.widths.push_back(outputs);
  nn::Network network(shape);
  initialise(network, rng, output_gain);
  return network;
}

// The streams of random numbers: one for the first weights, and one a round, so that a checkpoint
// need not hold the state of a generator.
constexpr std::uint64_t kPurposeWeights = 0;
std::uint64_t purpose_of_round(std::uint64_t round) {
  return 1 + round * (1 + Collector::kGroupsMax);
}

// Minibatches are cut into so many parts, whatever the number of threads, and a part is worked on
// in pieces that stay in the cache of one core.
constexpr std::size_t kShards = 4;
constexpr std::size_t kPiece = 256;
constexpr float kStruckOut = -1e30F;

// The part of `count` things that falls to `part` of `parts`: where it begins.
std::size_t begin_of(std::size_t part, std::size_t parts, std::size_t count) {
  return part * count / parts;
}

}  // namespace

Ppo::Ppo(PpoOptions options, std::vector<std::unique_ptr<Env>> envs)
    : options_(std::move(options)),
      team_(options_.threads),
      collector_(std::move(envs)),
      policy_adam_(0),
      value_adam_(0),
      shards_(kShards) {
  CHECK(options_.minibatch > 1 && options_.epochs > 0 && options_.steps_per_round > 0);
  Rng rng(options_.seed, kPurposeWeights);
  const EnvSpec& spec = collector_.spec();
  policy_ = make_network(options_, spec.observation, spec.table.size(), rng, 0.01F);
  value_ = make_network(options_, spec.observation, 1, rng, 1.0F);
  policy_adam_ = Adam(policy_.parameters().size());
  value_adam_ = Adam(value_.parameters().size());
  collector_.normalises = options_.normalise_observations;
}

Result<Figures> Ppo::learn() {
  const PpoReport report = round();
  return Figures{{"episode_reward", report.episode_reward}, {"entropy", report.entropy},
                 {"divergence", report.divergence},         {"clipped_share", report.clipped_share},
                 {"explained", report.explained},           {"learning_rate", report.learning_rate},
                 {"entropy_weight", report.entropy_weight}};
}

PpoReport Ppo::round() {
  PpoReport report;
  Rng rng(options_.seed, purpose_of_round(rounds_));
  if (at_checkpoint()) collector_.restart();
  collector_.settle_normaliser();
  report.learning_rate = anneal(options_.learning_rate, options_.learning_rate_end, part_done());
  report.entropy_weight = anneal(options_.entropy, options_.entropy_end, part_done());
  const EpisodeTally tally =
      collector_.collect(policy_, value_, options_.steps_per_round, options_.top, options_.discount,
                         options_.seed, purpose_of_round(rounds_) + 1, team_, experience_);
  experience_.estimate_advantages(collector_.last_values(value_), options_.discount,
                                  options_.lambda);
  report.explained = explained_variance();
  shuffle(rng);
  update(report);
  steps_ += experience_.samples();
  ++rounds_;
  report.round = rounds_;
  report.steps = steps_;
  report.episodes = tally.episodes;
  report.episode_reward =
      tally.episodes == 0 ? 0 : tally.reward / static_cast<double>(tally.episodes);
  return report;
}

void Ppo::shuffle(Rng& rng) {
  order_.resize(experience_.samples() * static_cast<std::size_t>(options_.epochs));
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    const std::size_t begin = static_cast<std::size_t>(epoch) * experience_.samples();
    const auto part = std::span(order_).subspan(begin, experience_.samples());
    std::iota(part.begin(), part.end(), 0U);
    for (std::size_t i = part.size(); i > 1; --i) std::swap(part[i - 1], part[rng.below(i)]);
  }
}

void Ppo::update(PpoReport& report) {
  std::size_t batches = 0;
  for (std::size_t begin = 0; begin < order_.size(); begin += options_.minibatch) {
    const std::size_t count = std::min(options_.minibatch, order_.size() - begin);
    if (count < 2) break;
    learn_minibatch(std::span(order_).subspan(begin, count), report);
    ++batches;
  }
  const double share = 1 / static_cast<double>(std::max<std::size_t>(1, batches));
  for (double* sum : {&report.policy_loss, &report.value_loss, &report.entropy, &report.divergence,
                      &report.clipped_share}) {
    *sum *= share;
  }
}

void Ppo::learn_minibatch(std::span<const std::uint32_t> chosen, PpoReport& report) {
  normalise_advantages(chosen);
  const auto share = 1.0F / static_cast<float>(chosen.size());
  team_.run(kShards, [&](std::size_t s, std::size_t) {
    Shard& shard = shards_[s];
    shard.policy_gradient.assign(policy_.parameters().size(), 0.0F);
    shard.value_gradient.assign(value_.parameters().size(), 0.0F);
    shard.sums = {};
    const std::size_t end = begin_of(s + 1, kShards, chosen.size());
    for (std::size_t at = begin_of(s, kShards, chosen.size()); at < end; at += kPiece) {
      work_on(shard, chosen.subspan(at, std::min(kPiece, end - at)), at, share,
              report.entropy_weight);
    }
  });
  team_.run(kShards, [&](std::size_t part, std::size_t) { add_up(part, kShards); });
  double squares = 0;
  for (const Shard& shard : shards_) {
    squares += shard.squares;
    report.policy_loss += shard.sums.policy_loss;
    report.value_loss += shard.sums.value_loss;
    report.entropy += shard.sums.entropy;
    report.divergence += shard.sums.divergence;
    report.clipped_share += shard.sums.clipped_share;
  }
  const double length = std::sqrt(squares);
  const double most = options_.gradient_norm_max;
  const double scale = length > most ? most / length : 1;
  const nn::AdamStep policy_step = policy_adam_.begin(report.learning_rate, scale);
  const nn::AdamStep value_step = value_adam_.begin(report.learning_rate, scale);
  team_.run(kShards, [&](std::size_t part, std::size_t) {
    const auto step = [&](Adam& adam, const nn::AdamStep& with, nn::Network& network,
                          std::span<const float> gradient) {
      const std::size_t first = begin_of(part, kShards, gradient.size());
      const std::size_t count = begin_of(part + 1, kShards, gradient.size()) - first;
      adam.step_part(with, gradient, first, count, network.parameters(), nn::best_kernels());
    };
    step(policy_adam_, policy_step, policy_, shards_[0].policy_gradient);
    step(value_adam_, value_step, value_, shards_[0].value_gradient);
  });
}

void Ppo::add_up(std::size_t part, std::size_t parts) {
  double squares = 0;
  for (nn::Floats Shard::*gradient : {&Shard::policy_gradient, &Shard::value_gradient}) {
    nn::Floats& sum = shards_[0].*gradient;
    const std::size_t first = begin_of(part, parts, sum.size());
    const std::size_t count = begin_of(part + 1, parts, sum.size()) - first;
    for (std::size_t s = 1; s < shards_.size(); ++s) {
      nn::best_kernels().add(count, (shards_[s].*gradient).data() + first, sum.data() + first);
    }
    const double length = norm(std::span<const float>(sum).subspan(first, count));
    squares += length * length;
  }
  shards_[part].squares = squares;
}

// The advantages of the minibatch, with mean 0 and spread 1.
void Ppo::normalise_advantages(std::span<const std::uint32_t> chosen) {
  chosen_advantages_.resize(chosen.size());
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    chosen_advantages_[i] = experience_.advantages[chosen[i]];
    const double value = static_cast<double>(chosen_advantages_[i]);
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(chosen.size());
  const double mean = sum / count;
  const double spread = std::sqrt(std::max(0.0, squares / count - mean * mean)) + 1e-8;
  for (float& each : chosen_advantages_) {
    each = static_cast<float>((static_cast<double>(each) - mean) / spread);
  }
}

void Ppo::work_on(Shard& shard, std::span<const std::uint32_t> part, std::size_t first, float share,
                  double entropy_weight) {
  gather(shard, part);
  const int batch = static_cast<int>(part.size());
  const nn::Kernels& kernels = nn::best_kernels();
  const auto advantages = std::span<const float>(chosen_advantages_).subspan(first, part.size());
  shard.policy.forward(policy_, shard.states, batch, kernels);
  if (collector_.spec().table.rows == 1) {
    choice_gradients(shard, part, advantages, share, entropy_weight);
  } else {
    policy_gradients(shard, part, advantages, share, entropy_weight);
  }
  shard.backward.add(policy_, shard.states, shard.policy, shard.output_gradient,
                     shard.policy_gradient, kernels);
  shard.value.forward(value_, shard.states, batch, kernels);
  value_gradients(shard, part, share);
  shard.backward.add(value_, shard.states, shard.value, shard.output_gradient, shard.value_gradient,
                     kernels);
}

void Ppo::gather(Shard& shard, std::span<const std::uint32_t> part) const {
  const auto width = static_cast<std::size_t>(collector_.spec().observation);
  shard.states.resize(part.size() * width);
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto from = std::span(experience_.observations).subspan(part[i] * width, width);
    std::ranges::copy(from, shard.states.begin() + static_cast<std::ptrdiff_t>(i * width));
  }
}

namespace {

// What one sample adds to the figures of the round; gives what the loss
// -min(ratio A, clip(ratio) A) asks of the log-probability: where the clipped term is the smaller,
// nothing.
float clipped_loss(float change, float advantage, double clip, float share, PpoReport& sums) {
  const auto low = static_cast<float>(1 - clip);
  const auto high = static_cast<float>(1 + clip);
  const float ratio = std::exp(std::clamp(change, -20.0F, 20.0F));
  const bool clipped = advantage > 0 ? ratio > high : ratio < low;
  sums.policy_loss -= static_cast<double>(
      share * std::min(ratio * advantage, std::clamp(ratio, low, high) * advantage));
  sums.divergence += static_cast<double>(share * (ratio - 1 - change));
  sums.clipped_share += static_cast<double>(ratio > high || ratio < low ? share : 0.0F);
  return clipped ? 0.0F : -advantage * ratio * share;
}

}  // namespace

void Ppo::choice_gradients(Shard& shard, std::span<const std::uint32_t> part,
                           std::span<const float> advantages, float share, double entropy_weight) {
  const auto choices = static_cast<std::size_t>(collector_.spec().table.choices);
  const std::size_t size = part.size() * choices;
  shard.penalties.resize(size);
  for (std::size_t i = 0; i < part.size(); ++i) {
    const std::uint8_t* allowed = experience_.allowed.data() + part[i] * choices;
    float* penalties = shard.penalties.data() + i * choices;
    for (std::size_t c = 0; c < choices; ++c) penalties[c] = allowed[c] != 0 ? 0.0F : kStruckOut;
  }
  const std::span<const float> logits = shard.policy.outputs();
  shard.log_probabilities.assign(logits.begin(), logits.end());
  shard.probabilities.resize(size);
  shard.output_gradient.resize(size);
  nn::best_kernels().softmax(static_cast<int>(choices), static_cast<int>(part.size()),
                             shard.penalties.data(), shard.log_probabilities.data(),
                             shard.probabilities.data());
  const float of_entropy = static_cast<float>(entropy_weight) * share;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const float* p = shard.probabilities.data() + i * choices;
    const float* log_p = shard.log_probabilities.data() + i * choices;
    const std::uint16_t* table = experience_.tables.data() + part[i] * choices;
    const auto taken = static_cast<std::size_t>(std::max_element(table, table + choices) - table);
    const float of_log = clipped_loss(log_p[taken] - experience_.log_probabilities[part[i]],
                                      advantages[i], options_.clip, share, shard.sums);
    float entropy = 0;
    for (std::size_t c = 0; c < choices; ++c) entropy -= p[c] * log_p[c];
    float* gradient = shard.output_gradient.data() + i * choices;
    for (std::size_t c = 0; c < choices; ++c) {
      gradient[c] = p[c] * (of_entropy * (log_p[c] + entropy) - of_log);
    }
    gradient[taken] += of_log;
    shard.sums.entropy += static_cast<double>(share * entropy);
  }
}

void Ppo::policy_gradients(Shard& shard, std::span<const std::uint32_t> part,
                           std::span<const float> advantages, float share, double entropy_weight) {
  const EnvSpec& spec = collector_.spec();
  const auto table = static_cast<std::size_t>(spec.table.size());
  shard.output_gradient.assign(part.size() * table, 0.0F);
  shard.probabilities.resize(table);
  for (std::size_t i = 0; i < part.size(); ++i) {
    const std::size_t sample = part[i];
    nn::probabilities(spec.table, shard.policy.outputs().subspan(i * table, table),
                      std::span(experience_.allowed).subspan(sample * table, table), 0,
                      shard.probabilities);
    const auto decision = std::span(experience_.tables).subspan(sample * table, table);
    const float change =
        nn::log_probability(shard.probabilities, decision) - experience_.log_probabilities[sample];
    const float of_log = clipped_loss(change, advantages[i], options_.clip, share, shard.sums);
    nn::add_gradients(spec.table, shard.probabilities, decision, of_log,
                      static_cast<float>(-entropy_weight) * share,
                      std::span(shard.output_gradient).subspan(i * table, table));
    shard.sums.entropy +=
        static_cast<double>(share * nn::entropy(spec.table, shard.probabilities, decision));
  }
}

void Ppo::value_gradients(Shard& shard, std::span<const std::uint32_t> part, float share) {
  const auto weight = static_cast<float>(options_.value_weight) * share;
  shard.output_gradient.resize(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    const float miss = shard.value.outputs()[i] - experience_.returns[part[i]];
    shard.output_gradient[i] = 2 * miss * weight;
    shard.sums.value_loss += static_cast<double>(miss * miss * weight);
  }
}

double Ppo::explained_variance() const {
  double mean_return = 0;
  double mean_miss = 0;
  const auto count = static_cast<double>(experience_.samples());
  for (std::size_t i = 0; i < experience_.samples(); ++i) {
    mean_return += static_cast<double>(experience_.returns[i]) / count;
    mean_miss += static_cast<double>(experience_.returns[i] - experience_.values[i]) / count;
  }
  double returns = 0;
  double misses = 0;
  for (std::size_t i = 0; i < experience_.samples(); ++i) {
    const double value = static_cast<double>(experience_.returns[i]);
    const double miss = value - static_cast<double>(experience_.values[i]);
    returns += (value - mean_return) * (value - mean_return);
    misses += (miss - mean_miss) * (miss - mean_miss);
  }
  return returns > 0 ? 1 - misses / returns : 0;
}

void Ppo::state(StateFile& file) {
  CHECK(at_checkpoint());
  const PpoOptions& o = options_;
  file.must_agree(
      "options", fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
                             fmt::join(policy_.shape().widths, "x"), static_cast<int>(o.activation),
                             o.steps, o.steps_per_round, o.minibatch, o.epochs, o.discount,
                             o.lambda, o.clip, o.value_weight, o.gradient_norm_max, o.learning_rate,
                             o.learning_rate_end, o.entropy, o.entropy_end, o.top,
                             o.rounds_per_checkpoint, o.seed, collector_.env_count()));
  file.item("steps", steps_);
  file.item("rounds", rounds_);
  file.item("restarts", collector_.rounds());
  file.item("observations", collector_.observation_statistics());
  file.item("returns", collector_.return_statistics());
  file.item("policy", policy_.parameters());
  file.item("value", value_.parameters());
  file.item("policy_adam", policy_adam_);
  file.item("value_adam", value_adam_);
}

}  // namespace partita::learn
