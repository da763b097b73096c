#include "bounds/certificate.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace partita::bounds {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "partita bound certificate 1";
constexpr std::string_view kNoPreemption = "none";
constexpr std::size_t kPricesMax = 10'000'000;  // of a file; far beyond what is written

Json prices_json(const PriceGrid& grid) {
  Json json;
  json["edges_us"] = grid.edges;
  Json rows = Json::array();
  for (std::size_t i = 0; i < grid.intervals(); ++i) {
    rows.push_back(std::vector<double>(grid.at(i), grid.at(i) + grid.modes));
  }
  json["prices"] = std::move(rows);
  return json;
}

Json tree_json(const SlotTree& tree) {
  Json json;
  json["slot_us"] = tree.slot_us;
  json["slots"] = tree.slots;
  Json nodes = Json::array();
  for (const SlotTreeNode& node : tree.nodes) {
    if (node.leaf) {
      nodes.push_back({{"prices", node.prices}});
    } else {
      nodes.push_back({{"job", node.job}, {"by_slot", node.slot}});
    }
  }
  json["cases"] = std::move(nodes);
  return json;
}

Json bound_json(const Bound& bound) {
  Json json;
  json["kind"] = name_of(bound.kind);
  json["name"] = bound.name;
  json["value"] = bound.value;
  if (bound.prices) json.update(prices_json(*bound.prices));
  if (bound.tree) json.update(tree_json(*bound.tree));
  return json;
}

// A number that is whole in the text: one too large would be read as a fraction, and no longer fit.
std::uint64_t whole(const Json& json, const char* key,
                    std::uint64_t most = std::numeric_limits<std::int64_t>::max()) {
  const Json& value = json.at(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
    throw std::invalid_argument(fmt::format("{} must be a whole number up to {}", key, most));
  }
  return value.get<std::uint64_t>();
}

// What is missing or of the wrong type ends the reading; exceptions go no further than
// parse_certificate.
PriceGrid read_prices(const Json& json) {
  PriceGrid grid;
  grid.edges = json.at("edges_us").get<std::vector<double>>();
  for (const Json& row : json.at("prices")) {
    const auto prices = row.get<std::vector<double>>();
    if (!grid.prices.empty() && prices.size() != grid.modes) {
      throw std::invalid_argument("rows of prices differ in length");
    }
    grid.modes = prices.size();
    if (grid.prices.size() + grid.modes > kPricesMax) {
      throw std::invalid_argument("there are too many prices");
    }
    grid.prices.insert(grid.prices.end(), prices.begin(), prices.end());
  }
  if (grid.prices.size() != grid.edges.size() * grid.modes) {
    throw std::invalid_argument("there must be a row of prices for each edge");
  }
  return grid;
}

SlotTree read_tree(const Json& json) {
  SlotTree tree;
  tree.slot_us = static_cast<std::int64_t>(whole(json, "slot_us"));
  tree.slots = whole(json, "slots");
  for (const Json& each : json.at("cases")) {
    if (tree.nodes.size() == kTreeNodesMax) throw std::invalid_argument("there are too many cases");
    SlotTreeNode node;
    node.leaf = each.contains("prices");
    if (node.leaf) {
      node.prices = each.at("prices").get<std::vector<double>>();
    } else {
      node.job = whole(each, "job");
      node.slot = whole(each, "by_slot");
    }
    tree.nodes.push_back(std::move(node));
  }
  return tree;
}

Bound read_bound(const Json& json) {
  Bound bound;
  const auto kind = kind_named(json.at("kind").get<std::string>());
  if (!kind) throw std::invalid_argument("a bound is of no known kind");
  bound.kind = *kind;
  bound.name = json.at("name").get<std::string>();
  bound.value = json.at("value").get<double>();
  if (json.contains("prices")) bound.prices = read_prices(json);
  if (json.contains("cases")) bound.tree = read_tree(json);
  return bound;
}

