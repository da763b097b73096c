#include "experiment/seeds.h"

#include <array>

#include "base/check.h"

namespace partita::experiment {
namespace {

struct Row {
  Role role;
  std::string_view name;
  std::uint64_t first;  // of kDaysMax seeds
};

constexpr std::array<Row, 3> kRows{{
    {Role::kTest, "test", 1'000'000},
    {Role::kTrain, "train", 2'000'000},
    {Role::kTune, "tune", 3'000'000},
}};

const Row& row_of(Role role) {
  for (const Row& row : kRows) {
    if (row.role == role) return row;
  }
  CHECK(false);
}

}  // namespace

std::string_view role_name(Role role) {
  return row_of(role).name;
}

std::optional<Role> role_named(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.role;
  }
  return std::nullopt;
}

std::uint64_t day_seed(Role role, std::uint64_t index) {
  CHECK(index < kDaysMax);
  return row_of(role).first + index;
}

Role role_of_seed(std::uint64_t seed) {
  for (const Row& row : kRows) {
    if (seed >= row.first && seed - row.first < kDaysMax) return row.role;
  }
  return Role::kTest;
}

}  // namespace partita::experiment
