#include "nn/choice_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace partita::nn {
namespace {

constexpr TableShape kShape{2, 3};

struct Case {
  std::vector<float> logits{0.3F, -0.2F, 0.9F, 0.1F, 0.4F, -1.0F};
  std::vector<std::uint8_t> allowed{1, 1, 1, 1, 0, 1};
  std::vector<std::uint16_t> table{1, 0, 2, 3, 0, 1};

  std::vector<float> probabilities_now() {
    std::vector<float> out(6);
    std::vector<std::uint8_t> copy = allowed;
    probabilities(kShape, logits, copy, 0, out);
    return out;
  }
};

TEST(ChoiceTable, RowsSumToOneAndForbiddenChoicesAreImpossible) {
  const auto p = Case().probabilities_now();
  EXPECT_NEAR(static_cast<double>(p[0] + p[1] + p[2]), 1, 1e-6);
  EXPECT_NEAR(static_cast<double>(p[3] + p[5]), 1, 1e-6);
  EXPECT_EQ(p[4], 0);
  EXPECT_NEAR(static_cast<double>(p[2] / p[0]), std::exp(0.6), 1e-5);
}

TEST(ChoiceTable, GradientsAgreeWithFiniteDifferences) {
  Case each;
  std::vector<float> of_log(6);
  std::vector<float> of_entropy(6);
  add_gradients(kShape, each.probabilities_now(), each.table, 1, 0, of_log);
  add_gradients(kShape, each.probabilities_now(), each.table, 0, 1, of_entropy);
  constexpr float kNudge = 1e-2F;
  for (std::size_t i = 0; i < 6; ++i) {
    if (each.allowed[i] == 0) continue;
    Case up;
    Case down;
    up.logits[i] += kNudge;
    down.logits[i] -= kNudge;
    const float log_slope = (log_probability(up.probabilities_now(), each.table) -
                             log_probability(down.probabilities_now(), each.table)) /
                            (2 * kNudge);
    const float entropy_slope = (entropy(kShape, up.probabilities_now(), each.table) -
                                 entropy(kShape, down.probabilities_now(), each.table)) /
                                (2 * kNudge);
    EXPECT_NEAR(static_cast<double>(of_log[i]), static_cast<double>(log_slope), 1e-3);
    EXPECT_NEAR(static_cast<double>(of_entropy[i]), static_cast<double>(entropy_slope), 1e-3);
  }
}

TEST(ChoiceTable, TopKeepsTheMostLikely) {
  Case each;
  std::vector<float> out(6);
  probabilities(kShape, each.logits, each.allowed, 2, out);
  EXPECT_EQ(each.allowed, (std::vector<std::uint8_t>{1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(out[1], 0);
}

TEST(ChoiceTable, DrawsAreAsOftenAsTheyAreLikely) {
  const auto p = Case().probabilities_now();
  const std::vector<std::uint16_t> draws{60'000, 0};
  std::vector<std::uint16_t> table(6);
  Rng rng(2);
  draw(kShape, p, draws, rng, table);
  EXPECT_EQ(table[0] + table[1] + table[2], 60'000);
  EXPECT_EQ(table[3] + table[4] + table[5], 0);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(table[i] / 60'000.0, static_cast<double>(p[i]), 0.01);
  }
}

}  // namespace
}  // namespace partita::nn
