#include "workload/generators/profiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "workload/generators/papers.h"

namespace partita::workload {
namespace {

TEST(Profiles, AreSortedByNameAndHaveMeanOne) {
  EXPECT_TRUE(std::is_sorted(profiles().begin(), profiles().end(),
                             [](const Profile& a, const Profile& b) { return a.name < b.name; }));
  for (const Profile& profile : profiles()) {
    const double sum = std::accumulate(profile.weight.begin(), profile.weight.end(), 0.0);
    EXPECT_NEAR(sum / 24, 1, .001) << profile.name;
  }
}

TEST(Profiles, RatesHaveTheMeanAskedFor) {
  for (const Profile& profile : profiles()) {
    const auto rates = hourly_rates_per_min(profile, 90);
    EXPECT_NEAR(std::accumulate(rates.begin(), rates.end(), 0.0) * 60 / 24, 90, 1e-9);
  }
}

TEST(Profiles, ThePapersProfileIsThePapersTable) {
  const auto rates = hourly_rates_per_min(**find_profile("papers"), .14404 * 60);
  for (std::size_t hour = 0; hour < 24; ++hour) {
    EXPECT_NEAR(rates[hour], kPapersHourlyRates[hour], 2e-4);
  }
}

TEST(Profiles, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(find_profile("mars").error().message,
            "unknown hourly profile 'mars'; known: flat, genai, openb, papers, philly, "
            "servegen-large, servegen-mid, servegen-small, venus, venus-weekdays");
}

}  // namespace
}  // namespace partita::workload
