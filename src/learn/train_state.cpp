#include "learn/train_state.h"

#include <fmt/format.h>

#include <bit>

#include "base/text.h"

namespace partita::learn {
namespace {

constexpr std::string_view kPrefix = "training.";
constexpr std::string_view kBest = "training.best.";

std::string key(std::string_view name) {
  return fmt::format("{}{}", kPrefix, name);
}

// All bits of a number, as text.
std::string bits_of(double value) {
  return std::to_string(std::bit_cast<std::int64_t>(value));
}

std::optional<std::int64_t> count_at(const nn::TensorFile& file, std::string_view name) {
  const auto found = file.metadata.find(key(name));
  return found == file.metadata.end() ? std::nullopt : parse_int(found->second);
}

bool restore(const nn::TensorFile& file, std::string_view name, double& into) {
  const auto bits = count_at(file, name);
  if (!bits) return false;
  into = std::bit_cast<double>(*bits);
  return true;
}

Result<nn::Model> best_model(const nn::TensorFile& file) {
  nn::TensorFile model;
  for (const auto& [name, text] : file.metadata) {
    if (name.starts_with(kBest)) model.metadata[name.substr(kBest.size())] = text;
  }
  for (const nn::Tensor& tensor : file.tensors) {
    if (!tensor.name.starts_with(kBest)) continue;
    model.tensors.push_back({tensor.name.substr(kBest.size()), tensor.shape, tensor.values});
  }
  return nn::from_tensors(model);
}

}  // namespace

void add_state(const TrainState& state, nn::TensorFile& file) {
  file.metadata[key("phase")] = state.phase;
  file.metadata[key("next")] = bits_of(state.next_validation);
  file.metadata[key("since_best")] = std::to_string(state.since_best);
  file.metadata[key("decisions")] = std::to_string(state.decisions);
  if (!state.best_weighed) return;
  file.metadata[key("best_et")] = bits_of(state.best_et);
  file.metadata[key("best_energy")] = bits_of(state.best_energy_w_min);
  file.metadata[key("best_weighed")] = bits_of(*state.best_weighed);
  for (const auto& [name, text] : nn::to_tensors(state.best).metadata) {
    file.metadata[std::string(kBest) + name] = text;
  }
  for (nn::Tensor tensor : nn::to_tensors(state.best).tensors) {
    tensor.name = std::string(kBest) + tensor.name;
    file.tensors.push_back(std::move(tensor));
  }
}

Result<TrainState> read_state(const nn::TensorFile& file) {
  const Error lacking{"this is no checkpoint of training, or of an older program"};
  TrainState state;
  const auto phase = file.metadata.find(key("phase"));
  const auto since = count_at(file, "since_best");
  const auto decisions = count_at(file, "decisions");
  if (phase == file.metadata.end() || !since || !decisions || *since < 0 || *decisions < 0 ||
      !restore(file, "next", state.next_validation)) {
    return lacking;
  }
  state.phase = phase->second;
  state.since_best = static_cast<int>(*since);
  state.decisions = static_cast<std::uint64_t>(*decisions);
  double weighed = 0;
  if (!restore(file, "best_weighed", weighed)) return state;
  if (!restore(file, "best_et", state.best_et) ||
      !restore(file, "best_energy", state.best_energy_w_min)) {
    return lacking;
  }
  state.best_weighed = weighed;
  Result<nn::Model> best = best_model(file);
  if (!best) return best.error();
  state.best = *std::move(best);
  return state;
}

}  // namespace partita::learn
