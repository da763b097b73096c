#include "launch/output_copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace partita::launch {
namespace {

class Copying : public testing::Test {
 protected:
  Copying() {
    EXPECT_EQ(::pipe2(pipe_.data(), O_NONBLOCK | O_CLOEXEC), 0);
    std::string name = testing::TempDir() + "/copyXXXXXX";
    file_ = ::mkostemp(name.data(), O_APPEND);
    ::unlink(name.c_str());
  }
  ~Copying() override {
    for (const int fd : {pipe_[0], pipe_[1], file_}) ::close(fd);
  }
  void say(const std::string& text) {
    ASSERT_EQ(::write(pipe_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string kept() const {
    std::string text(1 << 20, '\0');
    text.resize(static_cast<std::size_t>(::pread(file_, text.data(), text.size(), 0)));
    return text;
  }

  std::array<int, 2> pipe_{};
  int file_ = -1;
};

TEST_F(Copying, AtTheLimitAllIsKeptAndAByteMoreIsCutAndSaidOnce) {
  OutputCopy copy(pipe_[0], file_, 10);
  say("01234");
  EXPECT_TRUE(copy.copy_available());
  say("56789");
  EXPECT_TRUE(copy.copy_available());
  EXPECT_EQ(kept(), "0123456789");
  for (int i = 0; i < 3; ++i) {
    say("x");
    EXPECT_TRUE(copy.copy_available());
  }
  EXPECT_EQ(kept(), "0123456789\n[partita: output cut at 10 bytes]\n");
  EXPECT_EQ(copy.tail(), "0123456789xxx");
}

TEST_F(Copying, TheLimitIsOfAllAttemptsTogether) {
  OutputCopy first(pipe_[0], file_, 10);
  say("0123456");
  first.copy_available();
  OutputCopy second(pipe_[0], file_, 10);
  say("789abc");
  second.copy_available();
  const std::string cut = "0123456789\n[partita: output cut at 10 bytes]\n";
  EXPECT_EQ(kept(), cut);
  OutputCopy third(pipe_[0], file_, 10);
  say("out of memory");
  third.copy_available();
  EXPECT_EQ(kept(), cut);
  EXPECT_EQ(third.tail(), "out of memory") << "why it failed is known all the same";
}

TEST_F(Copying, WithoutALimitAllIsKeptAndTheTailIsTheLastOfIt) {
  OutputCopy copy(pipe_[0], file_, 0);
  std::string all;
  for (int i = 0; i < 40; ++i) {
    const std::string piece(1000 + static_cast<std::size_t>(i) * 37,
                            static_cast<char>('a' + i % 26));
    say(piece);
    copy.copy_available();
    all += piece;
  }
  EXPECT_EQ(kept(), all);
  EXPECT_EQ(copy.tail(), all.substr(all.size() - OutputCopy::kTailBytes));
}

TEST_F(Copying, WhatComesAfterTheLastWordIsTakenInBoundedPieces) {
  OutputCopy copy(pipe_[0], file_, 0);
  say("0123456789");
  EXPECT_TRUE(copy.copy_available(4));
  EXPECT_EQ(kept(), "0123");
  ::close(pipe_[1]);
  pipe_[1] = -1;
  EXPECT_FALSE(copy.copy_available());
  EXPECT_EQ(kept(), "0123456789");
}

TEST_F(Copying, AFullDiskLosesOutputAndNothingElse) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "needs /dev/full";
  OutputCopy copy(pipe_[0], full, 0);
  say("lost");
  EXPECT_TRUE(copy.copy_available());
  EXPECT_EQ(copy.tail(), "lost");
  ::dup2(file_, full);  // there is space again
  say("kept");
  EXPECT_TRUE(copy.copy_available());
  EXPECT_EQ(kept(), "\n[partita: 4 bytes of output were lost]\nkept");
  ::close(full);
}

TEST_F(Copying, AtTheFloorOfTheDiskOutputIsDroppedAndSaysSoAndGoesOnWithSpace) {
  constexpr std::uint64_t kFloor = 64U << 20U;
  std::uint64_t free = kFloor + 5;
  OutputCopy copy(pipe_[0], file_, 0, kFloor, [&](int) { return free; });
  say("01234");
  EXPECT_TRUE(copy.copy_available());
  for (const std::uint64_t less : {kFloor + 4, kFloor, kFloor + kFloor / 4 - 1}) {
    free = less;
    say("56789");
    EXPECT_TRUE(copy.copy_available());
  }
  const std::string cut =
      "01234\n[partita: the disk has less than 64 MiB left: output from here on is dropped]\n";
  EXPECT_EQ(kept(), cut);
  EXPECT_EQ(copy.tail(), "01234567895678956789") << "why it fails is known all the same";
  free = kFloor + kFloor / 4;
  say("again");
  EXPECT_TRUE(copy.copy_available());
  EXPECT_EQ(kept(), cut + "\n[partita: 15 bytes of output were lost]\nagain");
}

}  // namespace
}  // namespace partita::launch
