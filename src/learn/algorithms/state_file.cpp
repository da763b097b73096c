#include "learn/algorithms/state_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/text.h"

namespace partita::learn {

StateFile::StateFile() {
  file_.metadata["format"] = kFormat;
}

StateFile::StateFile(const nn::TensorFile& from) : from_(&from) {
  const auto format = from.metadata.find("format");
  if (format != from.metadata.end() && format->second == kFormat) return;
  error_ = Error{"this is no checkpoint of training, or of an older program"};
}

void StateFile::refuse(const std::string& name) {
  if (error_) return;
  error_ = Error{fmt::format("the checkpoint lacks {} or has one that does not fit", name)};
}

const nn::Tensor* StateFile::tensor_of(const std::string& name) {
  if (error_) return nullptr;
  const nn::Tensor* found = from_->find(name);
  if (found == nullptr) refuse(name);
  return found;
}

void StateFile::must_agree(const std::string& name, const std::string& text) {
  std::string found = text;
  item(name, found);
  if (found == text || error_) return;
  error_ = Error{fmt::format("the checkpoint is of other options ({}), wanted {}", found, text)};
}

void StateFile::item(const std::string& name, std::string& text) {
  if (!reads()) {
    file_.metadata[name] = text;
    return;
  }
  const auto found = from_->metadata.find(name);
  if (found == from_->metadata.end()) return refuse(name);
  if (!error_) text = found->second;
}

void StateFile::item(const std::string& name, double& value) {
  auto bits = std::bit_cast<std::uint64_t>(value);
  item(name, bits);
  value = std::bit_cast<double>(bits);
}

void StateFile::count_item(const std::string& name, std::uint64_t& count) {
  std::string text = std::to_string(static_cast<std::int64_t>(count));
  item(name, text);
  const auto found = parse_int(text);
  if (!found) return refuse(name);
  count = static_cast<std::uint64_t>(*found);
}

void StateFile::item(const std::string& name, std::span<float> values) {
  if (!reads()) {
    file_.tensors.push_back({name, {values.size()}, {values.begin(), values.end()}});
  } else if (const nn::Tensor* found = tensor_of(name)) {
    if (found->values.size() != values.size()) return refuse(name);
    std::ranges::copy(found->values, values.begin());
  }
}

void StateFile::item(const std::string& name, Adam& adam) {
  item(name + ".first", std::span(adam.first()));
  item(name + ".second", std::span(adam.second()));
  item(name + ".steps", adam.steps());
}

void StateFile::item(const std::string& name, RunningStatistics& statistics) {
  std::string text = statistics.text();
  item(name, text);
  if (reads() && !error_ && !statistics.restore(text)) refuse(name);
}

void StateFile::item(const std::string& name, Rng& rng) {
  std::size_t word = 0;
  for (std::uint64_t& each : rng.state()) item(fmt::format("{}.{}", name, word++), each);
}

void StateFile::item(const std::string& name, nn::Model& model) {
  const std::string prefix = name + ".";
  if (!reads()) {
    nn::TensorFile parts = nn::to_tensors(model);
    for (const auto& [key, text] : parts.metadata) file_.metadata[prefix + key] = text;
    for (nn::Tensor& tensor : parts.tensors) {
      tensor.name = prefix + tensor.name;
      file_.tensors.push_back(std::move(tensor));
    }
    return;
  }
  nn::TensorFile parts;
  for (const auto& [key, text] : from_->metadata) {
    if (key.starts_with(prefix)) parts.metadata[key.substr(prefix.size())] = text;
  }
  for (const nn::Tensor& tensor : from_->tensors) {
    if (!tensor.name.starts_with(prefix)) continue;
    parts.tensors.push_back({tensor.name.substr(prefix.size()), tensor.shape, tensor.values});
  }
  Result<nn::Model> found = nn::from_tensors(parts);
  if (!found) return refuse(name);
  if (!error_) model = *std::move(found);
}

}  // namespace partita::learn
