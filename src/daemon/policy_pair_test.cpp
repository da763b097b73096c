#include "daemon/policy_pair.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "mig/gpu_model.h"

namespace partita::daemon {
namespace {

Result<control::Policies> made(const std::string& policy) {
  static control::Beginning beginning;  // policies look at its model
  beginning.policy = policy;
  beginning.model = **mig::find_gpu("a100-40gb");
  beginning.gpus = {{"GPU-1", "name", GpuId{0}}};
  return make_policies(beginning);
}

TEST(PolicyPair, ModelsWithPathsCanBeNamedOnBothSides) {
  const std::string models = PARTITA_SOURCE_DIR "/models/";
  EXPECT_TRUE(made("fifo+tightest/migm-b").ok());
  EXPECT_TRUE(made("fifo/learned:" + models + "smart-mig.safetensors").ok());
  EXPECT_TRUE(made("learned:" + models + "place.safetensors/static:2").ok());
  EXPECT_TRUE(
      made("learned:" + models + "place.safetensors/learned:" + models + "smart-mig.safetensors")
          .ok());
}

TEST(PolicyPair, FilesAreKnownByTheirAbsolutePaths) {
  const std::string here = std::filesystem::current_path().string() + "/";
  EXPECT_EQ(with_absolute_files("fifo/learned:a.safetensors", 1),
            "fifo/learned:" + here + "a.safetensors");
  EXPECT_EQ(with_absolute_files("mdd+slowest/timetable:@t.txt", 1),
            "mdd+slowest/timetable:@" + here + "t.txt");
  for (const char* same : {"fifo+tightest/migm-b", "fifo/learned:/a/b", "fifo"}) {
    EXPECT_EQ(with_absolute_files(same, 1), same);
  }
}

TEST(PolicyPair, WhatCannotBeMadeIsNamed) {
  const auto error = [](const std::string& policy) { return made(policy).error().message; };
  EXPECT_NE(error("fifo").find("SCHEDULER/REPARTITIONER"), std::string::npos);
  EXPECT_NE(error("learned:/no/such/file/static:2").find("/no/such/file"), std::string::npos);
  EXPECT_NE(error("nobody/static:2").find("nobody"), std::string::npos);
  EXPECT_NE(error("fifo/lookahead:horizon=never").find("horizon"), std::string::npos);
  EXPECT_NE(error("fifo/lookahead:budget_us=0,nothing=1").find("nothing"), std::string::npos);
}

TEST(PolicyPair, ARuleThatLooksAheadGetsForecastsAndOthersDoNot) {
  for (const char* rule : {"lookahead", "lookahead:", "lookahead:start=9,every=5",
                           "lookahead:budget_us=0", "lookahead:start=t3,budget_us=500"}) {
    const auto pair = made(std::string("mdd+slowest/") + rule);
    ASSERT_TRUE(pair.ok()) << rule << ": " << pair.error().message;
    EXPECT_NE(pair->forecaster, nullptr) << rule;
  }
  EXPECT_EQ(made("fifo/static:2")->forecaster, nullptr);
  EXPECT_FALSE(doubt_about("fifo+tightest/lookahead").empty());
}

TEST(PolicyPair, APlacementThatMayWaitForEverIsDoubted) {
  EXPECT_FALSE(doubt_about("fifo+requested/learned:x.safetensors").empty());
  EXPECT_FALSE(doubt_about("fifo+tightest/timetable:08:00=9").empty());
  EXPECT_FALSE(doubt_about("fifo+half-speed/timetable:08:00=9").empty());
  EXPECT_EQ(doubt_about("fifo+tightest/migm-b"), "");
  EXPECT_EQ(doubt_about("fifo/learned:x.safetensors"), "");
}

}  // namespace
}  // namespace partita::daemon
