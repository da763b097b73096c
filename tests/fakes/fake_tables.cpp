#include "fake_tables.h"

namespace partita::fakes {
namespace {

using Starts = std::vector<unsigned>;

constexpr unsigned long long kMib = 1ULL << 20U;

const Starts kOnes{0, 1, 2, 3, 4, 5, 6};
const Starts kDoubles{0, 2, 4, 6};
const Starts kTwos{0, 2, 4};
const Starts kHalves{0, 4};
const Starts kFirst{0};

// Arguments of nvml.h: 0 to 4 are 1, 2, 3, 4 and 7 slices, 7 and 8 the ones with media engines, 9
// the 1g with double memory.
std::vector<FakePart> make_parts() {
  std::vector<FakePart> parts;
  parts.push_back({"a30-24gb",
                   "NVIDIA A30",
                   0x20B710DE,
                   24576 * kMib,
                   4,
                   4,
                   30000,
                   33000,
                   {{0, 14, "MIG 1g.6gb", 1, 1, 5952, 14, 1, 1, 0, 0, 4, {0, 1, 2, 3}},
                    {7, 21, "MIG 1g.6gb+me", 1, 1, 5952, 14, 1, 1, 1, 1, 1, {0, 1, 2, 3}, true},
                    {1, 5, "MIG 2g.12gb", 2, 2, 11968, 28, 2, 2, 0, 0, 2, {0, 2}},
                    {8, 6, "MIG 2g.12gb+me", 2, 2, 11968, 28, 2, 2, 1, 1, 1, {0, 2}, true},
                    {3, 0, "MIG 4g.24gb", 4, 4, 24000, 56, 4, 4, 1, 1, 1, {0}}}});
  parts.push_back({"a100-40gb",
                   "NVIDIA A100-SXM4-40GB",
                   0x20B010DE,
                   40960 * kMib,
                   8,
                   7,
                   45000,
                   30000,
                   {{0, 19, "MIG 1g.5gb", 1, 1, 4864, 14, 1, 0, 0, 0, 7, kOnes},
                    {7, 20, "MIG 1g.5gb+me", 1, 1, 4864, 14, 1, 1, 1, 1, 1, kOnes, true},
                    {9, 15, "MIG 1g.10gb", 1, 2, 9856, 14, 1, 1, 0, 0, 4, kDoubles},
                    {1, 14, "MIG 2g.10gb", 2, 2, 9856, 28, 2, 1, 0, 0, 3, kTwos},
                    {2, 9, "MIG 3g.20gb", 3, 4, 19968, 42, 3, 2, 0, 0, 2, kHalves},
                    {3, 5, "MIG 4g.20gb", 4, 4, 19968, 56, 4, 2, 0, 0, 1, kFirst},
                    {4, 0, "MIG 7g.40gb", 7, 8, 40192, 98, 7, 5, 1, 1, 1, kFirst}}});
  parts.push_back({"h100-80gb",
                   "NVIDIA H100 80GB HBM3",
                   0x233010DE,
                   81559 * kMib,
                   8,
                   7,
                   70000,
                   85000,
                   {{0, 19, "MIG 1g.10gb", 1, 1, 9984, 16, 1, 1, 1, 0, 7, kOnes},
                    {7, 20, "MIG 1g.10gb+me", 1, 1, 9984, 16, 1, 1, 1, 1, 1, kOnes, true},
                    {9, 15, "MIG 1g.20gb", 1, 2, 20096, 26, 1, 1, 1, 0, 4, kDoubles},
                    {1, 14, "MIG 2g.20gb", 2, 2, 20096, 32, 2, 2, 2, 0, 3, kTwos},
                    {2, 9, "MIG 3g.40gb", 3, 4, 40448, 60, 3, 3, 3, 0, 2, kHalves},
                    {3, 5, "MIG 4g.40gb", 4, 4, 40448, 64, 4, 4, 4, 0, 1, kFirst},
                    {4, 0, "MIG 7g.80gb", 7, 8, 81152, 132, 8, 7, 7, 1, 1, kFirst}}});
  parts.push_back({"h200-141gb",
                   "NVIDIA H200",
                   0x233510DE,
                   143771 * kMib,
                   8,
                   7,
                   85000,
                   85000,
                   {{0, 19, "MIG 1g.18gb", 1, 1, 16384, 16, 1, 1, 1, 0, 7, kOnes},
                    {7, 20, "MIG 1g.18gb+me", 1, 1, 16384, 16, 1, 1, 1, 1, 1, kOnes, true},
                    {9, 15, "MIG 1g.35gb", 1, 2, 33280, 26, 1, 1, 1, 0, 4, kDoubles},
                    {1, 14, "MIG 2g.35gb", 2, 2, 33280, 32, 2, 2, 2, 0, 3, kTwos},
                    {2, 9, "MIG 3g.71gb", 3, 4, 71424, 60, 3, 3, 3, 0, 2, kHalves},
                    {3, 5, "MIG 4g.71gb", 4, 4, 71424, 64, 4, 4, 4, 0, 1, kFirst},
                    {4, 0, "MIG 7g.141gb", 7, 8, 143360, 132, 8, 7, 7, 1, 1, kFirst}}});
  return parts;
}

}  // namespace

std::span<const FakePart> all_parts() {
  static const std::vector<FakePart> parts = make_parts();
  return parts;
}

const FakePart* find_part(std::string_view key) {
  for (const FakePart& part : all_parts()) {
    if (part.key == key) return &part;
  }
  return nullptr;
}

}  // namespace partita::fakes
