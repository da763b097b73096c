#include "workload/curve_mix.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace partita::workload {
namespace {

// The papers' curves are the ones whose names have no group in front.
std::vector<const Curve*> group(std::string_view name) {
  std::vector<const Curve*> members;
  for (const Curve& curve : curves()) {
    const bool miso = curve.name.starts_with("miso-");
    const bool h200 = curve.name.starts_with("h200-");
    if ((name == "miso" && miso) || (name == "h200" && h200) ||
        (name == "papers" && !miso && !h200)) {
      members.push_back(&curve);
    }
  }
  return members;
}

}  // namespace

Result<CurveMix> CurveMix::parse(std::string_view text) {
  CurveMix mix;
  for (const std::string_view part : split(text, ',')) {
    const std::vector<std::string_view> sides = split(part, '=');
    const std::optional<double> weight = sides.size() == 1 ? 1 : parse_double(trim(sides[1]));
    if (sides.size() > 2 || !weight || !(*weight > 0) || *weight > 1e9) {
      return Error{
          fmt::format("curve mix '{}': found '{}', wanted NAME or NAME=WEIGHT with a "
                      "weight greater than 0",
                      text, part)};
    }
    if (const Status status = mix.add(trim(sides[0]), *weight); !status) return status.error();
  }
  const double total = mix.entries_.back().weight_until;
  for (Entry& entry : mix.entries_) entry.weight_until /= total;
  return mix;
}

Status CurveMix::add(std::string_view name, double weight) {
  std::vector<const Curve*> members = group(name);
  if (members.empty()) {
    const Result<const Curve*> curve = find_curve(name);
    if (!curve) return Error{curve.error().message + "; or the groups papers, miso, h200"};
    members.push_back(*curve);
  }
  double until = entries_.empty() ? 0 : entries_.back().weight_until;
  for (const Curve* curve : members) {
    until += weight / static_cast<double>(members.size());
    entries_.push_back({curve, until});
  }
  return {};
}

const Curve& CurveMix::pick(double part) const {
  CHECK(part >= 0 && part < 1);
  const auto above = [](double value, const Entry& entry) { return value < entry.weight_until; };
  const auto found = std::upper_bound(entries_.begin(), entries_.end(), part, above);
  return *(found == entries_.end() ? entries_.back() : *found).curve;
}

}  // namespace partita::workload
