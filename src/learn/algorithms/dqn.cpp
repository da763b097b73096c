#include "learn/algorithms/dqn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace partita::learn {
namespace {

nn::Shape shape_of(const DqnOptions& options, const EnvSpec& spec) {
  nn::Shape shape{{spec.observation}, options.activation};
  shape.widths.insert(shape.widths.end(), options.hidden.begin(), options.hidden.end());
  shape.widths.push_back(spec.table.choices);
  return shape;
}

std::size_t best_allowed(std::span<const float> values, std::span<const std::uint8_t> allowed) {
  std::size_t best = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (allowed[i] != 0 && (best == values.size() || values[i] > values[best])) best = i;
  }
  CHECK(best < values.size());
  return best;
}

}  // namespace

Dqn::Dqn(DqnOptions options, std::unique_ptr<Env> env)
    : options_(std::move(options)),
      env_(std::move(env)),
      spec_(env_->spec()),
      rng_(options_.seed, 1),
      network_(shape_of(options_, spec_)),
      target_(network_),
      adam_(network_.parameters().size()),
      replay_(spec_, options_.replay),
      observed_(static_cast<std::size_t>(spec_.observation)) {
  CHECK(spec_.table.rows == 1 && options_.batch > 0);
  Rng weights(options_.seed, 0);
  initialise(network_, weights, 0.1F);
  target_ = network_;
  raw_.resize(static_cast<std::size_t>(spec_.observation));
  allowed_.resize(static_cast<std::size_t>(spec_.table.choices));
  draws_.resize(1);
  table_.resize(static_cast<std::size_t>(spec_.table.choices));
  begin_episode();
  observe();
}

void Dqn::begin_episode() {
  env_->begin(episode_++);
  episode_choices_.clear();
}

void Dqn::observe() {
  env_->observe(raw_, allowed_, draws_);
  if (!options_.normalise_observations) return;
  // Frozen when learning begins: a network must not learn from inputs whose meaning moves.
  if (steps_ < options_.first_steps) observed_.add(raw_);
  if (steps_ + 1 == options_.first_steps) normaliser_ = observed_.normaliser();
}

std::uint16_t Dqn::choose() {
  if (steps_ < options_.first_steps || rng_.uniform() < random_share()) {
    const auto count = static_cast<std::uint64_t>(std::ranges::count(allowed_, std::uint8_t{1}));
    std::uint64_t left = rng_.below(count);
    for (std::size_t i = 0;; ++i) {
      if (allowed_[i] != 0 && left-- == 0) return static_cast<std::uint16_t>(i);
    }
  }
  seen_.assign(raw_.begin(), raw_.end());
  normaliser_.apply(seen_);
  acting_.forward(network_, seen_, 1, nn::best_kernels());
  return static_cast<std::uint16_t>(best_allowed(acting_.outputs(), allowed_));
}

Step Dqn::take(std::uint16_t choice) {
  std::ranges::fill(table_, std::uint16_t{0});
  table_[choice] = 1;
  episode_choices_.push_back(choice);
  return env_->step(table_);
}

Figures Dqn::advance(std::uint64_t steps) {
  double loss = 0;
  double rewards = 0;
  std::uint64_t updates = 0;
  std::uint64_t episodes = 0;
  for (std::uint64_t i = 0; i < steps && !finished(); ++i) {
    const std::uint16_t choice = choose();
    before_ = raw_;
    const Step step = take(choice);
    episode_reward_ += static_cast<double>(step.reward);
    if (step.done) {
      ++episodes;
      rewards += episode_reward_;
      episode_reward_ = 0;
      begin_episode();
    }
    observe();
    replay_.add(before_, choice, step.reward, step.done, raw_, allowed_);
    ++steps_;
    if (steps_ >= options_.first_steps && steps_ % options_.steps_per_update == 0) {
      loss += update();
      ++updates;
    }
  }
  const auto mean = [](double sum, std::uint64_t count) {
    return sum / static_cast<double>(std::max<std::uint64_t>(1, count));
  };
  return {{"episode_reward", mean(rewards, episodes)},
          {"loss", mean(loss, updates)},
          {"random_share", random_share()},
          {"learning_rate", learning_rate()}};
}

