// ChoiceTable: the distribution of decisions that a row of logits stands for.
//
// A decision says for each of `rows` kinds of things how many of them take each of `choices`.
// Every row of the table is a softmax over its allowed choices, and every thing of the row draws
// from it independently.
#pragma once

#include <cstdint>
#include <span>

#include "base/rng.h"

namespace partita::nn {

struct TableShape {
  int rows = 1;
  int choices = 0;

  int size() const { return rows * choices; }
  bool operator==(const TableShape&) const = default;
};

// Probabilities of all choices, row by row; 0 where not allowed. With `top` > 0 only the `top` most
// likely of each row stay allowed: the others are struck out of `allowed`.
void probabilities(const TableShape& shape, std::span<const float> logits,
                   std::span<std::uint8_t> allowed, int top, std::span<float> out);

// Draws a decision.
void draw(const TableShape& shape, std::span<const float> probabilities,
          std::span<const std::uint16_t> draws, Rng& rng, std::span<std::uint16_t> table);

// The most likely decision: all things of a row take its most likely choice.
void take_best(const TableShape& shape, std::span<const float> probabilities,
               std::span<const std::uint16_t> draws, std::span<std::uint16_t> table);

float log_probability(std::span<const float> probabilities, std::span<const std::uint16_t> table);

// Mean entropy of the rows that have something to draw.
float entropy(const TableShape& shape, std::span<const float> probabilities,
              std::span<const std::uint16_t> table);

// Adds to `gradient` (of the logits) `of_log_probability` times the gradient of the log-probability
// and `of_entropy` times that of the entropy.
void add_gradients(const TableShape& shape, std::span<const float> probabilities,
                   std::span<const std::uint16_t> table, float of_log_probability, float of_entropy,
                   std::span<float> gradient);

}  // namespace partita::nn
