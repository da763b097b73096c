#include "nn/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/check.h"

namespace partita::nn {
namespace {

constexpr std::string_view kFormat = "partita-model/1";
constexpr int kLayersMax = 16;

// The facts that have a place of their own, by their key in the file.
struct FactRow {
  std::string_view key;
  std::string ModelFacts::*member;
};
constexpr std::array<FactRow, 6> kFactRows{{
    {"encoding", &ModelFacts::encoding},
    {"gpu", &ModelFacts::gpu},
    {"layouts", &ModelFacts::layouts},
    {"command", &ModelFacts::command},
    {"seed", &ModelFacts::seed},
    {"commit", &ModelFacts::commit},
}};

std::string_view activation_name(Activation activation) {
  return activation == Activation::kRelu ? "relu" : "tanh";
}

std::string layer_key(std::string_view network, int layer, std::string_view what) {
  return fmt::format("{}.{}.{}", network, layer, what);
}

void add_network(TensorFile& file, std::string_view name, const Network& network) {
  file.metadata[fmt::format("{}.activation", name)] = activation_name(network.shape().activation);
  for (int i = 0; i < network.shape().layers(); ++i) {
    const LayerSize size = network.shape().layer(i);
    const auto weights = network.weights(i);
    const auto biases = network.biases(i);
    file.tensors.push_back(
        {layer_key(name, i, "weight"),
         {static_cast<std::uint64_t>(size.outputs), static_cast<std::uint64_t>(size.inputs)},
         {weights.begin(), weights.end()}});
    file.tensors.push_back({layer_key(name, i, "bias"),
                            {static_cast<std::uint64_t>(size.outputs)},
                            {biases.begin(), biases.end()}});
  }
}

Result<Activation> read_activation(const TensorFile& file, std::string_view network) {
  const auto found = file.metadata.find(fmt::format("{}.activation", network));
  if (found == file.metadata.end()) {
    return Error{fmt::format("the model does not say the activation of its {} network", network)};
  }
  for (const Activation each : {Activation::kRelu, Activation::kTanh}) {
    if (found->second == activation_name(each)) return each;
  }
  return Error{fmt::format("the model's {} network has activation '{}'; known: relu, tanh", network,
                           found->second)};
}

// The widths that the weights of the network say, each layer fitting the one before.
Result<Shape> read_shape(const TensorFile& file, std::string_view name) {
  Shape shape;
  for (int i = 0; i < kLayersMax; ++i) {
    const Tensor* weight = file.find(layer_key(name, i, "weight"));
    const Tensor* bias = file.find(layer_key(name, i, "bias"));
    if (weight == nullptr && bias == nullptr) break;
    const bool fits =
        weight != nullptr && bias != nullptr && weight->shape.size() == 2 &&
        bias->shape.size() == 1 && bias->shape[0] == weight->shape[0] && weight->shape[0] > 0 &&
        weight->shape[1] > 0 &&
        (i == 0 || weight->shape[1] == static_cast<std::uint64_t>(shape.widths.back()));
    if (!fits) {
      return Error{
          fmt::format("layer {} of the model's {} network does not fit the one before", i, name)};
    }
    if (i == 0) shape.widths.push_back(static_cast<int>(weight->shape[1]));
    shape.widths.push_back(static_cast<int>(weight->shape[0]));
  }
  if (shape.widths.empty()) return Error{fmt::format("the model has no {} network", name)};
  const auto activation = read_activation(file, name);
  if (!activation) return activation.error();
  shape.activation = *activation;
  return shape;
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

Result<Network> read_network(const TensorFile& file, std::string_view name) {
  const Result<Shape> shape = read_shape(file, name);
  if (!shape) return shape.error();
  Network network(*shape);
  for (int i = 0; i < shape->layers(); ++i) {
    std::ranges::copy(file.find(layer_key(name, i, "weight"))->values, network.weights(i).begin());
    std::ranges::copy(file.find(layer_key(name, i, "bias"))->values, network.biases(i).begin());
  }
  if (!all_finite(network.parameters())) {
    return Error{fmt::format("the model's {} network has numbers that are not finite", name)};
  }
  return network;
}

Result<Normaliser> read_normaliser(const TensorFile& file, int inputs) {
  Normaliser normaliser;
  const Tensor* mean = file.find("observation.mean");
  const Tensor* scale = file.find("observation.scale");
  if (mean == nullptr && scale == nullptr) return normaliser;
  const auto wanted = static_cast<std::size_t>(inputs);
  if (mean == nullptr || scale == nullptr || mean->values.size() != wanted ||
      scale->values.size() != wanted || !all_finite(mean->values) || !all_finite(scale->values)) {
    return Error{fmt::format(
        "observation.mean and observation.scale of the model are not {} finite numbers", inputs)};
  }
  normaliser.mean = mean->values;
  normaliser.scale = scale->values;
  return normaliser;
}

Result<Ranges> read_ranges(const TensorFile& file, int inputs) {
  Ranges ranges;
  const Tensor* low = file.find("observation.low");
  const Tensor* high = file.find("observation.high");
  if (low == nullptr && high == nullptr) return ranges;
  const auto wanted = static_cast<std::size_t>(inputs);
  bool good = low != nullptr && high != nullptr && low->values.size() == wanted &&
              high->values.size() == wanted && all_finite(low->values) && all_finite(high->values);
  for (std::size_t i = 0; good && i < wanted; ++i) good = low->values[i] <= high->values[i];
  if (!good) {
    return Error{fmt::format(
        "observation.low and observation.high of the model are not {} finite ranges", inputs)};
  }
  ranges.low = low->values;
  ranges.high = high->values;
  return ranges;
}

Result<Distributions> read_distributions(const TensorFile& file) {
  Distributions drawn;
  const Tensor* at = file.find("drawn.at");
  const Tensor* share = file.find("drawn.share");
  if (at == nullptr && share == nullptr) return drawn;
  const bool good = at != nullptr && share != nullptr &&
                    at->values.size() % Distributions::kPoints == 0 &&
                    at->values.size() == share->values.size() && all_finite(at->values) &&
                    all_finite(share->values);
  if (!good) {
    return Error{
        fmt::format("drawn.at and drawn.share of the model are not {} finite numbers for "
                    "each distribution",
                    Distributions::kPoints)};
  }
  drawn.at = at->values;
  drawn.share = share->values;
  return drawn;
}

Status read_facts(const TensorFile& file, ModelFacts& facts) {
  const auto format = file.metadata.find("format");
  if (format == file.metadata.end() || format->second != kFormat) {
    return Error{
        fmt::format("this safetensors file is no model of partita: its format is '{}', "
                    "wanted {}",
                    format == file.metadata.end() ? "" : format->second, kFormat)};
  }
  for (const FactRow& row : kFactRows) {
    const auto found = file.metadata.find(std::string(row.key));
    if (found == file.metadata.end()) {
      return Error{fmt::format("the model does not say its {}", row.key)};
    }
    facts.*row.member = found->second;
  }
  for (const auto& [key, value] : file.metadata) {
    if (key.starts_with("more.")) facts.more[key.substr(5)] = value;
  }
  return {};
}

}  // namespace

void Normaliser::apply(std::span<float> state) const {
  CHECK(mean.empty() || mean.size() == state.size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    state[i] = std::clamp((state[i] - mean[i]) * scale[i], -clip, clip);
  }
}

double Ranges::outside(std::span<const float> state) const {
  CHECK(low.size() == state.size());
  float farthest = 0;
  for (std::size_t i = 0; i < low.size(); ++i) {
    const float beyond = std::max(low[i] - state[i], state[i] - high[i]);
    farthest = std::max(farthest, beyond / std::max(kWidthMin, high[i] - low[i]));
  }
  return static_cast<double>(farthest);
}

TensorFile to_tensors(const Model& model) {
  TensorFile file;
  file.metadata["format"] = kFormat;
  for (const FactRow& row : kFactRows) {
    file.metadata[std::string(row.key)] = model.facts.*row.member;
  }
  for (const auto& [key, value] : model.facts.more) file.metadata["more." + key] = value;
  const Normaliser& normaliser = model.normaliser;
  if (!normaliser.mean.empty()) {
    file.tensors.push_back({"observation.mean", {normaliser.mean.size()}, normaliser.mean});
    file.tensors.push_back({"observation.scale", {normaliser.scale.size()}, normaliser.scale});
  }
  if (!model.seen.empty()) {
    file.tensors.push_back({"observation.low", {model.seen.low.size()}, model.seen.low});
    file.tensors.push_back({"observation.high", {model.seen.high.size()}, model.seen.high});
  }
  if (!model.drawn.empty()) {
    file.tensors.push_back({"drawn.at", {model.drawn.at.size()}, model.drawn.at});
    file.tensors.push_back({"drawn.share", {model.drawn.share.size()}, model.drawn.share});
  }
  add_network(file, "policy", model.policy);
  if (model.value) add_network(file, "value", *model.value);
  return file;
}

Result<Model> from_tensors(const TensorFile& file) {
  Model model;
  if (const Status facts = read_facts(file, model.facts); !facts) return facts.error();
  Result<Network> policy = read_network(file, "policy");
  if (!policy) return policy.error();
  model.policy = *std::move(policy);
  if (file.find(layer_key("value", 0, "weight")) != nullptr) {
    Result<Network> value = read_network(file, "value");
    if (!value) return value.error();
    model.value = *std::move(value);
  }
  Result<Normaliser> normaliser = read_normaliser(file, model.policy.shape().inputs());
  if (!normaliser) return normaliser.error();
  model.normaliser = *std::move(normaliser);
  Result<Ranges> seen = read_ranges(file, model.policy.shape().inputs());
  if (!seen) return seen.error();
  model.seen = *std::move(seen);
  Result<Distributions> drawn = read_distributions(file);
  if (!drawn) return drawn.error();
  model.drawn = *std::move(drawn);
  return model;
}

Result<Model> parse_model(std::string_view bytes) {
  const Result<TensorFile> file = parse_tensor_file(bytes);
  if (!file) return file.error();
  return from_tensors(*file);
}

std::string format_model(const Model& model) {
  return format_tensor_file(to_tensors(model));
}

Result<std::string> read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{fmt::format("cannot open '{}'", path)};
  std::string bytes;
  std::array<char, 1 << 16> piece{};
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    bytes.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > kTensorFileBytesMax) {
      return Error{fmt::format("'{}' is larger than 256 MiB", path)};
    }
  }
  if (in.bad()) return Error{fmt::format("cannot read '{}'", path)};
  return bytes;
}

Status write_bytes(const std::string& path, std::string_view bytes) {
  const std::string fresh = path + ".new";
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) return Error{fmt::format("cannot write '{}'", fresh)};
  if (std::rename(fresh.c_str(), path.c_str()) != 0) {
    return Error{fmt::format("cannot replace '{}' by '{}'", path, fresh)};
  }
  return {};
}

Result<Model> read_model(const std::string& path) {
  const Result<std::string> bytes = read_bytes(path);
  if (!bytes) return bytes.error();
  Result<Model> model = parse_model(*bytes);
  if (!model) return Error{fmt::format("'{}': {}", path, model.error().message)};
  return model;
}

}  // namespace partita::nn
