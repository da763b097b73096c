#include "workload/curve_mix.h"

#include <gtest/gtest.h>

#include <map>

namespace partita::workload {
namespace {

std::map<std::string, double> shares(std::string_view text) {
  const Result<CurveMix> mix = CurveMix::parse(text);
  EXPECT_TRUE(mix.ok());
  std::map<std::string, double> share;
  constexpr int kSteps = 12'000;
  for (int i = 0; i < kSteps; ++i) share[mix->pick((i + 0.5) / kSteps).name] += 1.0 / kSteps;
  return share;
}

TEST(CurveMix, OneNameIsAlwaysThatCurve) {
  EXPECT_EQ(shares("bert-training").size(), 1U);
}

TEST(CurveMix, WeightsAreShares) {
  const auto share = shares("miso-resnet-b64=2, bert-training");
  EXPECT_NEAR(share.at("miso-resnet-b64"), 2.0 / 3, 1e-3);
  EXPECT_NEAR(share.at("bert-training"), 1.0 / 3, 1e-3);
}

TEST(CurveMix, AGroupSharesItsWeightAmongItsCurves) {
  const auto share = shares("papers=1,h200=1,miso=2");
  EXPECT_EQ(share.size(), curves().size());
  EXPECT_NEAR(share.at("resnet-training"), 1.0 / 16, 1e-3);
  EXPECT_NEAR(share.at("miso-bert-b2"), 1.0 / 64, 1e-3);
}

TEST(CurveMix, UnknownNamesAndBadWeightsAreRefused) {
  EXPECT_TRUE(CurveMix::parse("gpt").error().message.starts_with("unknown speed-up curve 'gpt'"));
  EXPECT_TRUE(CurveMix::parse("").error().message.starts_with("unknown speed-up curve ''"));
  for (const char* text : {"miso=0", "miso=-1", "miso=x", "miso=1=2", "miso=nan"}) {
    EXPECT_EQ(CurveMix::parse(text).error().message,
              std::string("curve mix '") + text + "': found '" + text +
                  "', wanted NAME or NAME=WEIGHT with a weight greater than 0");
  }
}

}  // namespace
}  // namespace partita::workload
