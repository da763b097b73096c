#include "experiment/tuning/mix_plan.h"

#include <gtest/gtest.h>

namespace partita::experiment {
namespace {

constexpr Micros at_hour(std::int64_t hour) {
  return Micros::seconds(hour * 3600);
}

TEST(MixPlan, AStaticMixIsOneList) {
  EXPECT_EQ(to_text({{{at_hour(0), {1, 2, 2, 6}}}}), "static:1,2,2,6");
}

TEST(MixPlan, FromOneSegmentToTheNextAsManyGpusAsCanBeKeepTheirLayout) {
  const MixPlan plan{{{at_hour(8), {1, 2, 2, 6}}, {at_hour(20), {2, 2, 6, 9}}}};
  EXPECT_EQ(assign_gpus(plan), (std::vector<std::vector<int>>{{1, 2, 2, 6}, {9, 2, 2, 6}}));
  EXPECT_EQ(to_text(plan), "timetable:08:00=1,2,2,6,20:00=9,2,2,6");
}

TEST(MixPlan, BecomesARepartitionerThatBeginsWithTheLastSegmentOfTheDayBefore) {
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  const auto made = repartitioner_of({{{at_hour(8), {1}}, {at_hour(20), {2}}}}, model);
  EXPECT_EQ(made->next_time(Micros{}), at_hour(8));
}

}  // namespace
}  // namespace partita::experiment
