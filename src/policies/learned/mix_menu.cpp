#include "policies/learned/mix_menu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/text.h"

namespace partita::policies {
namespace {

constexpr double kWeightMax = 1e6;

using Weights = std::map<int, double>;

Result<Weights> parse_entry(const mig::GpuModel& model, std::string_view entry) {
  Weights weights;
  double sum = 0;
  for (const std::string_view part : split(entry, ',')) {
    const auto star = part.find('*');
    const auto number = parse_int(trim(part.substr(0, star)));
    const auto weight =
        star == std::string_view::npos ? std::optional(1.0) : parse_double(part.substr(star + 1));
    if (!number || !weight || *weight <= 0 || *weight > kWeightMax) {
      return Error{
          fmt::format("'{}' in the mix '{}' is not NUMBER*WEIGHT, for example 2*3", part, entry)};
    }
    if (*number < 1 || *number > mig::numbered_layouts_count(model)) {
      return Error{fmt::format("the mix '{}' has layout {}; {} has 1 to {}", entry, *number,
                               model.key, mig::numbered_layouts_count(model))};
    }
    weights[static_cast<int>(*number)] += *weight;
    sum += *weight;
  }
  for (auto& [number, weight] : weights) weight /= sum;
  return weights;
}

}  // namespace

Result<MixMenu> parse_menu(const mig::GpuModel& model, std::string_view text) {
  std::vector<Weights> entries;
  Weights all;
  for (const std::string_view part : split(text, ';')) {
    Result<Weights> entry = parse_entry(model, part);
    if (!entry) return entry.error();
    for (const auto& [number, weight] : *entry) all[number] = 1;
    entries.push_back(*std::move(entry));
  }
  if (entries.size() > kMenuEntriesMax) {
    return Error{fmt::format("{} mixes, at most {}", entries.size(), kMenuEntriesMax)};
  }
  MixMenu menu;
  for (const auto& [number, unused] : all) {
    menu.numbers.push_back(number);
    menu.layouts.push_back(*mig::numbered_layout(model, number));
  }
  for (const Weights& entry : entries) {
    std::vector<float>& shares = menu.entries.emplace_back();
    for (const int number : menu.numbers) {
      const auto found = entry.find(number);
      shares.push_back(found == entry.end() ? 0.0F : static_cast<float>(found->second));
    }
  }
  return menu;
}

std::string every_layout(const mig::GpuModel& model) {
  std::string text = "1";
  for (int i = 2; i <= mig::numbered_layouts_count(model); ++i) text += fmt::format(";{}", i);
  return text;
}

std::vector<std::uint32_t> counts_for(const std::vector<float>& shares, std::uint32_t gpus) {
  std::vector<std::uint32_t> counts;
  std::vector<double> left;
  std::uint32_t given = 0;
  for (const float share : shares) {
    const double exact = static_cast<double>(share) * gpus;
    // A third of three GPUs is one, although a float of it is less.
    counts.push_back(static_cast<std::uint32_t>(std::floor(exact + 1e-4)));
    left.push_back(exact - counts.back());
    given += counts.back();
  }
  for (; given < gpus; ++given) {
    const auto most =
        static_cast<std::size_t>(std::max_element(left.begin(), left.end()) - left.begin());
    ++counts[most];
    left[most] -= 1;
  }
  return counts;
}

}  // namespace partita::policies
