#include "bounds/certificate.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace partita::bounds {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "partita bound certificate 1";
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
  tree.slot_us = json.at("slot_us").get<std::int64_t>();
  tree.slots = json.at("slots").get<std::size_t>();
  for (const Json& each : json.at("cases")) {
    if (tree.nodes.size() == kTreeNodesMax) throw std::invalid_argument("there are too many cases");
    SlotTreeNode node;
    node.leaf = each.contains("prices");
    if (node.leaf) {
      node.prices = each.at("prices").get<std::vector<double>>();
    } else {
      node.job = each.at("job").get<std::size_t>();
      node.slot = each.at("by_slot").get<std::size_t>();
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
  subject.gpus = json.at("gpus").get<std::uint32_t>();
  subject.jobs = json.at("jobs").get<std::uint64_t>();
  subject.horizon = Micros{json.at("horizon_us").get<std::int64_t>()};
  subject.et_a = json.at("et_a").get<double>();
  if (!(subject.et_a >= 0) || subject.horizon < Micros{}) {
    throw std::invalid_argument("et_a or horizon_us is negative");
  }
  for (const Json& bound : json.at("bounds")) certificate.bounds.push_back(read_bound(bound));
  return certificate;
}

}  // namespace

std::string to_text(const Certificate& certificate, const Instance& instance) {
  const Subject& subject = certificate.subject;
  Json json;
  json["format"] = kFormat;
  json["gpu"] = subject.gpu;
  json["power"] = subject.power;
  json["gpus"] = subject.gpus;
  json["jobs"] = subject.jobs;
  json["horizon_us"] = subject.horizon.count;
  json["et_a"] = subject.et_a;
  Json modes = Json::array();
  for (const Mode& mode : instance.modes) {
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
    return Error{fmt::format("this is no certificate: {}", error.what())};
  }
}

std::vector<Verdict> verify(const Certificate& certificate, const Instance& instance) {
  std::vector<Verdict> verdicts;
  for (const Bound& bound : certificate.bounds) {
    Verdict verdict{bound.kind, bound.name, bound.value, 0, false, ""};
    if (bound.name == "sum" && bound.kind == Kind::kEt) {
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
      const Result<double> proven = check_bound(instance, certificate.subject.et_a, bound);
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
