#include "daemon/disk_space.h"

#include <gtest/gtest.h>

namespace partita::daemon {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

class Space : public testing::Test {
 protected:
  DiskSpace made(std::optional<std::uint64_t> floor = {}) {
    return {"/state", floor, [this] { return figures_; },
            [this] {
              ++tries_;
              return writes_;
            }};
  }
  // A second later.
  void look(DiskSpace& space, std::uint64_t free_bytes) {
    figures_->free_bytes = free_bytes;
    now_ += Micros::seconds(1);
    space.look(now_);
  }

  std::optional<DiskFigures> figures_ = DiskFigures{0, 1'000'000 * kMiB, {}};
  bool writes_ = true;
  int tries_ = 0;
  Micros now_ = Micros::seconds(100);
};

TEST_F(Space, EndsAtTheFloorAndBeginsAgainAQuarterAbove) {
  DiskSpace space = made();
  look(space, 64 * kMiB);
  EXPECT_TRUE(space.has_space());
  EXPECT_EQ(space.free_bytes(), 64 * kMiB);
  look(space, 64 * kMiB - 1);
  EXPECT_EQ(space.why(),
            "the disk of /state has less than 64 MiB left: no job is taken or started until there "
            "is space");
  look(space, 80 * kMiB - 1);
  EXPECT_FALSE(space.has_space());
  look(space, 80 * kMiB);
  EXPECT_TRUE(space.has_space());
  EXPECT_EQ(tries_, 0);
}

TEST_F(Space, OnASmallDiskTheFloorIsAShareUnlessTheOperatorSays) {
  figures_->bytes = 200 * kMiB;
  DiskSpace space = made();
  look(space, 20 * kMiB);
  EXPECT_TRUE(space.has_space());
  look(space, 20 * kMiB - 1);
  EXPECT_FALSE(space.has_space());
  DiskSpace told = made(100 * kMiB);
  look(told, 100 * kMiB - 1);
  EXPECT_FALSE(told.has_space());
}

TEST_F(Space, AfterAFailureSomethingMustBeWrittenFirst) {
  DiskSpace space = made();
  look(space, 500 * kMiB);
  writes_ = false;
  space.note_failure(now_, "a quota");
  EXPECT_EQ(
      space.why(),
      "the disk of /state is full: no job is taken or started until there is space (a quota)");
  look(space, 500 * kMiB);
  EXPECT_EQ(tries_, 0) << "not at once";
  look(space, 500 * kMiB);
  EXPECT_EQ(tries_, 1);
  EXPECT_FALSE(space.has_space());
  writes_ = true;
  look(space, 500 * kMiB);
  look(space, 500 * kMiB);
  EXPECT_TRUE(space.has_space());
}

TEST_F(Space, FilesRunOutAsBytesDo) {
  figures_->free_files = 255;
  DiskSpace space = made();
  look(space, 500 * kMiB);
  EXPECT_NE(space.why().find("fewer than 256 files"), std::string::npos);
  figures_->free_files = 512;
  look(space, 500 * kMiB);
  EXPECT_TRUE(space.has_space());
}

TEST_F(Space, ADiskThatCannotBeAskedStaysAsItWas) {
  DiskSpace space = made();
  look(space, kMiB);
  figures_.reset();
  now_ += Micros::seconds(1);
  space.look(now_);
  EXPECT_FALSE(space.has_space());
  EXPECT_FALSE(figures_of("/no/such/folder"));
  EXPECT_GT(figures_of("/")->bytes, 0U);
}

}  // namespace
}  // namespace partita::daemon
