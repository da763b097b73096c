#include "cli/output/screen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/text/table.h"

namespace partita::cli {
namespace {

ScreenPage fleet(std::size_t gpus) {
  ScreenPage page{"head\n", {}, "GPUs"};
  for (std::size_t i = 0; i < gpus; ++i) {
    page.blocks.push_back("GPU " + std::to_string(i) + "\n" + std::string(200, 'x') + "\n");
  }
  return page;
}

TEST(Screen, AFleetThatFitsShowsWhole) {
  EXPECT_EQ(fit_page({"head\n", {"a\n", "b\nc\n"}, "GPUs"}, {24, 80}, 0), "head\n\na\n\nb\nc\n");
}

TEST(Screen, WhatDoesNotFitIsCounted) {
  const std::string text = fit_page(fleet(100), {10, 80}, 0);
  EXPECT_NE(text.find("GPU 0\n"), std::string::npos);
  EXPECT_NE(text.find("GPU 1\n"), std::string::npos);
  EXPECT_EQ(text.find("GPU 3\n"), std::string::npos);
  EXPECT_NE(text.find("and 98 more GPUs; j and k move, q leaves"), std::string::npos) << text;
  EXPECT_NE(fit_page(fleet(100), {10, 80}, 50).find("50 GPUs above, and 48 more"),
            std::string::npos);
  EXPECT_NE(fit_page(fleet(100), {10, 80}, 99).find("99 GPUs above; j and k"), std::string::npos);
}

TEST(Screen, NothingIsWiderOrLongerThanTheTerminal) {
  for (const std::size_t rows : {1U, 2U, 3U, 10U, 50U}) {
    for (const std::size_t columns : {1U, 10U, 79U}) {
      for (const std::size_t first : {0U, 7U, 99U}) {
        std::istringstream lines(fit_page(fleet(100), {rows, columns}, first));
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line); ++count) {
          EXPECT_LE(shown_width(line), columns);
        }
        EXPECT_LE(count, rows);
      }
    }
  }
}

TEST(Screen, EscapesTakeNoColumnAndAreClosed) {
  const std::string text = fit_page({"\x1b[1mabcdef\x1b[0mgh\n", {}, "GPUs"}, {24, 4}, 0);
  EXPECT_EQ(text, "\x1b[1mabcd\x1b[0m\n");
}

TEST(Screen, KeysMoveAndLeave) {
  using Key = ScreenKey;
  EXPECT_EQ(keys_in("j\x1b[B\x1b[5~xq"),
            (std::vector<Key>{Key::kDown, Key::kDown, Key::kPageUp, Key::kQuit}));
  EXPECT_TRUE(keys_in("\x1b").empty());
}

}  // namespace
}  // namespace partita::cli
