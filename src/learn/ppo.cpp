#include "learn/ppo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/text.h"

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
  return 1 + round;
}

std::vector<float> copy_of(std::span<const float> values) {
  return {values.begin(), values.end()};
}

void add_adam(nn::TensorFile& file, const std::string& name, Adam& adam) {
  file.tensors.push_back({name + ".first", {adam.first().size()}, adam.first()});
  file.tensors.push_back({name + ".second", {adam.second().size()}, adam.second()});
  file.metadata[name + ".steps"] = std::to_string(adam.steps());
}

bool restore_tensor(const nn::TensorFile& file, const std::string& name, std::span<float> into) {
  const nn::Tensor* tensor = file.find(name);
  if (tensor == nullptr || tensor->values.size() != into.size()) return false;
  std::ranges::copy(tensor->values, into.begin());
  return true;
}

bool restore_count(const nn::TensorFile& file, const std::string& key, std::uint64_t& into) {
  const auto found = file.metadata.find(key);
  const auto number = found == file.metadata.end() ? std::nullopt : parse_int(found->second);
  if (!number || *number < 0) return false;
  into = static_cast<std::uint64_t>(*number);
  return true;
}

bool restore_adam(const nn::TensorFile& file, const std::string& name, Adam& adam) {
  return restore_tensor(file, name + ".first", adam.first()) &&
         restore_tensor(file, name + ".second", adam.second()) &&
         restore_count(file, name + ".steps", adam.steps());
}

bool restore_statistics(const nn::TensorFile& file, const std::string& key,
                        RunningStatistics& into) {
  const auto found = file.metadata.find(key);
  return found != file.metadata.end() && into.restore(found->second);
}

}  // namespace

Ppo::Ppo(PpoOptions options, std::vector<std::unique_ptr<Env>> envs)
    : options_(std::move(options)), collector_(std::move(envs)), policy_adam_(0), value_adam_(0) {
  CHECK(options_.minibatch > 1 && options_.epochs > 0 && options_.steps_per_round > 0);
  Rng rng(options_.seed, kPurposeWeights);
  const EnvSpec& spec = collector_.spec();
  policy_ = make_network(options_, spec.observation, spec.table.size(), rng, 0.01F);
  value_ = make_network(options_, spec.observation, 1, rng, 1.0F);
  policy_adam_ = Adam(policy_.parameters().size());
  value_adam_ = Adam(value_.parameters().size());
  collector_.normalises = options_.normalise_observations;
}

PpoReport Ppo::round() {
  PpoReport report;
  Rng rng(options_.seed, purpose_of_round(rounds_));
  if (at_checkpoint()) collector_.restart();
  collector_.settle_normaliser();
  report.learning_rate = anneal(options_.learning_rate, options_.learning_rate_end, part_done());
  report.entropy_weight = anneal(options_.entropy, options_.entropy_end, part_done());
  const EpisodeTally tally = collector_.collect(policy_, value_, options_.steps_per_round,
                                                options_.top, options_.discount, rng, experience_);
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
    add_minibatch(std::span(order_).subspan(begin, count), report.entropy_weight, report);
    const double length = std::hypot(norm(policy_gradient_), norm(value_gradient_));
    if (length > options_.gradient_norm_max) {
      scale(policy_gradient_, options_.gradient_norm_max / length);
      scale(value_gradient_, options_.gradient_norm_max / length);
    }
    policy_adam_.step(policy_.parameters(), policy_gradient_, report.learning_rate);
    value_adam_.step(value_.parameters(), value_gradient_, report.learning_rate);
    ++batches;
  }
  const double share = 1 / static_cast<double>(std::max<std::size_t>(1, batches));
  for (double* sum : {&report.policy_loss, &report.value_loss, &report.entropy, &report.divergence,
                      &report.clipped_share}) {
    *sum *= share;
  }
}

void Ppo::add_minibatch(std::span<const std::uint32_t> chosen, double entropy_weight,
                        PpoReport& report) {
  gather(chosen);
  const int batch = static_cast<int>(chosen.size());
  policy_gradient_.assign(policy_.parameters().size(), 0.0F);
  value_gradient_.assign(value_.parameters().size(), 0.0F);
  policy_activations_.forward(policy_, states_, batch, nn::best_kernels());
  policy_gradients(chosen, entropy_weight, report);
  backward_.add(policy_, states_, policy_activations_, output_gradient_, policy_gradient_,
                nn::best_kernels());
  value_activations_.forward(value_, states_, batch, nn::best_kernels());
  value_gradients(chosen, report);
  backward_.add(value_, states_, value_activations_, output_gradient_, value_gradient_,
                nn::best_kernels());
}

