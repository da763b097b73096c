// Shadow mode: what the daemon would do, said and not done.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "live/live_fixture.h"

namespace partita::live_test {
namespace {

class Shadow : public Live, public testing::WithParamInterface<const char*> {
 protected:
  bool is_said(const std::string& words) const {
    return daemon_.said().find(words) != std::string::npos;
  }
  bool comes(const std::string& words) const {
    for (int i = 0; i < 500 && !is_said(words); ++i) ::usleep(20'000);
    return is_said(words);
  }
};

// On GPUs without slices: every start and every change of layout is in the log, later ones follow
// from earlier ones, and the end says what it would have cost.
TEST_P(Shadow, EveryStartAndLayoutChangeIsLogged) {
  ASSERT_TRUE(daemon_.start({"--shadow", "--policy", GetParam()})) << daemon_.said();
  for (int i = 0; i < 3; ++i) {
    submit({"--mem", "3G", "--time", "1g=1,7g=1", "--deadline", "+60s", "--", "/bin/false"});
  }
  for (const char* job : {"1", "2", "3"}) {
    EXPECT_TRUE(comes(fmt::format("shadow: job {} would start on GPU ", job))) << daemon_.said();
  }
  EXPECT_TRUE(is_said("shadow: would cut GPU 0: create ")) << daemon_.said();
  EXPECT_TRUE(has_event(job("1"), "shadow"));
  // Nothing was done.
  EXPECT_EQ(job("1")["state"], "queued");
  const Json gpus = daemon_.get("/v1/gpus")["gpus"];
  for (const Json& gpu : gpus) EXPECT_TRUE(gpu["slices"].empty());
  ::usleep(1'500'000);  // all three would be done
  EXPECT_EQ(daemon_.stop(), 0);
  EXPECT_TRUE(is_said("it would have made 3 starts and 0 stops")) << daemon_.said();
  EXPECT_TRUE(is_said("3 jobs done, 0 running, 0 waiting")) << daemon_.said();
  EXPECT_TRUE(is_said("mean tardiness 0.0 s, 0 of 3 late")) << daemon_.said();
  // And it was the same again.
  const std::string state = daemon_.folder() + "/state";
  EXPECT_NE(printed({"replay", "--state", state}).find("each gave what it gave then"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Policies, Shadow,
                         testing::Values("mdd+tightest/migm-b", "cedf/lookahead",
                                         "mdd+slowest/static:6", "fifo/none"),
                         [](const auto& each) {
                           std::string name;
                           for (const char c : std::string(each.param)) {
                             if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
                           }
                           return name;
                         });

// With one slice jobs run one after the other: the second start follows from the first end.
TEST_F(Live, InShadowModeLaterDecisionsFollowFromEarlierOnes) {
  ASSERT_TRUE(daemon_.start({"--shadow", "--policy", "fifo/none"})) << daemon_.said();
  for (int i = 0; i < 4; ++i) submit({"--mem", "30G", "--time", "7g=1", "--", "/bin/true"});
  ::usleep(400'000);
  const auto starts = [&] {
    std::size_t count = 0;
    const std::string said = daemon_.said();
    for (std::size_t at = 0; (at = said.find("would start", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  for (int i = 0; i < 500 && starts() < 4; ++i) ::usleep(20'000);
  EXPECT_EQ(starts(), 4U) << daemon_.said();
  partita({"cancel", "1-4"});
  EXPECT_EQ(daemon_.stop(), 0);
}

}  // namespace
}  // namespace partita::live_test