Certificate read_certificate(const Json& json) {
  if (json.at("format").get<std::string>() != kFormat) {
    throw std::invalid_argument(fmt::format("its format is not '{}'", kFormat));
  }
  Certificate certificate;
  Subject& subject = certificate.subject;
  subject.gpu = json.at("gpu").get<std::string>();
  subject.power = json.at("power").get<std::string>();
  constexpr std::uint64_t kGpusMax = std::numeric_limits<std::uint32_t>::max();
  subject.gpus = static_cast<std::uint32_t>(whole(json, "gpus", kGpusMax));
  subject.jobs = whole(json, "jobs");
  subject.horizon = Micros{static_cast<std::int64_t>(whole(json, "horizon_us"))};
  subject.et_a = json.at("et_a").get<double>();
  if (!(subject.et_a >= 0)) throw std::invalid_argument("et_a is negative");
  if (json.contains("preemption")) {
    if (json.at("preemption").get<std::string>() != kNoPreemption) {
      throw std::invalid_argument(
          fmt::format("preemption is not '{}', and is given only where it is", kNoPreemption));
    }
    subject.runs = Runs::kWhole;
  }
  for (const Json& bound : json.at("bounds")) certificate.bounds.push_back(read_bound(bound));
  return certificate;
}

}  // namespace

std::string to_text(const Certificate& certificate, const Problem& problem) {
  const Subject& subject = certificate.subject;
  Json json;
  json["format"] = kFormat;
  json["gpu"] = subject.gpu;
  json["power"] = subject.power;
  json["gpus"] = subject.gpus;
  json["jobs"] = subject.jobs;
  json["horizon_us"] = subject.horizon.count;
  json["et_a"] = subject.et_a;
  if (subject.runs == Runs::kWhole) json["preemption"] = kNoPreemption;
  Json modes = Json::array();
  for (const Mode& mode : problem.modes) {
    modes.push_back({{"compute", mode.compute}, {"memory", mode.memory}});
  }
  json["modes"] = std::move(modes);
  Json bounds = Json::array();
  for (const Bound& bound : certificate.bounds) {
    if (!bound.skipped()) bounds.push_back(bound_json(bound));
  }
  json["bounds"] = std::move(bounds);
  return json.dump() + "\n";
}

Result<Certificate> parse_certificate(std::string_view text) {
  try {
    return read_certificate(Json::parse(text));
  } catch (const std::exception& error) {
    // The library's own words come behind a code in brackets.
    const std::string_view what = error.what();
    const auto words = what.find("] ");
    return Error{fmt::format("this is no certificate: {}",
                             words == std::string_view::npos ? what : what.substr(words + 2))};
  }
}

std::vector<Verdict> verify(const Certificate& certificate, const Problem& problem) {
  std::vector<Verdict> verdicts;
  for (const Bound& bound : certificate.bounds) {
    Verdict verdict{bound.kind, bound.name, bound.value, 0, false, ""};
    if (bound.name == kNonPreemptive && certificate.subject.runs != Runs::kWhole) {
      verdict.why = "it holds only without preemption, and the certificate allows it";
    } else if (bound.name == "sum" && bound.kind == Kind::kEt) {
      const auto best = [&](Kind kind) {
        double most = 0;
        for (const Verdict& other : verdicts) {
          if (other.kind == kind) most = std::max(most, other.proven);
        }
        return most;
      };
      verdict.proven =
          sum_of(certificate.subject.et_a, best(Kind::kEnergy), best(Kind::kTardiness));
    } else {
      const Result<double> proven = check_bound(problem, certificate.subject.et_a, bound);
      if (proven) verdict.proven = *proven;
      if (!proven) verdict.why = proven.error().message;
    }
    verdict.holds = verdict.why.empty() && verdict.proven >= bound.value;
    if (verdict.why.empty() && !verdict.holds) verdict.why = "what is proven is less";
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace partita::bounds