// The states of the minibatch, and its advantages with mean 0 and spread 1.
void Ppo::gather(std::span<const std::uint32_t> chosen) {
  const auto width = static_cast<std::size_t>(collector_.spec().observation);
  states_.resize(chosen.size() * width);
  chosen_advantages_.resize(chosen.size());
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto from = std::span(experience_.observations).subspan(chosen[i] * width, width);
    std::ranges::copy(from, states_.begin() + static_cast<std::ptrdiff_t>(i * width));
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

void Ppo::policy_gradients(std::span<const std::uint32_t> chosen, double entropy_weight,
                           PpoReport& report) {
  const EnvSpec& spec = collector_.spec();
  const auto table = static_cast<std::size_t>(spec.table.size());
  const auto share = 1.0F / static_cast<float>(chosen.size());
  output_gradient_.assign(chosen.size() * table, 0.0F);
  probabilities_.resize(table);
  const auto low = static_cast<float>(1 - options_.clip);
  const auto high = static_cast<float>(1 + options_.clip);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::size_t sample = chosen[i];
    nn::probabilities(spec.table, policy_activations_.outputs().subspan(i * table, table),
                      std::span(experience_.allowed).subspan(sample * table, table), 0,
                      probabilities_);
    const auto decision = std::span(experience_.tables).subspan(sample * table, table);
    const float change =
        nn::log_probability(probabilities_, decision) - experience_.log_probabilities[sample];
    const float ratio = std::exp(std::clamp(change, -20.0F, 20.0F));
    const float advantage = chosen_advantages_[i];
    const bool clipped = advantage > 0 ? ratio > high : ratio < low;
    // Of the loss -min(ratio A, clip(ratio) A): where the clipped term is the smaller, nothing.
    const float of_log = clipped ? 0.0F : -advantage * ratio * share;
    nn::add_gradients(spec.table, probabilities_, decision, of_log,
                      static_cast<float>(-entropy_weight) * share,
                      std::span(output_gradient_).subspan(i * table, table));
    report.policy_loss -= static_cast<double>(
        share * std::min(ratio * advantage, std::clamp(ratio, low, high) * advantage));
    report.entropy +=
        static_cast<double>(share * nn::entropy(spec.table, probabilities_, decision));
    report.divergence += static_cast<double>(share * (ratio - 1 - change));
    report.clipped_share += static_cast<double>(ratio > high || ratio < low ? share : 0.0F);
  }
}

void Ppo::value_gradients(std::span<const std::uint32_t> chosen, PpoReport& report) {
  const auto share = static_cast<float>(options_.value_weight) / static_cast<float>(chosen.size());
  output_gradient_.resize(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const float miss = value_activations_.outputs()[i] - experience_.returns[chosen[i]];
    output_gradient_[i] = 2 * miss * share;
    report.value_loss += static_cast<double>(miss * miss * share);
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

// What must agree for a checkpoint to be taken up: all that changes what training does.
std::string Ppo::fingerprint() const {
  const PpoOptions& o = options_;
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
                     fmt::join(policy_.shape().widths, "x"), static_cast<int>(o.activation),
                     o.steps, o.steps_per_round, o.minibatch, o.epochs, o.discount, o.lambda,
                     o.clip, o.value_weight, o.gradient_norm_max, o.learning_rate,
                     o.learning_rate_end, o.entropy, o.entropy_end, o.top, o.rounds_per_checkpoint,
                     o.seed, collector_.env_count());
}

nn::TensorFile Ppo::checkpoint() {
  CHECK(at_checkpoint());
  nn::TensorFile file;
  file.metadata["format"] = "partita-checkpoint/1";
  file.metadata["options"] = fingerprint();
  file.metadata["steps"] = std::to_string(steps_);
  file.metadata["rounds"] = std::to_string(rounds_);
  file.metadata["restarts"] = std::to_string(collector_.rounds());
  file.metadata["observations"] = collector_.observation_statistics().text();
  file.metadata["returns"] = collector_.return_statistics().text();
  file.tensors.push_back({"policy", {policy_.parameters().size()}, copy_of(policy_.parameters())});
  file.tensors.push_back({"value", {value_.parameters().size()}, copy_of(value_.parameters())});
  add_adam(file, "policy_adam", policy_adam_);
  add_adam(file, "value_adam", value_adam_);
  return file;
}

Status Ppo::resume(const nn::TensorFile& file) {
  const auto options = file.metadata.find("options");
  if (options == file.metadata.end()) return Error{"this is no checkpoint of training"};
  if (options->second != fingerprint()) {
    return Error{fmt::format("the checkpoint is of other options ({}), wanted {}", options->second,
                             fingerprint())};
  }
  const bool whole =
      restore_count(file, "steps", steps_) && restore_count(file, "rounds", rounds_) &&
      restore_count(file, "restarts", collector_.rounds()) &&
      restore_statistics(file, "observations", collector_.observation_statistics()) &&
      restore_statistics(file, "returns", collector_.return_statistics()) &&
      restore_tensor(file, "policy", policy_.parameters()) &&
      restore_tensor(file, "value", value_.parameters()) &&
      restore_adam(file, "policy_adam", policy_adam_) &&
      restore_adam(file, "value_adam", value_adam_);
  if (!whole) return Error{"the checkpoint lacks a part or has one of the wrong size"};
  return {};
}

}  // namespace partita::learn
