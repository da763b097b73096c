// Model: a trained policy as a file: what it is, how it was made, and its networks.
//
// docs/reference/models.md describes the file.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nn/network.h"
#include "nn/tensor_file.h"

namespace partita::nn {

// What a model needs to be used rightly, and where it comes from. All of it is in the file.
struct ModelFacts {
  std::string encoding;  // what its inputs and outputs mean, with a version: "mean-field+/1"
  std::string gpu;       // model key: the layouts below are of this GPU
  std::string layouts;   // what it chooses from, in order of its outputs
  std::string command;   // that trained it
  std::string seed;
  std::string commit;                       // of the program that trained it
  std::map<std::string, std::string> more;  // what the encoding wants besides

  bool operator==(const ModelFacts&) const = default;
};

// Observations are shifted and scaled before the network sees them, and cut at +-`clip`.
struct Normaliser {
  std::vector<float> mean;
  std::vector<float> scale;
  float clip = 10;

  // REQUIRES: state has as many values as the normaliser, or the normaliser is empty.
  void apply(std::span<float> state) const;
  bool operator==(const Normaliser&) const = default;
};

// Where nearly all observations of training lay, number by number, before they were normalised.
struct Ranges {
  std::vector<float> low;
  std::vector<float> high;

  bool empty() const { return low.empty(); }
  // How far the number that is farthest outside is, in widths of its range; 0 when all are inside.
  // A range without a width counts as one of kWidthMin. REQUIRES: as many numbers as the ranges.
  double outside(std::span<const float> state) const;

  static constexpr float kWidthMin = 0.02F;
  bool operator==(const Ranges&) const = default;
};

// Distributions of some numbers, each as its share at or below kPoints values.
struct Distributions {
  static constexpr std::size_t kPoints = 9;
  std::vector<float> at;     // kPoints for each number, ascending
  std::vector<float> share;  // at or below that

  bool empty() const { return at.empty(); }
  std::size_t numbers() const { return at.size() / kPoints; }
  bool operator==(const Distributions&) const = default;
};

struct Model {
  ModelFacts facts;
  Normaliser normaliser;  // empty: none
  Ranges seen;            // empty: not recorded
  Distributions drawn;    // of what made up its training, jobs for example; empty: not recorded
  Network policy;
  std::optional<Network> value;  // what training also had; not needed to decide

  bool operator==(const Model&) const = default;
};

TensorFile to_tensors(const Model& model);
// Refuses a file that is not a model of ours, lacks something, or has networks whose layers do not
// fit each other or numbers that are not finite.
Result<Model> from_tensors(const TensorFile& file);

Result<Model> parse_model(std::string_view bytes);
std::string format_model(const Model& model);

// Errors name the path. Writing goes by way of PATH.new, so that a model is there old or new.
Result<std::string> read_bytes(const std::string& path);
Status write_bytes(const std::string& path, std::string_view bytes);
Result<Model> read_model(const std::string& path);

}  // namespace partita::nn
