#include "experiment/statistics/wilcoxon.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "experiment/statistics/distributions.h"

namespace partita::experiment {
namespace {

struct Ranked {
  double positive = 0;  // sum of the ranks of positive differences
  double ties = 0;      // sum over groups of equal sizes of t^3 - t
};

Ranked rank(std::vector<double>& differences) {
  std::ranges::sort(differences, {}, [](double d) { return std::abs(d); });
  Ranked ranked;
  std::size_t begin = 0;
  while (begin < differences.size()) {
    std::size_t end = begin + 1;
    while (end < differences.size() && std::abs(differences[end]) == std::abs(differences[begin])) {
      ++end;
    }
    const double shared_rank = static_cast<double>(begin + 1 + end) / 2;
    for (std::size_t i = begin; i < end; ++i) {
      if (differences[i] > 0) ranked.positive += shared_rank;
    }
    const double group = static_cast<double>(end - begin);
    ranked.ties += group * group * group - group;
    begin = end;
  }
  return ranked;
}

// P(W <= sum) when each of the ranks 1 .. n counts with probability one half. The number of subsets
// with a given sum, built up rank by rank; 2^25 of them are exact in a double.
double exact_lower_tail(std::size_t n, std::size_t sum) {
  std::vector<double> subsets(n * (n + 1) / 2 + 1, 0);
  subsets[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    for (std::size_t total = subsets.size() - 1; total >= rank; --total) {
      subsets[total] += subsets[total - rank];
    }
  }
  double below = 0;
  for (std::size_t total = 0; total <= sum; ++total) below += subsets[total];
  return below / std::exp2(static_cast<double>(n));
}

double exact_p(std::size_t n, double positive) {
  const std::size_t whole = static_cast<std::size_t>(positive);
  const std::size_t smaller = std::min(whole, n * (n + 1) / 2 - whole);
  return std::min(1.0, 2 * exact_lower_tail(n, smaller));
}

double approximate_p(std::size_t n, const Ranked& ranked) {
  const double count = static_cast<double>(n);
  const double expected = count * (count + 1) / 4;
  const double variance = count * (count + 1) * (2 * count + 1) / 24 - ranked.ties / 48;
  const double distance = std::max(0.0, std::abs(ranked.positive - expected) - 0.5);
  return std::min(1.0, 2 * normal_cdf(-distance / std::sqrt(variance)));
}

}  // namespace

Wilcoxon wilcoxon_signed_rank(std::span<const double> differences) {
  std::vector<double> used;
  std::ranges::copy_if(differences, std::back_inserter(used), [](double d) { return d != 0; });
  if (used.empty()) return {};
  const Ranked ranked = rank(used);
  Wilcoxon test{ranked.positive, used.size(), false, 1};
  test.exact =
      used.size() <= kExactDaysMax && used.size() == differences.size() && ranked.ties == 0;
  test.p = test.exact ? exact_p(used.size(), ranked.positive) : approximate_p(used.size(), ranked);
  return test;
}

}  // namespace partita::experiment
