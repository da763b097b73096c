// Seeds: which day is used for what, such that no policy is judged on a day it was tuned on.
//
// A day is its seed. Each role has a million seeds of its own; day `index` of a role is the same
// for every policy and every setting, so that differences between them are not differences of luck.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace partita::experiment {

enum class Role : std::uint8_t {
  kTest,   // what is reported
  kTrain,  // what learning sees
  kTune,   // what a search for parameters sees
};

inline constexpr std::uint64_t kDaysMax = 1'000'000;  // of one role

std::string_view role_name(Role role);
std::optional<Role> role_named(std::string_view name);

// REQUIRES: index < kDaysMax.
std::uint64_t day_seed(Role role, std::uint64_t index);

// Seeds below and above the ranges of the roles belong to test: an operator may judge on a day of
// any number, but learning and tuning stay in their range.
Role role_of_seed(std::uint64_t seed);

}  // namespace partita::experiment
