#include "device/layouts/mig_config.h"

#include <gtest/gtest.h>

#include "device/layouts/layout_plan.h"
#include "mig/enumerate.h"

namespace partita::device {
namespace {

// The shape of the examples in mig-parted's own documentation.
constexpr const char* kExample = R"(version: v1
mig-configs:
  all-disabled:
    - devices: all
      mig-enabled: false

  all-enabled:
    - devices: all
      mig-enabled: true
      mig-devices: {}

  custom-config:
    - devices: [0,1,2,3]
      mig-enabled: false
    - devices: [4]
      mig-enabled: true
      mig-devices:
        "1g.5gb": 7
    - device-filter: "0x20B010DE"
      devices: [5, 6]
      mig-enabled: true
      mig-devices:
        "1g.5gb": 2
        "2g.10gb": 1
        "3g.20gb": 1
    - device-filter: ["0x20B210DE", "0x233010DE"]
      devices: all
      mig-enabled: true
      mig-devices: {"1g.10gb+me": 1}
)";

TEST(MigConfig, ReadsWhatMigPartedReads) {
  const auto file = parse_mig_config(kExample);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->labels(),
            (std::vector<std::string>{"all-disabled", "all-enabled", "custom-config"}));
  const MigConfig& custom = *file->find("custom-config");
  ASSERT_EQ(custom.size(), 4U);
  EXPECT_EQ(custom[0].devices, (std::vector{0, 1, 2, 3}));
  EXPECT_FALSE(custom[0].mig_enabled);
  EXPECT_EQ(custom[2].device_filter, std::vector{0x20B010DEU});
  EXPECT_EQ(custom[2].mig_devices.at("2g.10gb"), 1);
  EXPECT_EQ(custom[3].device_filter.size(), 2U);
  EXPECT_FALSE(custom[3].devices.has_value());
  EXPECT_EQ(file->find("nothing"), nullptr);
}

std::string with_enabled(const std::string& word) {
  return "version: v1\nmig-configs:\n  a:\n  - devices: all\n    mig-enabled: " + word +
         "\n    mig-devices: {}\n";
}

// As the reader of mig-parted, which is of YAML 1.1.
TEST(MigConfig, TruthHasTheWordsThatMigPartedTakes) {
  for (const char* word :
       {"true", "True", "TRUE", "yes", "Yes", "YES", "y", "Y", "on", "On", "ON"}) {
    const auto file = parse_mig_config(with_enabled(word));
    ASSERT_TRUE(file.ok()) << word << file.error().message;
    EXPECT_TRUE(file->find("a")->front().mig_enabled) << word;
  }
  for (const char* word : {"false", "False", "FALSE", "no", "No", "NO", "n", "N", "off", "Off"}) {
    const auto file = parse_mig_config(with_enabled(word));
    ASSERT_TRUE(file.ok()) << word << file.error().message;
    EXPECT_FALSE(file->find("a")->front().mig_enabled) << word;
  }
  for (const char* word : {"\"true\"", "'yes'", "tRue", "1", "enabled", "~", "[]"}) {
    EXPECT_FALSE(parse_mig_config(with_enabled(word)).ok()) << word;
  }
}

TEST(MigConfig, OfSeveralDocumentsTheFirstIsReadAndTheNextIsFound) {
  const std::string first = with_enabled("true");
  EXPECT_FALSE(second_document(first));
  EXPECT_FALSE(second_document("# layouts\n---\n" + first));
  EXPECT_EQ(second_document("---\n" + first + "---\nnonsense: [\n"), 8U);
  const auto file = parse_mig_config("---\n" + first + "---\nversion: v2\n");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->labels(), std::vector<std::string>{"a"});
}

TEST(MigConfig, GpusThatTheNodeLacksAreFound) {
  const auto file = parse_mig_config(kExample);
  const MigConfig& custom = *file->find("custom-config");
  EXPECT_EQ(missing_gpus(custom, 8), std::vector<int>{});
  EXPECT_EQ(missing_gpus(custom, 4), (std::vector<int>{4, 5, 6}));
}

TEST(MigConfig, WhatIsWrittenReadsBackTheSame) {
  const auto file = parse_mig_config(kExample);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*parse_mig_config(format_mig_config(*file)), *file);
  EXPECT_EQ(*parse_mig_config(format_mig_config_json(*file)), *file);
  const MigConfigFile odd{
      {{"true", {}}, {"a: b #c", {{{}, {}, true, {{"+me\"\\", 3}}}}}, {"", {}}}};
  const auto again = parse_mig_config(format_mig_config(odd));
  ASSERT_TRUE(again.ok()) << again.error().message << format_mig_config(odd);
  EXPECT_EQ(*again, odd);
}

