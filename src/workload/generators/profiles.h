// Hourly profiles: how the arrivals of real clusters spread over the day, with their sources.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "base/result.h"

namespace partita::workload {

struct Profile {
  std::string_view name;
  std::string_view source;
  std::array<double, 24> weight;  // arrivals of the hour over the mean hour, mean about 1
};

std::span<const Profile> profiles();  // sorted by name
Result<const Profile*> find_profile(std::string_view name);

// Jobs a minute by hour for a mean of `jobs_per_hour`, exactly: the printed weights are rounded.
std::array<double, 24> hourly_rates_per_min(const Profile& profile, double jobs_per_hour);

}  // namespace partita::workload