void Dqn::gather() {
  const auto width = static_cast<std::size_t>(spec_.observation);
  chosen_.resize(options_.batch);
  states_.resize(options_.batch * width);
  nexts_.resize(options_.batch * width);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    chosen_[i] = rng_.below(replay_.size());
    const auto state = std::span(states_).subspan(i * width, width);
    const auto next = std::span(nexts_).subspan(i * width, width);
    std::ranges::copy(replay_.observation(chosen_[i]), state.begin());
    std::ranges::copy(replay_.next(chosen_[i]), next.begin());
    normaliser_.apply(state);
    normaliser_.apply(next);
  }
}

// What the choices should have been worth: the reward and the discounted value of going on, whose
// choice the learning network makes and whose value the target network says.
void Dqn::set_targets() {
  const int batch = static_cast<int>(options_.batch);
  const auto choices = static_cast<std::size_t>(spec_.table.choices);
  target_activations_.forward(target_, nexts_, batch, nn::best_kernels());
  const std::span<const float> values = target_activations_.outputs();
  std::span<const float> chooser = values;
  if (options_.double_estimate) {
    next_activations_.forward(network_, nexts_, batch, nn::best_kernels());
    chooser = next_activations_.outputs();
  }
  targets_.resize(options_.batch);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    targets_[i] = replay_.reward(chosen_[i]);
    if (replay_.done(chosen_[i])) continue;
    const std::size_t best =
        best_allowed(chooser.subspan(i * choices, choices), replay_.next_allowed(chosen_[i]));
    targets_[i] += static_cast<float>(options_.discount) * values[i * choices + best];
  }
}

double Dqn::update() {
  gather();
  set_targets();
  const auto choices = static_cast<std::size_t>(spec_.table.choices);
  activations_.forward(network_, states_, static_cast<int>(options_.batch), nn::best_kernels());
  output_gradient_.assign(options_.batch * choices, 0.0F);
  double loss = 0;
  const auto share = 1.0F / static_cast<float>(options_.batch);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const std::size_t at = i * choices + replay_.choice(chosen_[i]);
    const float miss = activations_.outputs()[at] - targets_[i];
    const float size = std::abs(miss);
    // Huber's loss: a square up to 1, then a line.
    loss += static_cast<double>(share * (size < 1 ? 0.5F * miss * miss : size - 0.5F));
    output_gradient_[at] = std::clamp(miss, -1.0F, 1.0F) * share;
  }
  gradient_.assign(network_.parameters().size(), 0.0F);
  backward_.add(network_, states_, activations_, output_gradient_, gradient_, nn::best_kernels());
  const double length = norm(gradient_);
  if (length > options_.gradient_norm_max) scale(gradient_, options_.gradient_norm_max / length);
  adam_.step(network_.parameters(), gradient_, learning_rate());
  if (++updates_ % options_.updates_per_target == 0) target_ = network_;
  return loss;
}

void Dqn::state(StateFile& file) {
  const DqnOptions& o = options_;
  file.must_agree("options", fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
                                         fmt::join(network_.shape().widths, "x"),
                                         static_cast<int>(o.activation), o.steps, o.replay,
                                         o.first_steps, o.steps_per_update, o.updates_per_target,
                                         o.batch, o.discount, o.learning_rate, o.learning_rate_end,
                                         o.random_share, o.random_share_end, o.random_part,
                                         o.gradient_norm_max, o.double_estimate, o.seed));
  file.item("steps", steps_);
  file.item("updates", updates_);
  file.item("episode", episode_);
  file.item("episode_reward", episode_reward_);
  file.item("rng", rng_);
  file.item("observations", observed_);
  file.item("normaliser.mean", normaliser_.mean);
  file.item("normaliser.scale", normaliser_.scale);
  file.item("policy", network_.parameters());
  file.item("target", target_.parameters());
  file.item("adam", adam_);
  replay_.state(file);
  file.item("episode_choices", episode_choices_, table_.size());
  if (file.reads() && file.status() && !replay_episode()) file.refuse("episode_choices");
}

bool Dqn::replay_episode() {
  const std::vector<std::uint16_t> choices = std::move(episode_choices_);
  --episode_;
  begin_episode();
  env_->observe(raw_, allowed_, draws_);
  for (const std::uint16_t choice : choices) {
    if (take(choice).done) return false;
    env_->observe(raw_, allowed_, draws_);
  }
  return true;
}

}  // namespace partita::learn
