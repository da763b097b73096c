#include "report/study_notes.h"

#include <gtest/gtest.h>

namespace partita::report {
namespace {

TEST(StudyNotes, WhatIsWrittenIsRead) {
  StudyNotes notes;
  notes.title = "Eight GPUs";
  notes.source = "a paper, \"quoted\"";
  notes.generated_by = "partita experiment x";
  notes.settings = {{"rate=20", "cedf/tuned"}, {"rate=12", "edf"}};
  notes.until_decided = true;
  notes.figures.push_back({{"title", "t"}, {"kind", "table"}});
  notes.extra["rate=20"]["cedf/tuned"]["gap, %"] = 3.5;
  const std::string text = format_notes(notes);
  const auto read = parse_notes(text);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(format_notes(*read), text);
  EXPECT_EQ(read->settings[1].reference, "edf");
  EXPECT_TRUE(read->until_decided);
}

TEST(StudyNotes, AnEmptyObjectSaysNothing) {
  const auto read = parse_notes("{}");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->title.empty() && read->settings.empty() && read->figures.empty());
}

TEST(StudyNotes, AnErrorNamesTheKey) {
  const auto message = [](std::string_view text) { return parse_notes(text).error().message; };
  EXPECT_TRUE(message("{\"title\": 7}").starts_with("title: "));
  EXPECT_TRUE(message("{\"settings\": {}}").starts_with("settings: "));
  EXPECT_TRUE(message("{\"settings\": [{\"name\": 7}]}").starts_with("settings: name: "));
  EXPECT_TRUE(message("{\"figures\": {}}").starts_with("figures: "));
  EXPECT_TRUE(message("{\"extra\": []}").starts_with("extra: "));
  EXPECT_TRUE(message("{\"until_decided\": 1}").starts_with("until_decided: "));
  EXPECT_FALSE(parse_notes("[1]").ok());
  EXPECT_FALSE(parse_notes("{").ok());
}

TEST(StudyNotes, FilesStandBesideTheRuns) {
  EXPECT_EQ(study_path("a/x.runs.jsonl"), "a/x.study.json");
  EXPECT_EQ(day_path("x.runs.jsonl"), "x.day.json");
  EXPECT_EQ(day_path("other"), "other.day.json");
}

}  // namespace
}  // namespace partita::report
