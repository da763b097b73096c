#include "nn/choice_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace partita::nn {
namespace {

constexpr float kTiny = 1e-30F;  // so that a logarithm is finite

// Leaves the `top` largest logits of a row allowed; the first of equals.
void keep_top(std::span<const float> logits, std::span<std::uint8_t> allowed, int top) {
  constexpr int kTopMax = 16;
  CHECK(top <= kTopMax);
  std::array<std::size_t, kTopMax> kept{};
  int count = 0;
  for (; count < top; ++count) {
    std::size_t best = logits.size();
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const bool taken = std::find(kept.begin(), kept.begin() + count, i) != kept.begin() + count;
      if (allowed[i] == 0 || taken) continue;
      if (best == logits.size() || logits[i] > logits[best]) best = i;
    }
    if (best == logits.size()) break;
    kept[static_cast<std::size_t>(count)] = best;
  }
  std::ranges::fill(allowed, std::uint8_t{0});
  for (int i = 0; i < count; ++i) allowed[kept[static_cast<std::size_t>(i)]] = 1;
}

void softmax(std::span<const float> logits, std::span<const std::uint8_t> allowed,
             std::span<float> out) {
  float highest = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (allowed[i] != 0) highest = std::max(highest, logits[i]);
  }
  float sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    out[i] = allowed[i] != 0 ? std::exp(logits[i] - highest) : 0;
    sum += out[i];
  }
  if (sum <= 0) return;  // nothing is allowed: a row without things
  for (float& each : out) each /= sum;
}

float row_entropy(std::span<const float> probabilities) {
  float sum = 0;
  for (const float p : probabilities) {
    if (p > 0) sum -= p * std::log(std::max(p, kTiny));
  }
  return sum;
}

std::size_t row_draws(std::span<const std::uint16_t> row) {
  std::size_t sum = 0;
  for (const std::uint16_t count : row) sum += count;
  return sum;
}

// The rows of a table as pieces of it.
struct Rows {
  explicit Rows(const TableShape& shape)
      : count(static_cast<std::size_t>(shape.rows)),
        width(static_cast<std::size_t>(shape.choices)) {}
  template <typename T>
  std::span<T> of(std::span<T> table, std::size_t row) const {
    return table.subspan(row * width, width);
  }
  std::size_t count;
  std::size_t width;
};

std::size_t rows_in_use(const Rows& rows, std::span<const std::uint16_t> table) {
  std::size_t used = 0;
  for (std::size_t r = 0; r < rows.count; ++r) used += row_draws(rows.of(table, r)) > 0 ? 1 : 0;
  return std::max<std::size_t>(1, used);
}

}  // namespace

void probabilities(const TableShape& shape, std::span<const float> logits,
                   std::span<std::uint8_t> allowed, int top, std::span<float> out) {
  const Rows rows(shape);
  for (std::size_t r = 0; r < rows.count; ++r) {
    if (top > 0) keep_top(rows.of(logits, r), rows.of(allowed, r), top);
    softmax(rows.of(logits, r), rows.of(std::span<const std::uint8_t>(allowed), r),
            rows.of(out, r));
  }
}

void draw(const TableShape& shape, std::span<const float> probabilities,
          std::span<const std::uint16_t> draws, Rng& rng, std::span<std::uint16_t> table) {
  const Rows rows(shape);
  std::ranges::fill(table, std::uint16_t{0});
  for (std::size_t r = 0; r < rows.count; ++r) {
    const auto row = rows.of(probabilities, r);
    for (std::uint16_t i = 0; i < draws[r]; ++i) {
      auto left = static_cast<float>(rng.uniform());
      std::size_t choice = 0;
      std::size_t last = 0;  // likely at all: rounding may leave a little at the end
      for (; choice < row.size(); ++choice) {
        if (row[choice] > 0) last = choice;
        left -= row[choice];
        if (left < 0) break;
      }
      ++rows.of(table, r)[left < 0 ? choice : last];
    }
  }
}

void take_best(const TableShape& shape, std::span<const float> probabilities,
               std::span<const std::uint16_t> draws, std::span<std::uint16_t> table) {
  const Rows rows(shape);
  std::ranges::fill(table, std::uint16_t{0});
  for (std::size_t r = 0; r < rows.count; ++r) {
    const auto row = rows.of(probabilities, r);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    rows.of(table, r)[best] = draws[r];
  }
}

float log_probability(std::span<const float> probabilities, std::span<const std::uint16_t> table) {
  float sum = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i] > 0) {
      sum += static_cast<float>(table[i]) * std::log(std::max(probabilities[i], kTiny));
    }
  }
  return sum;
}

float entropy(const TableShape& shape, std::span<const float> probabilities,
              std::span<const std::uint16_t> table) {
  const Rows rows(shape);
  float sum = 0;
  for (std::size_t r = 0; r < rows.count; ++r) {
    if (row_draws(rows.of(table, r)) > 0) sum += row_entropy(rows.of(probabilities, r));
  }
  return sum / static_cast<float>(rows_in_use(rows, table));
}

void add_gradients(const TableShape& shape, std::span<const float> probabilities,
                   std::span<const std::uint16_t> table, float of_log_probability, float of_entropy,
                   std::span<float> gradient) {
  const Rows rows(shape);
  const float share = of_entropy / static_cast<float>(rows_in_use(rows, table));
  for (std::size_t r = 0; r < rows.count; ++r) {
    const auto counts = rows.of(table, r);
    const auto drawn = static_cast<float>(row_draws(counts));
    if (drawn == 0) continue;
    const auto p = rows.of(probabilities, r);
    const auto out = rows.of(gradient, r);
    const float of_row = share == 0 ? 0 : row_entropy(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      out[i] += of_log_probability * (static_cast<float>(counts[i]) - drawn * p[i]);
      if (share != 0 && p[i] > 0) {
        out[i] -= share * p[i] * (std::log(std::max(p[i], kTiny)) + of_row);
      }
    }
  }
}

}  // namespace partita::nn
