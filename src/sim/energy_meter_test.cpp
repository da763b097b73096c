#include "sim/energy_meter.h"

#include <gtest/gtest.h>

namespace partita::sim {
namespace {

const mig::PowerCurve kCurve{"test", {40, 120, 160, 200, 240, 250, 250, 250}, "", {}};

TEST(EnergyMeter, IdleGpusBurnIdlePower) {
  EnergyMeter meter(3);
  meter.close(Micros::seconds(10));
  EXPECT_DOUBLE_EQ(meter.joules(kCurve), 3 * 40 * 10);
  EXPECT_EQ(meter.compute_slice_micros(), 0);
}

TEST(EnergyMeter, BooksTheTimeBeforeAChangeAtTheLevelBefore) {
  EnergyMeter meter(1);
  meter.set(GpuId{0}, Micros::seconds(5), 3, 4);
  meter.set(GpuId{0}, Micros::seconds(7), 7, 8);
  meter.set(GpuId{0}, Micros::seconds(8), 0, 0);
  meter.close(Micros::seconds(10));
  EXPECT_DOUBLE_EQ(meter.joules(kCurve), 40 * 5 + 200 * 2 + 250 * 1 + 40 * 2);
  EXPECT_EQ(meter.compute_slice_micros(), (3 * 2 + 7 * 1) * 1'000'000);
  EXPECT_EQ(meter.memory_slice_micros(), (4 * 2 + 8 * 1) * 1'000'000);
  EXPECT_EQ(meter.micros_at_level()[3], 2'000'000);
}

TEST(EnergyMeter, MemoryAloneCanChange) {
  // A 1g.5gb leaves and a 1g.10gb begins: as many compute slices, more memory.
  EnergyMeter meter(1);
  meter.set(GpuId{0}, Micros{0}, 1, 1);
  meter.set(GpuId{0}, Micros{10}, 1, 2);
  meter.close(Micros{30});
  EXPECT_EQ(meter.compute_slice_micros(), 30);
  EXPECT_EQ(meter.memory_slice_micros(), 10 + 2 * 20);
}

TEST(EnergyMeter, ManyBookingsOfTheSameLevelAreOne) {
  EnergyMeter often(1);
  EnergyMeter once(1);
  once.set(GpuId{0}, Micros{0}, 5, 5);
  for (std::int64_t i = 0; i < 1'000; ++i) {
    often.set(GpuId{0}, Micros{3 * i}, 5, 5);
    often.set(GpuId{0}, Micros{3 * i + 1}, 4, 5);
    often.set(GpuId{0}, Micros{3 * i + 1}, 5, 5);
  }
  often.close(Micros{3'000});
  once.close(Micros{3'000});
  EXPECT_EQ(often.joules(kCurve), once.joules(kCurve));
}

TEST(EnergyMeter, ACurveOfFewerLevelsIsEnoughForASmallerGpu) {
  EnergyMeter meter(1);
  meter.set(GpuId{0}, Micros{0}, 4, 4);
  meter.close(Micros::seconds(2));
  EXPECT_DOUBLE_EQ(meter.joules({"a30", {26.4, 98.8, 148.2, 163.6, 164.0}, "", {}}), 328);
}

}  // namespace
}  // namespace partita::sim