TEST(MigConfig, WhatIsWrongIsRefusedWithTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "expected version"},
      {"version: v2\nmig-configs: {}", "expected v1"},
      {"mig-configs: {}", "expected v1"},
      {"version: v1", "'mig-configs' is missing"},
      {"version: v1\nmig-configs: {}\nhooks: {}", "unknown key 'hooks'"},
      {"version: v1\nmig-configs: {}\nversion: v1", "'version' comes twice"},
      {"version: v1\nmig-configs:\n  a: []\n  a: []", "'a' comes twice"},
      {"version: v1\nmig-configs:\n  a: 3", "list of entries"},
      {"version: v1\nmig-configs:\n  a:\n  - devices: all", "'mig-enabled' is missing"},
      {"version: v1\nmig-configs:\n  a:\n  - mig-enabled: true", "'devices' is missing"},
      {"version: v1\nmig-configs:\n  a:\n  - devices: all\n    mig-enabled: true",
       "'mig-devices' is missing"},
      {"version: v1\nmig-configs:\n  a:\n  - devices: some\n    mig-enabled: false",
       "expected all or a list"},
      {"version: v1\nmig-configs:\n  a:\n  - devices: [-1]\n    mig-enabled: false",
       "no GPU number"},
      {"version: v1\nmig-configs:\n  a:\n  - devices: all\n    mig-enabled: maybe",
       "neither true nor false"},
      {"version: v1\nmig-configs:\n  a:\n  - devices: all\n    mig-enabled: false\n    "
       "placement: 3",
       "line 6: unknown key 'placement'"},
      {"version: v1\nmig-configs:\n  a:\n  - devices: all\n    mig-enabled: true\n    "
       "mig-devices: {1g.5gb: many}",
       "count of 0 to 64"},
      {"version: v1\nmig-configs:\n  a:\n  - device-filter: A100\n    devices: all\n    "
       "mig-enabled: false",
       "no PCI identity"},
      {"version: v1\nmig-configs:\n  a:\n  - devices: all\n    mig-enabled: false\n    "
       "mig-devices: {1g.5gb: 1}",
       "mig-enabled: false"},
      {"version: v1\nmig-configs:\n  \"a\\x1f\": []", "line 3: a key must be UTF-8"},
      {"version: [", "line"},
      {"{{{{{{", "line"},
  };
  for (const auto& [text, wanted] : cases) {
    const auto file = parse_mig_config(text);
    ASSERT_FALSE(file.ok()) << text;
    EXPECT_NE(file.error().message.find(wanted), std::string::npos)
        << text << "\n  " << file.error().message;
  }
}

TEST(MigConfig, AHugeFileIsRefused) {
  EXPECT_FALSE(parse_mig_config(std::string(2'000'000, 'x')).ok());
}

GpuInfo gpu_info(std::uint32_t index, const char* key, std::uint32_t pci) {
  GpuInfo gpu;
  gpu.id = {index};
  gpu.pci = pci;
  gpu.mode = MigMode::kEnabled;
  gpu.model = std::shared_ptr<const mig::GpuModel>(*mig::find_gpu(key), [](auto*) {});
  return gpu;
}

TEST(MigConfig, TheLastEntryThatMatchesCounts) {
  const MigConfig config = {{{}, {}, true, {{"1g.5gb", 7}}},
                            {{0x20B010DE}, std::vector{1}, true, {{"7g.40gb", 1}}}};
  EXPECT_EQ((*wish_for(config, gpu_info(0, "a100-40gb", 0x20B010DE)))->mix.size(), 7U);
  EXPECT_EQ((*wish_for(config, gpu_info(1, "a100-40gb", 0x20B010DE)))->mix.size(), 1U);
  EXPECT_EQ((*wish_for(config, gpu_info(1, "a100-40gb", 0x20B210DE)))->mix.size(), 7U);
  const auto wrong = wish_for(config, gpu_info(0, "h100-80gb", 0x233010DE));
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("1g.10gb"), std::string::npos);
  EXPECT_FALSE(wish_for({}, gpu_info(0, "a30-24gb", 1))->has_value());
}

// Every generated configuration can be applied to the GPUs it was generated for.
TEST(MigConfig, GeneratedConfigurationsFitTheirGpus) {
  const std::vector<GpuInfo> gpus = {gpu_info(0, "a100-40gb", 0x20B010DE),
                                     gpu_info(1, "h200-141gb", 0x233510DE),
                                     gpu_info(2, "a30-24gb", 0x20B710DE)};
  const MigConfigFile file = useful_configs(gpus);
  EXPECT_EQ(*parse_mig_config(format_mig_config(file)), file);
  EXPECT_GT(file.configs.size(), 60U);
  for (const auto& [label, config] : file.configs) {
    for (const GpuInfo& gpu : gpus) {
      const auto wish = wish_for(config, gpu);
      ASSERT_TRUE(wish.ok()) << label << wish.error().message;
      if (!wish->has_value()) continue;
      const auto plan = plan_gpu({gpu, {}}, **wish);
      EXPECT_TRUE(plan.ok()) << label << (plan.ok() ? "" : plan.error().message);
    }
  }
  const MigConfigFile alone = useful_configs({gpus[0]});
  EXPECT_EQ(alone.find("all-1g.5gb")->front().mig_devices.at("1g.5gb"), 7);
  EXPECT_TRUE(alone.find("all-1g.5gb")->front().device_filter.empty());
  EXPECT_NE(alone.find("mix-4g.20gb-3g.20gb"), nullptr);
}

TEST(MigConfig, WhatIsThereIsToldInFewEntries) {
  const auto with = [](GpuInfo gpu, const char* text) {
    GpuSituation one{std::move(gpu), {}};
    const mig::Layout layout = *mig::parse_layout(*one.gpu.model, text);
    for (const mig::Placement placement : layout.instances()) {
      Occupied slice;
      slice.instance.placement = placement;
      one.slices.push_back(slice);
    }
    return one;
  };
  const MigConfig same = config_of({with(gpu_info(0, "a100-40gb", 1), "1g.5gb:0"),
                                    with(gpu_info(1, "a100-40gb", 1), "1g.5gb:6")});
  ASSERT_EQ(same.size(), 1U);
  EXPECT_FALSE(same[0].devices.has_value());
  const MigConfig mixed = config_of({with(gpu_info(0, "a100-40gb", 1), "1g.5gb:0"),
                                     with(gpu_info(1, "a100-40gb", 1), "3g.20gb:4"),
                                     with(gpu_info(2, "a100-40gb", 1), "1g.5gb:3")});
  ASSERT_EQ(mixed.size(), 2U);
  EXPECT_EQ(mixed[0].devices, (std::vector{0, 2}));
  EXPECT_EQ(mixed[0].device_filter, std::vector{1U});
}

}  // namespace
}  // namespace partita::device
