#include "base/job_number.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

#include "base/record.h"

namespace partita {
namespace {

// Larger than any position of a job.
constexpr JobNumber kLarge{std::int64_t{1} << 40U};

TEST(JobNumber, IsNoNumberAndNoPositionOfAJob) {
  EXPECT_FALSE((std::is_convertible_v<std::int64_t, JobNumber>));
  EXPECT_FALSE((std::is_convertible_v<JobNumber, std::int64_t>));
  EXPECT_FALSE((std::is_convertible_v<JobId, JobNumber>));
  EXPECT_EQ(JobNumber{}, kNoJob);
}

TEST(JobNumber, IsOrderedAndFoundByItsValue) {
  EXPECT_LT(JobNumber{2}, JobNumber{10});
  const std::unordered_set<JobNumber> jobs{{3}, kLarge, {3}};
  EXPECT_EQ(jobs.size(), 2U);
  EXPECT_TRUE(jobs.contains(JobNumber{kLarge.value}));
}

TEST(JobNumber, IsShownAsItsDigits) {
  EXPECT_EQ(fmt::format("job {} of {:>4}", kLarge, JobNumber{7}), "job 1099511627776 of    7");
}

TEST(JobNumber, IsSummedAndReadBackInRecordsAsTheWholeNumberItIs) {
  JobNumber read;
  set_whole(read, to_whole(kLarge));
  EXPECT_EQ(read, kLarge);
  RowSum typed;
  SumFields(typed).add(kLarge);
  RowSum bare;
  SumFields(bare).add(kLarge.value);
  EXPECT_EQ(typed.value(), bare.value());
}

}  // namespace
}  // namespace partita
