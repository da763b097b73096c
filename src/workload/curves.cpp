#include "workload/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/named.h"

namespace partita::workload {
namespace {

using PerSize = std::array<double, kSliceSizeCount>;  // 1g, 2g, 3g, 4g, 7g

constexpr std::string_view kPapersSource =
    "SMART-MIG (IPDPS 2026) and its notebooks, after MIGPerf (training) and MIG-serving "
    "(inference); A100-40GB, relative throughput";
constexpr std::string_view kMisoSource =
    "median iteration time logged by the MISO authors (SoCC 2022, boringlee24/socc22-miso) on "
    "slices of an A100-40GB";
constexpr std::string_view kH200Source =
    "items per second measured on an NVIDIA H200 with the work confined to the SMs of the slice "
    "(green contexts, whole memory bandwidth); 3g interpolated between 48 and 64 SMs";

struct PapersRow {
  std::string_view name;
  CurveKind kind;
  PerSize throughput;
};
constexpr PapersRow kPapers[] = {
    {"bert-inference", CurveKind::kInference, {1, 2, 3, 4, 7}},
    {"bert-training", CurveKind::kTraining, {2.2, 4.1, 5.8, 7.1, 10.5}},
    {"resnet-inference", CurveKind::kInference, {3.2, 6.4, 9.6, 12.5, 18.4}},
    {"resnet-training", CurveKind::kTraining, {3.4, 6.0, 7.85, 8.4, 9.75}},
};

// Seconds an iteration; 0 where the model did not fit in the memory of the slice.
struct MisoRow {
  std::string_view model;
  int batch;
  PerSize iteration_s;
};
constexpr MisoRow kMiso[] = {
    {"bert", 2, {0, 0.12130, 0.07530, 0.06860, 0.04720}},
    {"bert", 4, {0, 0.21660, 0.12660, 0.11450, 0.07040}},
    {"bert", 6, {0, 0, 0.17670, 0.16100, 0.09670}},
    {"bert", 8, {0, 0, 0.23330, 0.21030, 0.12070}},
    {"cyclegan", 1, {0.59750, 0.31140, 0.19990, 0.18370, 0.14340}},
    {"cyclegan", 2, {0, 0.56500, 0.35630, 0.29660, 0.18610}},
    {"cyclegan", 3, {0, 0.82530, 0.51420, 0.42810, 0.25170}},
    {"cyclegan", 4, {0, 0, 0.68250, 0.57150, 0.33620}},
    {"deepspeech2", 2, {1.02870, 0.43360, 0.33110, 0.29640, 0.28120}},
    {"deepspeech2", 4, {3.40410, 1.11800, 0.78390, 0.48830, 0.31190}},
    {"deepspeech2", 8, {4.01195, 0.46960, 0.37035, 0.33140, 0.31020}},
    {"deepspeech2", 16, {0, 0.53490, 0.41510, 0.39020, 0.33445}},
    {"embedding", 64, {0.00490, 0.00370, 0.00320, 0.00320, 0.00300}},
    {"embedding", 128, {0.00720, 0.00470, 0.00360, 0.00350, 0.00320}},
    {"embedding", 256, {0.01230, 0.00710, 0.00510, 0.00470, 0.00380}},
    {"embedding", 512, {0.02160, 0.01210, 0.00810, 0.00740, 0.00520}},
    {"gnn", 64, {0.03190, 0.01990, 0.01500, 0.01380, 0.01170}},
    {"gnn", 128, {0.06040, 0.03520, 0.02560, 0.02350, 0.01750}},
    {"gnn", 256, {0.12570, 0.06970, 0.04820, 0.04160, 0.02980}},
    {"gnn", 512, {0, 0.13910, 0.09205, 0.08090, 0.05690}},
    {"mobilenet", 64, {0.02320, 0.02080, 0.01930, 0.01910, 0.01880}},
    {"mobilenet", 128, {0.02870, 0.02380, 0.02100, 0.02060, 0.02020}},
    {"mobilenet", 256, {0.04370, 0.03060, 0.02640, 0.02540, 0.02430}},
    {"mobilenet", 512, {0.07860, 0.04670, 0.03530, 0.03310, 0.03110}},
    {"resnet", 64, {0.04890, 0.03170, 0.02810, 0.02960, 0.02830}},
    {"resnet", 128, {0.06480, 0.03820, 0.03170, 0.03070, 0.02960}},
    {"resnet", 256, {0.09760, 0.05400, 0.03700, 0.03390, 0.03140}},
    {"resnet", 512, {0.16370, 0.08730, 0.05610, 0.04900, 0.03660}},
    {"transformer", 16, {0.11500, 0.06040, 0.03700, 0.03360, 0.02070}},
    {"transformer", 32, {0.22460, 0.11580, 0.06870, 0.06170, 0.03660}},
    {"transformer", 64, {0, 0.22600, 0.13080, 0.11770, 0.06810}},
    {"transformer", 128, {0, 0, 0.25670, 0.22990, 0.13110}},
};
// Usable memory of the slices those were measured on, GiB.
constexpr PerSize kA100Gib{4.75, 9.62, 19.5, 19.5, 39.25};

// Items per second at 16, 32, 48, 64 and 132 SMs: the slices 1g, 2g, 4g and 7g have 16, 32, 64 and
// 132, and 3g has 60. Neither memory need nor memory bandwidth of a slice is in these figures.
struct H200Row {
  std::string_view workload;
  CurveKind kind;
  std::array<double, 5> items_per_s;
};
constexpr H200Row kH200[] = {
    {"bert_base_infer_b64", CurveKind::kInference, {2662.06, 4867.59, 7131.32, 8709.69, 10130.92}},
    {"bert_base_infer_b8", CurveKind::kInference, {1261.12, 999.84, 1139.74, 1209.47, 1074.91}},
    {"bert_base_train_b64", CurveKind::kTraining, {688.68, 1234.47, 1684.48, 1826.09, 1852.08}},
    {"gemm8192_bf16", CurveKind::kInference, {100.55, 199.87, 302.82, 388.26, 602.05}},
    {"llm_decode_1b_b1", CurveKind::kInference, {330.66, 441.58, 437.57, 448.04, 396.48}},
    {"llm_decode_1b_b16", CurveKind::kInference, {5120.74, 6397.70, 6196.12, 7112.45, 6651.21}},
    {"llm_decode_1b_b256",
     CurveKind::kInference,
     {30065.89, 56691.87, 74375.96, 96184.12, 102287.19}},
    {"resnet50_infer_b1", CurveKind::kInference, {195.76, 184.11, 187.97, 186.59, 253.21}},
    {"resnet50_infer_b64", CurveKind::kInference, {2753.11, 5057.84, 7039.37, 8672.98, 13347.35}},
    {"resnet50_infer_b8", CurveKind::kInference, {1752.01, 2001.08, 2148.35, 2115.35, 2240.18}},
    {"resnet50_train_b128", CurveKind::kTraining, {825.57, 1553.90, 2174.67, 2686.48, 4285.05}},
    {"stream_copy_2GiB", CurveKind::kInference, {288.00, 529.67, 726.26, 857.54, 987.48}},
};

Curve curve_of(const PapersRow& row) {
  Curve curve{std::string(row.name), std::string(kPapersSource), row.kind, {}, 0, 0, 0};
  for (std::size_t i = 0; i < kSliceSizeCount; ++i) curve.throughput[i] = row.throughput[i];
  return curve;
}

Curve curve_of(const MisoRow& row) {
  Curve curve;
  curve.name = fmt::format("miso-{}-b{}", row.model, row.batch);
  curve.source = kMisoSource;
  for (std::size_t i = 0; i < kSliceSizeCount; ++i) {
    if (row.iteration_s[i] > 0) curve.throughput[i] = 1 / row.iteration_s[i];
  }
  std::size_t fits = 0;
  while (row.iteration_s[fits] == 0) ++fits;
  curve.memory_at_most_gib = kA100Gib[fits];
  curve.memory_above_gib = fits == 0 ? 0 : kA100Gib[fits - 1];
  curve.memory_gib = (curve.memory_above_gib + curve.memory_at_most_gib) / 2;
  return curve;
}

Curve curve_of(const H200Row& row) {
  const auto& at = row.items_per_s;
  constexpr double kTo60 = (60.0 - 48.0) / (64.0 - 48.0);
  Curve curve{
      fmt::format("h200-{}", row.workload), std::string(kH200Source), row.kind, {}, 0, 0, 0};
  curve.throughput = {at[0], at[1], at[2] + kTo60 * (at[3] - at[2]), at[3], at[4]};
  return curve;
}

std::vector<Curve> make_curves() {
  std::vector<Curve> all;
  for (const PapersRow& row : kPapers) all.push_back(curve_of(row));
  for (const MisoRow& row : kMiso) all.push_back(curve_of(row));
  for (const H200Row& row : kH200) all.push_back(curve_of(row));
  std::sort(all.begin(), all.end(), [](const Curve& a, const Curve& b) { return a.name < b.name; });
  return all;
}

}  // namespace

std::string_view kind_name(CurveKind kind) {
  return kind == CurveKind::kTraining ? "training" : "inference";
}

std::optional<double> Curve::relative(std::size_t i) const {
  if (!throughput[i]) return {};
  return *throughput[i] / *throughput.back();
}

std::span<const Curve> curves() {
  static const std::vector<Curve> all = make_curves();
  return all;
}

Result<const Curve*> find_curve(std::string_view name) {
  return find_named("speed-up curve", name, curves(), &Curve::name);
}

std::array<Micros, kSliceSizeCount> times_on_slices(const Curve& curve, int size, double seconds) {
  const std::optional<std::size_t> from = slice_size_index(size);
  CHECK(from && curve.throughput[*from]);
  CHECK(seconds >= 0);
  std::array<Micros, kSliceSizeCount> times;
  times.fill(kNoTime);
  for (std::size_t i = 0; i < kSliceSizeCount; ++i) {
    if (!curve.throughput[i]) continue;
    const double time = seconds * (*curve.throughput[*from] / *curve.throughput[i]);
    times[i] = std::max(Micros{1}, micros_from_seconds(std::min(time, kJobSecondsMax)));
  }
  return times;
}

}  // namespace partita::workload
