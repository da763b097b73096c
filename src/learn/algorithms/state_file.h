// StateFile: a checkpoint of training. Each part of a training names its state once, by item(); the
// same lines write a checkpoint and read one back, so nothing can be written and not read.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "learn/algorithms/adam.h"
#include "learn/algorithms/running_statistics.h"
#include "nn/model.h"

namespace partita::learn {

class StateFile {
 public:
  // To write.
  StateFile();
  // To read; `from` outlives it. What is no checkpoint is an error of status().
  explicit StateFile(const nn::TensorFile& from);

  bool reads() const { return from_ != nullptr; }
  const nn::TensorFile& file() const { return file_; }
  // When reading: the first thing that was missing or did not fit. What was named after it kept
  // the value it had.
  Status status() const { return error_ ? Status(*error_) : Status(); }

  // What must be the same when training goes on: all options that change what it does.
  void must_agree(const std::string& name, const std::string& text);

  void item(const std::string& name, std::string& text);
  void item(const std::string& name, double& value);  // all its bits
  template <std::integral T>
  void item(const std::string& name, T& value) {
    auto count = static_cast<std::uint64_t>(value);
    count_item(name, count);
    value = static_cast<T>(count);
  }
  void item(const std::string& name, std::span<float> values);
  // Whole numbers below `limit`, which a float holds exactly.
  template <std::unsigned_integral T>
  void item(const std::string& name, std::span<T> values, std::size_t limit);
  // Either, of a size that is in the file.
  template <typename T, typename... Limit>
  void item(const std::string& name, std::vector<T>& values, Limit... limit) {
    if (const nn::Tensor* found = reads() ? tensor_of(name) : nullptr) {
      values.resize(found->values.size());
    }
    item(name, std::span(values), limit...);
  }
  void item(const std::string& name, Adam& adam);
  void item(const std::string& name, RunningStatistics& statistics);
  void item(const std::string& name, Rng& rng);
  void item(const std::string& name, nn::Model& model);
  // Says that what was read under the name cannot be.
  void refuse(const std::string& name);

 private:
  static constexpr const char* kFormat = "partita-checkpoint/2";
  void count_item(const std::string& name, std::uint64_t& count);
  // Null when there is none, which is an error then.
  const nn::Tensor* tensor_of(const std::string& name);

  nn::TensorFile file_;
  const nn::TensorFile* from_ = nullptr;
  std::optional<Error> error_;
};

template <std::unsigned_integral T>
void StateFile::item(const std::string& name, std::span<T> values, std::size_t limit) {
  std::vector<float> floats(values.begin(), values.end());
  item(name, std::span(floats));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(floats[i] >= 0 && floats[i] < static_cast<float>(limit))) return refuse(name);
    values[i] = static_cast<T>(floats[i]);
  }
}

}  // namespace partita::learn
