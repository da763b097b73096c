#include "learn/pieces.h"

#include <gtest/gtest.h>

namespace partita::learn {
namespace {

TEST(Pieces, AllLeftOutGiveThePublishedSystem) {
  const auto bare =
      without_pieces(**find_system("mean-field+"), "backlog,early-tardiness,evolution,one-target");
  ASSERT_TRUE(bare.ok());
  const System& published = **find_system("mean-field");
  EXPECT_EQ(bare->encoding, published.encoding);
  EXPECT_EQ(bare->pick, published.pick);
  EXPECT_EQ(bare->menu, published.menu);
  EXPECT_EQ(bare->top, published.top);
  EXPECT_EQ(bare->early_tardiness, published.early_tardiness);
  EXPECT_EQ(bare->evolution.steps, published.evolution.steps);
}

TEST(Pieces, EachChangesSomething) {
  const System& whole = **find_system("mean-field+");
  for (const Piece& piece : pieces()) {
    const auto left = without_pieces(whole, piece.name);
    ASSERT_TRUE(left.ok());
    const bool same = left->encoding == whole.encoding && left->pick == whole.pick &&
                      left->menu == whole.menu && left->reluctance == whole.reluctance &&
                      left->early_tardiness == whole.early_tardiness &&
                      left->pays_for_changes == whole.pays_for_changes &&
                      left->evolution.steps == whole.evolution.steps;
    EXPECT_FALSE(same) << piece.name;
  }
}

TEST(Pieces, AnUnknownOneIsAnsweredWithTheKnownOnes) {
  EXPECT_EQ(without_pieces(**find_system("mean-field+"), "backlog,magic").error().message,
            "unknown piece 'magic'; known: backlog, change-costs, early-tardiness, evolution, "
            "mixes, one-target, reluctance");
}

}  // namespace
}  // namespace partita::learn
