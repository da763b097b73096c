// ChoiceTable: the distribution of decisions (env.h) that a row of logits stands for.
//
// Every row of the table is a softmax over its allowed choices, and every thing of the row draws
// from it independently.
#pragma once

#include <cstdint>
#include <span>

#include "base/rng.h"
#include "learn/env.h"

namespace partita::learn {

// Probabilities of all choices, row by row; 0 where not allowed. With `top` > 0 only the `top` most
// likely of each row stay allowed: the others are struck out of `allowed`.
void probabilities(const EnvSpec& spec, std::span<const float> logits,
                   std::span<std::uint8_t> allowed, int top, std::span<float> out);

// Draws a decision.
void draw(const EnvSpec& spec, std::span<const float> probabilities,
          std::span<const std::uint16_t> draws, Rng& rng, std::span<std::uint16_t> table);

// The most likely decision: all things of a row take its most likely choice.
void take_best(const EnvSpec& spec, std::span<const float> probabilities,
               std::span<const std::uint16_t> draws, std::span<std::uint16_t> table);

float log_probability(std::span<const float> probabilities, std::span<const std::uint16_t> table);

// Mean entropy of the rows that have something to draw.
float entropy(const EnvSpec& spec, std::span<const float> probabilities,
              std::span<const std::uint16_t> table);

// Adds to `gradient` (of the logits) `of_log_probability` times the gradient of the log-probability
// and `of_entropy` times that of the entropy.
void add_gradients(const EnvSpec& spec, std::span<const float> probabilities,
                   std::span<const std::uint16_t> table, float of_log_probability, float of_entropy,
                   std::span<float> gradient);

}  // namespace partita::learn
