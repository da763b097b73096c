#include "policies/learned/mix_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "base/named.h"
#include "base/text.h"

namespace partita::policies {
namespace {

constexpr std::int64_t kRestMaxSeconds = 1'000'000;

struct PickRow {
  MixPick pick;
  std::string_view name;
};
constexpr std::array<PickRow, 3> kPicks{{
    {MixPick::kBest, "best"},
    {MixPick::kDraw, "draw"},
    {MixPick::kMean, "mean"},
}};

// A whole number of the header between two bounds.
Result<std::int64_t> fact_count(const nn::ModelFacts& facts, const std::string& key,
                                std::int64_t low, std::int64_t high) {
  const auto found = facts.more.find(key);
  const auto number = found == facts.more.end() ? std::nullopt : parse_int(found->second);
  if (!number || *number < low || *number > high) {
    return Error{fmt::format("the model's header has no '{}' from {} to {}", key, low, high)};
  }
  return *number;
}

Result<MixPick> fact_pick(const nn::ModelFacts& facts) {
  const auto found = facts.more.find("pick");
  const std::string name = found == facts.more.end() ? "" : found->second;
  const auto row = find_named("pick of the model", name, kPicks, &PickRow::name);
  if (!row) return row.error();
  return (*row)->pick;
}

Result<double> fact_reluctance(const nn::ModelFacts& facts) {
  const auto found = facts.more.find("reluctance");
  const auto number = found == facts.more.end() ? std::nullopt : parse_double(found->second);
  if (!number || *number < 0 || *number > 1000) {
    return Error{"the model's header has no 'reluctance' from 0 to 1000"};
  }
  return *number;
}

Status read_counts(const nn::ModelFacts& facts, MixRules& rules) {
  const auto entries = static_cast<std::int64_t>(rules.menu.entries.size());
  const auto start = fact_count(facts, "start", 0, entries - 1);
  if (!start) return start.error();
  const auto every = fact_count(facts, "every", 1, 1'000'000);
  if (!every) return every.error();
  const auto moves = fact_count(facts, "moves", 1, 1'000'000);
  if (!moves) return moves.error();
  const auto top = fact_count(facts, "top", 0, 16);
  if (!top) return top.error();
  // Files from before there was a rest have none.
  if (facts.more.contains("rest")) {
    const auto rest = fact_count(facts, "rest", 0, kRestMaxSeconds);
    if (!rest) return rest.error();
    rules.rest = Micros::seconds(*rest);
  }
  const auto reluctance = fact_reluctance(facts);
  if (!reluctance) return reluctance.error();
  rules.start = static_cast<std::size_t>(*start);
  rules.every_events = static_cast<std::uint64_t>(*every);
  rules.moves_max = static_cast<int>(*moves);
  rules.top = static_cast<int>(*top);
  rules.reluctance = *reluctance;
  return {};
}

}  // namespace

nn::TableShape MixRules::table() const {
  const int choices = static_cast<int>(menu.entries.size());
  return {pick == MixPick::kDraw ? choices : 1, choices};
}

std::size_t MixRules::observation_size() const {
  return FleetObservation(encoding, menu.layouts.size()).size();
}

Result<MixRules> make_mix_rules(Encoding encoding, MixPick pick, const mig::GpuModel& model,
                                std::string_view menu_text) {
  Result<MixMenu> menu = parse_menu(model, menu_text);
  if (!menu) return menu.error();
  if (pick == MixPick::kDraw && menu->entries.size() != menu->layouts.size()) {
    return Error{"GPUs that draw their layouts need a menu of single layouts"};
  }
  MixRules rules;
  rules.encoding = encoding;
  rules.pick = pick;
  rules.model = &model;
  rules.menu_text = menu_text;
  rules.menu = *std::move(menu);
  return rules;
}

void write_rules(const MixRules& rules, nn::ModelFacts& facts) {
  facts.encoding = encoding_name(rules.encoding);
  facts.gpu = rules.model->key;
  facts.layouts = rules.menu_text;
  for (const PickRow& row : kPicks) {
    if (row.pick == rules.pick) facts.more["pick"] = row.name;
  }
  facts.more["start"] = std::to_string(rules.start);
  facts.more["every"] = std::to_string(rules.every_events);
  facts.more["moves"] = std::to_string(rules.moves_max);
  facts.more["reluctance"] = fmt::format("{}", rules.reluctance);
  facts.more["rest"] = std::to_string(rules.rest.count / 1'000'000);
  facts.more["top"] = std::to_string(rules.top);
}

Result<MixRules> read_rules(const nn::Model& model, const mig::GpuModel& gpu) {
  const Result<Encoding> encoding = encoding_named(model.facts.encoding);
  if (!encoding) return encoding.error();
  // Siblings share the shapes and numbers of layouts, and what the network sees is in minutes.
  const auto trained_on = mig::find_gpu(model.facts.gpu);
  if (!trained_on || (*trained_on)->compute_slices != gpu.compute_slices) {
    return Error{fmt::format("the model is for {}, not for {}", model.facts.gpu, gpu.key)};
  }
  const Result<MixPick> pick = fact_pick(model.facts);
  if (!pick) return pick.error();
  Result<MixRules> rules = make_mix_rules(*encoding, *pick, gpu, model.facts.layouts);
  if (!rules) return rules.error();
  if (const Status counts = read_counts(model.facts, *rules); !counts) return counts.error();
  const nn::Shape& shape = model.policy.shape();
  if (static_cast<std::size_t>(shape.inputs()) != rules->observation_size() ||
      shape.outputs() != rules->table().size()) {
    return Error{fmt::format(
        "the model's network has {} inputs and {} outputs; its header wants "
        "{} and {}",
        shape.inputs(), shape.outputs(), rules->observation_size(), rules->table().size())};
  }
  return rules;
}

MixState::MixState(const MixRules& rules)
    : rules_(rules),
      mix_(rules.menu.layouts, rules.rest),
      observation_(rules.encoding, rules.menu.layouts.size()),
      shares_(rules.menu.layouts.size()) {}

std::vector<mig::Layout> MixState::begin(std::uint32_t gpus) {
  observation_.begin();
  mix_.begin(counts_for(rules_.menu.entries[rules_.start], gpus));
  return mix_.present();
}

void MixState::observe(const decide::View& view, std::span<float> out) {
  observation_.write(view, mix_, out);
}

void MixState::draws(std::span<std::uint16_t> out) const {
  if (rules_.pick != MixPick::kDraw) {
    out[0] = 1;
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint16_t>(
        std::min<std::uint32_t>(mix_.count(i), std::numeric_limits<std::uint16_t>::max()));
  }
}

void MixState::take(const decide::View& view, std::size_t entry,
                    std::vector<decide::LayoutRequest>& requests) {
  mix_.move_towards(view, rules_.menu.entries[entry], rules_.moves_max, rules_.reluctance,
                    requests);
}

void MixState::take_mean(const decide::View& view, std::span<const float> probabilities,
                         std::vector<decide::LayoutRequest>& requests) {
  std::ranges::fill(shares_, 0.0F);
  for (std::size_t e = 0; e < probabilities.size(); ++e) {
    const std::vector<float>& entry = rules_.menu.entries[e];
    for (std::size_t i = 0; i < shares_.size(); ++i) shares_[i] += probabilities[e] * entry[i];
  }
  mix_.move_towards(view, shares_, rules_.moves_max, rules_.reluctance, requests);
}

void MixState::take_table(const decide::View& view, std::span<const std::uint16_t> table,
                          std::vector<decide::LayoutRequest>& requests) {
  const std::size_t count = mix_.layout_count();
  CHECK(table.size() == count * count);
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      if (from == to) continue;
      for (std::uint16_t i = 0; i < table[from * count + to]; ++i) {
        mix_.move_one(view, from, to, requests);
      }
    }
  }
}

}  // namespace partita::policies
