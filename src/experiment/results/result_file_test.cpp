#include "experiment/results/result_file.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

std::string line_of(const RunKey& key) {
  return format_record(record_of(key)) + "\n";
}

const RunKey kFirst{"rate=12", "cedf", 1'000'000};
const RunKey kSecond{"rate=12", "cedf", 1'000'001};
const RunKey kThird{"rate=20", "alpha", 1'000'000};

class ResultFile : public ::testing::Test {
 protected:
  std::string append(const RunKey& key) {
    const auto writer = ResultWriter::open(path_);
    if (!writer) return writer.error().message;
    const Status written = (*writer)->append(record_of(key));
    return written ? "" : written.error().message;
  }
  std::string refusal() {
    const auto records = read_results(path_);
    return records ? "accepted" : records.error().message;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("x.runs.jsonl");
};

TEST_F(ResultFile, AppendsALineForEachRun) {
  EXPECT_EQ(append(kThird), "");
  EXPECT_EQ(append(kFirst), "");
  EXPECT_EQ(text_of(path_), line_of(kThird) + line_of(kFirst));
  EXPECT_EQ(*read_results(path_), (std::vector{record_of(kThird), record_of(kFirst)}));
}

TEST_F(ResultFile, WrittenAsAWholeItIsInOrder) {
  ASSERT_TRUE(
      write_results(path_, {record_of(kThird), record_of(kSecond), record_of(kFirst)}).ok());
  EXPECT_EQ(text_of(path_), line_of(kFirst) + line_of(kSecond) + line_of(kThird));
}

TEST_F(ResultFile, ALineCutAnywhereIsLeftOut) {
  const std::string whole = line_of(kFirst);
  const std::string cut = line_of(kSecond);
  for (std::size_t bytes = 0; bytes < cut.size(); bytes += 11) {
    write_text(path_, whole + cut.substr(0, bytes));
    ASSERT_EQ(*read_results(path_), std::vector{record_of(kFirst)}) << bytes;
  }
  write_text(path_, whole + cut.substr(0, cut.size() - 1));  // all but its end
  EXPECT_EQ(read_results(path_)->size(), 1);
}

TEST_F(ResultFile, OpeningForWritingRemovesTheCutLine) {
  write_text(path_, line_of(kFirst) + line_of(kSecond).substr(0, 40));
  EXPECT_EQ(append(kThird), "");
  EXPECT_EQ(text_of(path_), line_of(kFirst) + line_of(kThird));
  write_text(path_, "{\"exp");
  EXPECT_EQ(append(kThird), "");
  EXPECT_EQ(text_of(path_), line_of(kThird));
}

TEST_F(ResultFile, ABadLineIsNamedByItsNumber) {
  write_text(path_, line_of(kFirst) + "nonsense\n" + line_of(kSecond));
  EXPECT_EQ(refusal(), path_ + ":2: found no JSON object, wanted one run a line");
  write_text(path_, line_of(kFirst) + "\n");
  EXPECT_EQ(refusal(), path_ + ":2: found no JSON object, wanted one run a line");
}

TEST_F(ResultFile, ARunThatIsThereTwiceIsAnError) {
  write_text(path_, line_of(kFirst) + line_of(kSecond) + line_of(kFirst));
  EXPECT_EQ(refusal(), path_ + ":3: the run rate=12, cedf, day 1000000 is on line 1 already");
}

TEST_F(ResultFile, AMissingFileIsAnErrorAndAnEmptyOneHasNoRuns) {
  EXPECT_EQ(refusal(), "cannot read " + path_ + ": No such file or directory");
  write_text(path_, "");
  EXPECT_TRUE(read_results(path_)->empty());
}

TEST_F(ResultFile, HasOneWriterAtATime) {
  const auto writer = ResultWriter::open(path_);
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(append(kFirst), "cannot write " + path_ + ": another program is writing it");
}

TEST_F(ResultFile, AFolderOrADeviceIsNoResultFile) {
  path_ = folder_.file("");
  EXPECT_EQ(append(kFirst), "cannot write " + path_ + ": Is a directory");
  path_ = "/dev/null";
  EXPECT_EQ(append(kFirst), "cannot write /dev/null: no plain file");
}

TEST_F(ResultFile, ARecordThatCannotBeReadBackIsNotWritten) {
  const auto writer = ResultWriter::open(path_);
  RunRecord record = record_of(kFirst);
  record.role = Role::kTune;
  EXPECT_EQ((*writer)->append(record).error().message,
            "the run rate=12, cedf, day 1000000: seed: found 1000000, which is a day of role test, "
            "wanted one of role tune");
  EXPECT_EQ(text_of(path_), "");
}

TEST_F(ResultFile, ClearedItBeginsAnew) {
  EXPECT_EQ(append(kFirst), "");
  const auto writer = ResultWriter::open(path_);
  ASSERT_TRUE((*writer)->clear().ok());
  ASSERT_TRUE((*writer)->append(record_of(kSecond)).ok());
  EXPECT_EQ(text_of(path_), line_of(kSecond));
}

}  // namespace
}  // namespace partita::experiment
