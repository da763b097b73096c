#include "nn/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "base/rng.h"
#include "nn/range_recorder.h"

namespace partita::nn {
namespace {

Model sample_model() {
  Rng rng(5);
  Model model;
  model.facts = {.encoding = "sample/1",
                 .gpu = "a100-40gb",
                 .layouts = "1,2",
                 .command = "partita train sample --out \"a file\"",
                 .seed = "7",
                 .commit = "0123abc",
                 .more = {{"every", "5"}}};
  model.normaliser.mean = {1, 2, 3};
  model.normaliser.scale = {0.5F, 1, 2};
  model.seen = {{0, -1, 2}, {1, 1, 2}};
  model.drawn = {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {.1F, .2F, .3F, .4F, .5F, .6F, .7F, .8F, .9F}};
  model.policy = Network(Shape{{3, 4, 2}, Activation::kTanh});
  model.value = Network(Shape{{3, 2, 1}, Activation::kRelu});
  for (float& each : model.policy.parameters()) each = static_cast<float>(rng.normal());
  for (float& each : model.value->parameters()) each = static_cast<float>(rng.normal());
  return model;
}

std::string error_of(const std::string& bytes) {
  const auto model = parse_model(bytes);
  return model ? "" : model.error().message;
}

TEST(Model, WhatWasWrittenIsReadBackEqual) {
  const Model model = sample_model();
  const auto back = parse_model(format_model(model));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, model);
}

TEST(Model, ARangeUpsideDownIsRefused) {
  Model model = sample_model();
  model.seen.low[1] = 3;
  EXPECT_EQ(error_of(format_model(model)),
            "observation.low and observation.high of the model are not 3 finite ranges");
}

TEST(Model, ADistributionWithoutItsSharesIsRefused) {
  Model model = sample_model();
  model.drawn.share.pop_back();
  EXPECT_EQ(error_of(format_model(model)),
            "drawn.at and drawn.share of the model are not 9 finite numbers for each distribution");
}

TEST(Ranges, SayHowFarOutsideANumberIs) {
  const Ranges ranges{{-1, 5}, {3, 5}};
  EXPECT_EQ(ranges.outside(std::vector<float>{0, 5}), 0);
  EXPECT_DOUBLE_EQ(ranges.outside(std::vector<float>{5, 5}), 0.5);
  EXPECT_DOUBLE_EQ(ranges.outside(std::vector<float>{-2, 5}), 0.25);
  EXPECT_GT(ranges.outside(std::vector<float>{0, 6}), 10) << "a range without a width";
}

TEST(RangeRecorder, LeavesOutTheFarthestFewOfEachNumber) {
  RangeRecorder recorder;
  EXPECT_TRUE(recorder.ranges().empty());
  for (int i = 0; i < 100'000; ++i) {
    const bool odd_one = i % 50'000 == 500;
    recorder.add(std::vector<float>{odd_one ? 1e6F : static_cast<float>(i % 101), 7});
  }
  const Ranges ranges = recorder.ranges();
  EXPECT_NEAR(ranges.low[0], 0, 1);
  EXPECT_NEAR(ranges.high[0], 100, 1);
  EXPECT_EQ(ranges.low[1], 7);
  EXPECT_EQ(ranges.high[1], 7);
}

TEST(Model, AnInfiniteWeightIsRefused) {
  Model model = sample_model();
  model.policy.parameters()[3] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(error_of(format_model(model)),
            "the model's policy network has numbers that are not finite");
}

TEST(Model, EveryShorterFileIsRefused) {
  const std::string bytes = format_model(sample_model());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_FALSE(parse_model(std::string_view(bytes).substr(0, length)).ok()) << length;
  }
  EXPECT_NE(error_of(bytes + "x"), "");
}

// A changed byte of the header is refused or gives another model, never a crash.
TEST(Model, EveryChangedByteOfTheHeaderIsReadOrRefused) {
  const std::string bytes = format_model(sample_model());
  int refused = 0;
  for (std::size_t i = 0; i < 700; ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x15);
    refused += parse_model(changed).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 100);
}

TEST(Model, AMissingFactIsNamed) {
  TensorFile file = to_tensors(sample_model());
  file.metadata.erase("gpu");
  EXPECT_EQ(from_tensors(file).error().message, "the model does not say its gpu");
}

TEST(Model, AFileOfAnotherProgramIsRefused) {
  TensorFile file;
  file.tensors.push_back({"x", {1}, {1}});
  EXPECT_EQ(error_of(format_tensor_file(file)),
            "this safetensors file is no model of partita: its format is '', wanted "
            "partita-model/1");
}

TEST(Model, LayersThatDoNotFitAreRefused) {
  TensorFile file = to_tensors(sample_model());
  for (Tensor& tensor : file.tensors) {
    if (tensor.name == "policy.1.weight") tensor.shape = {4, 2};
  }
  EXPECT_EQ(from_tensors(file).error().message,
            "layer 1 of the model's policy network does not fit the one before");
}

TEST(Model, AFileThatIsNotThereIsNamed) {
  const auto model = read_model("no/such/model.safetensors");
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().message, "cannot open 'no/such/model.safetensors'");
}

TEST(Model, WrittenFilesAreReadBack) {
  const std::string path = testing::TempDir() + "partita_model_test.safetensors";
  ASSERT_TRUE(write_bytes(path, format_model(sample_model())).ok());
  const auto back = read_model(path);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, sample_model());
  std::remove(path.c_str());
}

// The format's own document: length, JSON with dtype, shape and data_offsets, then the bytes.
TEST(TensorFile, TheBytesAreThoseOfTheFormat) {
  TensorFile file;
  file.tensors.push_back({"w", {1, 2}, {1, -2}});
  const std::string bytes = format_tensor_file(file);
  const std::string header = R"({"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  ASSERT_EQ(bytes.size(), 8 + padded.size() + 8);
  EXPECT_EQ(static_cast<std::size_t>(bytes[0]), padded.size());
  EXPECT_EQ(bytes.substr(1, 7), std::string(7, '\0'));
  EXPECT_EQ(bytes.substr(8, padded.size()), padded);
  const std::string numbers{'\0', '\0', '\x80', '\x3f', '\0', '\0', '\0', '\xc0'};
  EXPECT_EQ(bytes.substr(8 + padded.size()), numbers);
}

TEST(TensorFile, ArraysThatLeaveAGapAreRefused) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  const auto file = parse_tensor_file(bytes + header + "12345678");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().message,
            "this is no safetensors file, or a damaged one: 'a' does not follow the array before "
            "it");
}

TEST(TensorFile, OtherTypesAreRefused) {
  const std::string header = R"({"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  EXPECT_EQ(parse_tensor_file(bytes + header + "12").error().message,
            "tensor 'a' is of type \"F16\"; only F32 is read");
}

TEST(Normaliser, ShiftsScalesAndCuts) {
  Normaliser normaliser;
  normaliser.mean = {1, 1};
  normaliser.scale = {2, 100};
  std::vector<float> state{2, 9};
  normaliser.apply(state);
  EXPECT_EQ(state, (std::vector<float>{2, 10}));
}

}  // namespace
}  // namespace partita::nn
