// PlaceRules: what a learned scheduler sees and may do, as the header of its model file says it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nn/model.h"

namespace partita::policies {

enum class PlaceEncoding : std::uint8_t {
  kPublished,  // the technical report: a slice for the job with the earliest deadline
  kPlus,       // ours: a score for every pair of a waiting job and a kind of slice
};

// The pieces of kPlus that can be switched off by name.
enum class PlacePiece : std::uint8_t {
  kWait,      // a job may wait although a slice is free
  kJobs,      // it chooses among jobs; without: the first by modified due date
  kForecast,  // it sees when busy slices become free
  kQueue,     // it sees how much waits and how full the fleet is
  kRule,      // the network corrects modified due date with the slowest slice; without: no rule
};
inline constexpr std::size_t kPlacePieces = 5;
std::string_view piece_name(PlacePiece piece);
std::vector<std::string> piece_names();

struct PlaceRules {
  PlaceEncoding encoding = PlaceEncoding::kPlus;
  std::array<bool, kPlacePieces> without{};
  // kPublished: the compute slices of the instances it was trained on, GPU by GPU: "7,7,4,3".
  std::string slices;
  std::string gpu;  // kPublished: key of the GPU model; kPlus runs on every model

  bool has(PlacePiece piece) const { return !without[static_cast<std::size_t>(piece)]; }
  std::size_t slice_count() const;
  int inputs() const;
  int outputs() const;
};

// "wait,forecast": the pieces to leave out; empty for none.
Status leave_out(PlaceRules& rules, std::string_view names);

// Whether the header is of a scheduler at all (or of a repartitioner).
bool is_place_model(const nn::ModelFacts& facts);

void write_rules(const PlaceRules& rules, nn::ModelFacts& facts);
// Refuses an encoding it does not know and a network that does not fit it.
Result<PlaceRules> read_place_rules(const nn::Model& model);

}  // namespace partita::policies
