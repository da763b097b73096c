#include "policies/learned/place_rules.h"

#include <fmt/format.h>

#include "base/text.h"
#include "policies/learned/place_scene.h"
#include "policies/learned/slice_observation.h"

namespace partita::policies {
namespace {

constexpr std::string_view kPublishedName = "place/1";
constexpr std::string_view kPlusName = "place+/1";

constexpr std::array<std::string_view, kPlacePieces> kPieceNames{"wait", "jobs", "forecast",
                                                                 "queue", "rule"};

std::string left_out(const PlaceRules& rules) {
  std::string names;
  for (std::size_t i = 0; i < kPlacePieces; ++i) {
    if (!rules.without[i]) continue;
    names += names.empty() ? "" : ",";
    names += kPieceNames[i];
  }
  return names;
}

std::string fact(const nn::ModelFacts& facts, const std::string& key) {
  const auto found = facts.more.find(key);
  return found == facts.more.end() ? "" : found->second;
}

Status check_slices(const PlaceRules& rules) {
  for (const std::string_view part : split(rules.slices, ',')) {
    const auto size = parse_int(part);
    if (!size || *size < 1 || *size > mig::kComputeSlicesMax) {
      return Error{fmt::format("the model's header has slices '{}'; wanted sizes such as 7,4,3",
                               rules.slices)};
    }
  }
  return {};
}

}  // namespace

std::string_view piece_name(PlacePiece piece) {
  return kPieceNames[static_cast<std::size_t>(piece)];
}

std::vector<std::string> piece_names() {
  return {kPieceNames.begin(), kPieceNames.end()};
}

std::size_t PlaceRules::slice_count() const {
  return split(slices, ',').size();
}

int PlaceRules::inputs() const {
  return encoding == PlaceEncoding::kPlus ? static_cast<int>(kPlaceFeatures)
                                          : static_cast<int>(slice_observation_size(slice_count()));
}

int PlaceRules::outputs() const {
  return encoding == PlaceEncoding::kPlus ? 1 : static_cast<int>(slice_count());
}

Status leave_out(PlaceRules& rules, std::string_view names) {
  if (trim(names).empty()) return {};
  for (const std::string_view part : split(names, ',')) {
    const std::string_view name = trim(part);
    bool found = false;
    for (std::size_t i = 0; i < kPlacePieces; ++i) {
      if (kPieceNames[i] != name) continue;
      rules.without[i] = true;
      found = true;
    }
    if (!found) return unknown_name("piece of place+", name, piece_names());
  }
  return {};
}

bool is_place_model(const nn::ModelFacts& facts) {
  return facts.encoding.starts_with("place");
}

void write_rules(const PlaceRules& rules, nn::ModelFacts& facts) {
  const bool plus = rules.encoding == PlaceEncoding::kPlus;
  facts.encoding = plus ? kPlusName : kPublishedName;
  facts.gpu = rules.gpu;
  facts.layouts = plus ? "any" : rules.slices;
  if (plus) facts.more["without"] = left_out(rules);
}

Result<PlaceRules> read_place_rules(const nn::Model& model) {
  PlaceRules rules;
  rules.gpu = model.facts.gpu;
  if (model.facts.encoding == kPublishedName) {
    rules.encoding = PlaceEncoding::kPublished;
    rules.slices = model.facts.layouts;
    if (const Status good = check_slices(rules); !good) return good.error();
  } else if (model.facts.encoding == kPlusName) {
    const Status good = leave_out(rules, fact(model.facts, "without"));
    if (!good) return good.error();
  } else {
    return Error{fmt::format("the model's encoding '{}' is not that of a scheduler; known: {}, {}",
                             model.facts.encoding, kPublishedName, kPlusName)};
  }
  const nn::Shape& shape = model.policy.shape();
  if (shape.inputs() != rules.inputs() || shape.outputs() != rules.outputs()) {
    return Error{fmt::format("the model's network has {} inputs and {} outputs; {} has {} and {}",
                             shape.inputs(), shape.outputs(), model.facts.encoding, rules.inputs(),
                             rules.outputs())};
  }
  return rules;
}

}  // namespace partita::policies
