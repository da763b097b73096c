#include "base/whole_file.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

TEST(WholeFile, WhatIsWrittenIsReadAndReplaced) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x");
  const std::string large(300'000, 'a');
  ASSERT_TRUE(write_whole_file(path, large).ok());
  EXPECT_EQ(*read_whole_file(path), large);
  ASSERT_TRUE(write_whole_file(path, "short\n").ok());
  EXPECT_EQ(*read_whole_file(path), "short\n");
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
}

TEST(WholeFile, FailuresNameTheFileAndTheReason) {
  const TemporaryFolder folder;
  const std::string path = folder.file("none/x");
  EXPECT_EQ(read_whole_file(path).error().message,
            "cannot read " + path + ": No such file or directory");
  EXPECT_EQ(write_whole_file(path, "").error().message,
            "cannot write " + path + ".new: No such file or directory");
}

TEST(WholeFile, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x");
  std::filesystem::create_directories(path + "/inside");  // cannot be replaced by a file
  EXPECT_FALSE(write_whole_file(path, "text").ok());
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
}

}  // namespace
}  // namespace partita::experiment
