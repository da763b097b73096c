#include "workload/generators/profiles.h"

#include <numeric>
#include <string>
#include <vector>

#include "base/named.h"

namespace partita::workload {
namespace {

constexpr Profile kProfiles[] = {
    {"flat", "the same rate at every hour", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                             1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {"genai",
     "Alibaba GenAI 2026 image requests (26,823; few users, phase unknown)",
     {3.427, .979, 1.046, 1.083, .598, .322,  .301,  .226, .110, .040,  .032,  .002,
      .000,  .003, .003,  .036,  .573, 2.096, 2.484, .559, .978, 2.974, 2.970, 3.158}},
    {"openb",
     "Alibaba openb 2023, last 9 days (2,361 GPU pods; phase unknown)",
     {1.395, 1.069, .774, 1.283, 1.028, .815,  .947,  1.028, .937,  .509,  1.018, .672,
      .519,  .529,  .417, .713,  1.283, 1.110, 1.405, 1.283, 1.273, 1.313, 1.120, 1.558}},
    {"papers",
     "SMART-MIG (IPDPS 2026) Fig. 5 and notebooks",
     {.771,  .576,  .590,  .694,  .951,  1.173, 1.187, 1.173, 1.243, 1.326, 1.395, 1.305,
      1.180, 1.229, 1.166, 1.187, 1.132, .958,  .833,  .771,  .896,  .805,  .736,  .722}},
    {"philly",
     "Microsoft Philly 2017 (82,247 jobs; time zone not stated)",
     {1.274, .985, 1.119, 1.103, .700, 1.153, 1.673, 2.089, 1.109, 1.006, 1.024, .869,
      .749,  .705, .638,  .649,  .881, .668,  .801,  .728,  1.016, .917,  1.134, 1.010}},
    {"servegen-large",
     "ServeGen m-large, LLM inference (14 days, 162 clients; local time)",
     {.994, 1.002, .986,  .936,  .908,  .883,  .854,  .818,  .788,  .868,  1.046, 1.106,
      .971, .981,  1.047, 1.047, 1.109, 1.078, 1.040, 1.143, 1.133, 1.074, 1.103, 1.086}},
    {"servegen-mid",
     "ServeGen m-mid, LLM inference (14 days, 109 clients; local time)",
     {1.010, 1.043, 1.147, 1.170, 1.021, .937, .981, 1.061, .979,  .993, 1.106, 1.111,
      .955,  1.128, 1.058, .848,  .841,  .925, .902, .889,  1.014, .933, .927,  1.021}},
    {"servegen-small",
     "ServeGen m-small, LLM inference (14 days, 43 clients; local time)",
     {.839,  .714,  .733,  .676,  .714,  .660,  .684,  .855,  1.015, 1.054, 1.125, 1.093,
      1.060, 1.073, 1.060, 1.047, 1.091, 1.079, 1.008, 1.229, 1.456, 1.402, 1.270, 1.063}},
    {"venus",
     "SenseTime Helios Venus 2020, GPU jobs (125,214; local time)",
     {.897,  .658,  .600,  .384,  .268,  .205,  .188,  .224,  .374,  .796,  1.295, 1.474,
      1.164, 1.299, 1.559, 1.656, 1.734, 1.733, 1.282, 1.313, 1.345, 1.364, 1.149, 1.038}},
    {"venus-weekdays",
     "SenseTime Helios Venus 2020, GPU jobs on weekdays (local time)",
     {.809,  .580,  .410,  .335,  .248,  .180,  .173,  .227,  .378,  .845,  1.441, 1.582,
      1.146, 1.369, 1.631, 1.762, 1.745, 1.787, 1.256, 1.355, 1.338, 1.362, 1.094, .946}},
};

}  // namespace

std::span<const Profile> profiles() {
  return kProfiles;
}

Result<const Profile*> find_profile(std::string_view name) {
  return find_named("hourly profile", name, kProfiles, &Profile::name);
}

std::array<double, 24> hourly_rates_per_min(const Profile& profile, double jobs_per_hour) {
  const double sum = std::accumulate(profile.weight.begin(), profile.weight.end(), 0.0);
  std::array<double, 24> rates;
  for (std::size_t hour = 0; hour < 24; ++hour) {
    rates[hour] = profile.weight[hour] / sum * 24 * jobs_per_hour / 60;
  }
  return rates;
}

}  // namespace partita::workload
