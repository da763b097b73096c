#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/text.h"
#include "mig/gpu_model.h"
#include "mig/test_support.h"

namespace partita::mig {
namespace {

std::string profile_name(const GpuModel& model, std::string_view text) {
  const Result<ProfileIndex> index = parse_profile(model, text);
  return index ? model.profiles[*index].name : index.error().message;
}

std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

using CsvRow = std::map<std::string, std::string>;

// Nothing when the file is not there: facts travel beside the repository, not in it.
std::vector<CsvRow> csv_rows(const std::string& path_beside_source) {
  std::ifstream file(std::filesystem::path(PARTITA_SOURCE_DIR) / ".." / path_beside_source);
  std::string line;
  if (!std::getline(file, line)) return {};
  const std::vector<std::string> header = csv_fields(line);
  std::vector<CsvRow> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = csv_fields(line);
    CsvRow row;
    for (std::size_t i = 0; i < header.size() && i < fields.size(); ++i) row[header[i]] = fields[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(Catalogue, ListsItsModelsInOrder) {
  std::vector<std::string> keys;
  for (const GpuModel* model : catalogue()) keys.push_back(model->key);
  EXPECT_EQ(keys, (std::vector<std::string>{"a30-24gb", "a100-40gb", "a100-80gb", "h100-80gb",
                                            "h200-141gb", "b200-180gb"}));
}

TEST(Catalogue, EveryModelIsWellFormed) {
  for (const GpuModel* model : catalogue()) {
    SCOPED_TRACE(model->key);
    EXPECT_LE(model->profiles.size(), static_cast<std::size_t>(kProfilesMax));
    EXPECT_EQ(model->change_seconds.size(), model->profiles.size());
    EXPECT_FALSE(model->change_source.empty());
    EXPECT_LE(model->memory_slices, kMemorySlicesMax);
    EXPECT_LE(model->compute_slices, kComputeSlicesMax);
    std::set<std::string> names;
    std::set<int> ids;
    for (const Profile& profile : model->profiles) {
      SCOPED_TRACE(profile.name);
      EXPECT_TRUE(names.insert(profile.name).second);
      EXPECT_TRUE(ids.insert(profile.nvml_id).second);
      EXPECT_TRUE(std::ranges::is_sorted(profile.starts));
      EXPECT_LE(profile.starts.back() + profile.memory_slices, model->memory_slices);
      EXPECT_GT(profile.memory_gib, 0);
      EXPECT_TRUE(profile.confidence == Confidence::kEstablished || !profile.note.empty());
      EXPECT_TRUE(profile.confidence == Confidence::kAssumed || profile.sms > 0);
    }
  }
}

TEST(Catalogue, ProfilesAreOrderedBySizeThenPlainBeforeMedia) {
  for (const GpuModel* model : catalogue()) {
    const auto key = [](const Profile& p) {
      return std::tuple(p.compute_slices, p.memory_slices, p.media);
    };
    EXPECT_TRUE(std::ranges::is_sorted(model->profiles, {}, key)) << model->key;
  }
}

TEST(Catalogue, EveryPowerCurveHasAFigureForEachCountOfBusySlices) {
  for (const GpuModel* model : catalogue()) {
    for (const PowerCurve& curve : model->power_curves) {
      SCOPED_TRACE(model->key + " " + curve.name);
      EXPECT_EQ(curve.watts.size(), static_cast<std::size_t>(model->compute_slices) + 1);
      EXPECT_FALSE(curve.source.empty());
    }
    EXPECT_TRUE(std::ranges::is_sorted(model->power_curves.front().watts)) << model->key;
  }
}

TEST(Catalogue, FiguresOfOtherPartsAreMarkedAssumed) {
  for (const char* key : {"a30", "a100-80gb", "h100", "b200"}) {
    EXPECT_EQ(gpu(key).power_curves.front().confidence, Confidence::kAssumed) << key;
    EXPECT_EQ(gpu(key).change_confidence, Confidence::kAssumed) << key;
  }
  EXPECT_EQ(gpu("h200").change_confidence, Confidence::kAssumed);
  for (const char* name : {"3g.90gb", "4g.90gb", "7g.180gb"}) {
    const Profile& profile = gpu("b200").profiles[*parse_profile(gpu("b200"), name)];
    EXPECT_EQ(profile.confidence, Confidence::kAssumed);
    EXPECT_EQ(profile.sms, 0);
  }
}

TEST(Catalogue, A100PowerIsThePapers) {
  const std::vector<double> smart_mig = {40, 119, 160, 205.3, 243.9, 247.7, 248.5, 248.5};
  const std::vector<double> tech_report = {40, 120, 160, 200, 240, 250, 250, 250};
  EXPECT_EQ(gpu("a100").power_curves.front().watts, smart_mig);
  EXPECT_EQ((*find_power_curve(gpu("a100"), "tech-report"))->watts, tech_report);
}

TEST(Catalogue, A30PowerIsTheA100sByShareScaledToTheBoardLimit) {
  const std::vector<double>& a100 = gpu("a100").power_curves.front().watts;
  const std::vector<double>& a30 = gpu("a30").power_curves.front().watts;
  for (int busy = 0; busy <= 4; ++busy) {
    const double width = 7.0 * busy / 4.0;
    const auto below = static_cast<std::size_t>(width);
    const std::size_t above = std::min<std::size_t>(below + 1, 7);
    const double part = width - std::floor(width);
    const double watts = (1 - part) * a100[below] + part * a100[above];
    EXPECT_NEAR(a30[static_cast<std::size_t>(busy)], watts * 165 / 250, 0.06) << busy;
  }
}

TEST(Catalogue, H200PowerIsTheCalibration) {
  const std::vector<CsvRow> rows = csv_rows("shared/calibration/h200_sm_share.csv");
  if (rows.empty()) GTEST_SKIP() << "the calibration file is not beside the source";
  const std::map<std::string, std::string> curves = {
      {"gemm8192_bf16", "gemm-bf16"},
      {"bert_base_train_b64", "bert-train-b64"},
      {"bert_base_infer_b64", "bert-infer-b64"},
      {"resnet50_infer_b64", "resnet50-infer-b64"},
      {"resnet50_train_b128", "resnet50-train-b128"},
  };
  const std::map<std::string, std::size_t> busy_by_sms = {
      {"16", 1}, {"32", 2}, {"48", 3}, {"64", 4}, {"80", 5}, {"96", 6}, {"132", 7}};
  std::vector<double> mean(8, 0.0);
  for (CsvRow row : rows) {
    if (!curves.contains(row["workload"]) || !busy_by_sms.contains(row["sms"])) continue;
    const std::size_t busy = busy_by_sms.at(row["sms"]);
    ASSERT_TRUE(parse_double(row["watts"])) << row["watts"];
    const double watts = *parse_double(row["watts"]);
    EXPECT_EQ((*find_power_curve(gpu("h200"), curves.at(row["workload"])))->watts[busy], watts);
    mean[busy] += watts / static_cast<double>(curves.size());
  }
  for (std::size_t busy = 1; busy <= 7; ++busy) {
    EXPECT_NEAR(gpu("h200").power_curves.front().watts[busy], mean[busy], 1e-9);
  }
}

TEST(Catalogue, AgreesWithTheFactTableRowByRow) {
  const std::vector<CsvRow> rows = csv_rows("shared/facts/mig_profiles.csv");
  if (rows.empty()) GTEST_SKIP() << "the fact table is not beside the source";
  const std::set<std::string> ours = {"A30-24GB",       "A100-40GB",  "A100-80GB",
                                      "H100-SXM5-80GB", "H200-141GB", "B200-180GB"};
  std::map<std::string, std::size_t> seen;
  for (CsvRow row : rows) {
    if (!ours.contains(row["gpu"])) continue;
    SCOPED_TRACE(row["gpu"] + " " + row["profile"]);
    const GpuModel& model = gpu(row["gpu"]);
    const std::size_t index = seen[model.key]++;
    ASSERT_LT(index, model.profiles.size());
    const Profile& profile = model.profiles[index];
    EXPECT_EQ(profile.name, row["profile"]);
    EXPECT_EQ(profile.nvml_id, parse_int(row["smi_profile_id"]));
    EXPECT_EQ(profile.nvml_enum, row["nvml_enum"]);
    EXPECT_EQ(profile.compute_slices, parse_int(row["compute_slices"]));
    EXPECT_EQ(profile.memory_slices, parse_int(row["memory_slices"]));
    EXPECT_EQ(profile.memory_slices, parse_int(row["placement_size"]));
    EXPECT_EQ(profile.instances_max, parse_int(row["max_instances"]));
    EXPECT_EQ(model.compute_slices, parse_int(row["gpu_compute_slices"]));
    EXPECT_EQ(model.memory_slices, parse_int(row["gpu_memory_slices"]));
    std::string starts;
    for (const int start : profile.starts)
      starts += (starts.empty() ? "" : "|") + std::to_string(start);
    EXPECT_EQ(starts, row["placement_starts"]);
    if (row["memory_gib"].empty()) {
      EXPECT_EQ(profile.confidence, Confidence::kAssumed);
      EXPECT_EQ(profile.sms, 0);
    } else {
      EXPECT_EQ(profile.memory_gib, parse_double(row["memory_gib"]));
      EXPECT_EQ(profile.sms, parse_int(row["sms"]));
    }
  }
  for (const GpuModel* model : catalogue()) EXPECT_EQ(seen[model->key], model->profiles.size());
}

// go-nvlib: M = round(ceil(mem / total * 8) / 8 * ceil(total GiB)).
TEST(Catalogue, NamesFollowTheVendorsNamingRule) {
  const std::map<std::string, double> total_gib = {{"a30-24gb", 24},    {"a100-40gb", 40},
                                                   {"a100-80gb", 80},   {"h100-80gb", 80},
                                                   {"h200-141gb", 141}, {"b200-180gb", 180}};
  for (const GpuModel* model : catalogue()) {
    const double total = total_gib.at(model->key);
    for (const Profile& profile : model->profiles) {
      const double eighths = std::ceil(profile.memory_gib / total * 8);
      std::ostringstream name;
      name << profile.compute_slices << "g." << std::lround(eighths / 8 * total) << "gb"
           << (profile.media ? "+me" : "");
      EXPECT_EQ(profile.name, name.str()) << model->key;
    }
  }
}

TEST(FindGpu, AcceptsTheSpellingsInUse) {
  for (const GpuModel* model : catalogue()) EXPECT_EQ(&gpu(model->key), model);
  EXPECT_EQ(gpu("a100").key, "a100-40gb");
  EXPECT_EQ(gpu("A100-40GB").key, "a100-40gb");
  EXPECT_EQ(gpu(" NVIDIA A100-SXM4-80GB ").key, "a100-80gb");
  EXPECT_EQ(gpu("nvidia_h100_80gb_hbm3").key, "h100-80gb");
  EXPECT_EQ(gpu("h100-sxm5-80gb").key, "h100-80gb");
  EXPECT_EQ(gpu("H200").key, "h200-141gb");
  EXPECT_EQ(gpu("b200").key, "b200-180gb");
  EXPECT_EQ(gpu("A30").key, "a30-24gb");
}

TEST(FindGpu, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(find_gpu("v100").error().message,
            "unknown GPU 'v100'; known: a30-24gb, a100-40gb, a100-80gb, h100-80gb, h200-141gb, "
            "b200-180gb");
  EXPECT_FALSE(find_gpu("").ok());
  EXPECT_FALSE(find_gpu("h100-pcie-80gb").ok());
}

TEST(FindPowerCurve, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(find_power_curve(gpu("a100"), "flat").error().message,
            "unknown a100-40gb power curve 'flat'; known: smart-mig, tech-report");
}

TEST(ParseProfile, AcceptsEveryFormOfEveryName) {
  for (const GpuModel* model : catalogue()) {
    for (const Profile& profile : model->profiles) {
      std::string dotted = profile.name;
      std::ranges::replace(dotted, '+', '.');
      for (const std::string& text :
           {profile.name, "mig-" + profile.name, "MIG " + profile.name, " " + profile.name + " ",
            dotted, "nvidia.com/mig-" + dotted, std::to_string(profile.nvml_id)}) {
        EXPECT_EQ(profile_name(*model, text), profile.name) << model->key << " '" << text << "'";
      }
    }
  }
}

TEST(ParseProfile, AcceptsNamesThatDriftWithTheDriver) {
  EXPECT_EQ(profile_name(gpu("a100-80gb"), "3g.39gb"), "3g.40gb");
  EXPECT_EQ(profile_name(gpu("a100-80gb"), "7g.79gb"), "7g.80gb");
  EXPECT_EQ(profile_name(gpu("b200"), "1g.24gb"), "1g.23gb");
  EXPECT_EQ(profile_name(gpu("b200"), "1g.24gb+me"), "1g.23gb+me");
}

TEST(ParseProfile, AnotherPartsNameIsNotDrift) {
  EXPECT_FALSE(parse_profile(gpu("h200"), "3g.20gb").ok());
  EXPECT_FALSE(parse_profile(gpu("h100"), "1g.12gb").ok());
  EXPECT_FALSE(parse_profile(gpu("a100"), "1g.7gb").ok());
}

TEST(ParseProfile, AnUnknownNameListsTheKnownOnes) {
  const std::string known =
      "; known: 1g.5gb, 1g.5gb+me, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb";
  for (const std::string text : {"5g.30gb", "1c.3g.20gb", "1g.5gb+gfx", "1g.5gb+me.all", "", "g.gb",
                                 "-19", "1", "3g", "mig-"}) {
    EXPECT_EQ(profile_name(gpu("a100"), text), "unknown a100-40gb profile '" + text + "'" + known);
  }
}

}  // namespace
}  // namespace partita::mig
