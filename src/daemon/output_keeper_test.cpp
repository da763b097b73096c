#include "daemon/output_keeper.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "store/test_support.h"

namespace partita::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBlock = 4096;

class Keeping : public testing::Test {
 protected:
  Keeping() { CHECK(files_.make_folders().ok()); }

  void write(std::int64_t job, std::size_t blocks = 1) const {
    std::ofstream(files_.output_path(JobNumber{job})) << std::string(blocks * kBlock, 'x');
  }
  OutputKeeper made(OutputLimits limits) const {
    return {files_, limits, [this](JobNumber job) -> std::optional<Micros> {
              const auto found = ends_.find(job);
              if (found == ends_.end()) return {};
              return found->second;
            }};
  }
  // A job writes, and ends at that second; whose output goes for it.
  std::vector<JobNumber> end(OutputKeeper& keeper, std::int64_t job, std::int64_t second,
                             std::size_t blocks = 1) {
    write(job, blocks);
    ends_[JobNumber{job}] = Micros::seconds(second);
    store::Batch batch;
    batch.progress.emplace_back().id = JobNumber{job};
    return keeper.keep(batch, Micros::seconds(second));
  }
  std::set<std::string> left() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path() + "/output")) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  store::test::TemporaryFolder folder_;
  launch::AttemptFiles files_{folder_.path()};
  std::map<JobNumber, Micros> ends_;
};

TEST_F(Keeping, TheOldestGoesFirstWhereThereIsTooMuch) {
  OutputKeeper keeper = made({3 * kBlock, {}});
  EXPECT_TRUE(end(keeper, 4, 10).empty());
  EXPECT_TRUE(end(keeper, 3, 20).empty());
  EXPECT_TRUE(end(keeper, 5, 30).empty()) << "just the limit";
  EXPECT_EQ(keeper.bytes(), 3 * kBlock);
  EXPECT_EQ(end(keeper, 6, 40, 2), (std::vector<JobNumber>{JobNumber{4}, JobNumber{3}}));
  EXPECT_EQ(left(), (std::set<std::string>{"5", "6"}));
  EXPECT_EQ(keeper.bytes(), 3 * kBlock);
}

TEST_F(Keeping, WhatIsTooOldGoes) {
  OutputKeeper keeper = made({0, Micros::seconds(60)});
  end(keeper, 1, 100);
  end(keeper, 2, 130);
  EXPECT_TRUE(keeper.keep({}, Micros::seconds(160)).empty());
  EXPECT_EQ(keeper.keep({}, Micros::seconds(161)), std::vector<JobNumber>{JobNumber{1}});
  EXPECT_EQ(left(), std::set<std::string>{"2"});
}

TEST_F(Keeping, OutputOfAJobThatRunsIsNeverTouched) {
  OutputKeeper keeper = made({kBlock, Micros::seconds(1)});
  write(7, 50);
  end(keeper, 8, 10);
  ends_.erase(JobNumber{8});  // it was sent back to the queue
  EXPECT_TRUE(keeper.keep({}, Micros::seconds(1'000)).empty());
  EXPECT_EQ(left(), (std::set<std::string>{"7", "8"}));
}

TEST_F(Keeping, AfterARestartTheSameIsKnownAndWhatIsNobodysGoes) {
  for (const std::int64_t job : {1, 2, 3, 4}) write(job);
  std::ofstream(folder_.path() + "/output/notes") << "not ours";
  ends_[JobNumber{1}] = Micros::seconds(20);
  ends_[JobNumber{2}] = Micros::seconds(10);
  OutputKeeper keeper = made({kBlock, {}});
  keeper.open([](JobNumber job) { return job != JobNumber{4}; });
  EXPECT_EQ(left(), (std::set<std::string>{"1", "2", "3", "notes"}));
  EXPECT_EQ(keeper.bytes(), 2 * kBlock);
  EXPECT_EQ(keeper.keep({}, Micros::seconds(30)), std::vector<JobNumber>{JobNumber{2}});
}

TEST_F(Keeping, WhatIsForgottenCountsNoMore) {
  OutputKeeper keeper = made({kBlock, {}});
  end(keeper, 1, 10);
  store::Batch batch;
  batch.forgotten_jobs = {JobNumber{1}, JobNumber{2}};
  EXPECT_TRUE(keeper.keep(batch, Micros::seconds(11)).empty());
  EXPECT_EQ(keeper.bytes(), 0U);
  EXPECT_TRUE(left().empty());
}

}  // namespace
}  // namespace partita::daemon
