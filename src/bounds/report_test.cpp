#include "bounds/report.h"

#include <gtest/gtest.h>

#include "bounds/certificate.h"
#include "bounds/simple_bounds.h"
#include "bounds/tardiness_mip.h"
#include "bounds/test_support.h"

namespace partita::bounds {
namespace {

Request quick() {
  Request request;
  request.rounds = 20;
  request.use_mip = false;
  return request;
}

Subject subject_of(const Instance& instance) {
  return {"a100-40gb", "smart-mig", instance.gpus, instance.jobs.size(), Micros{}, 2e-7};
}

TEST(Bounds, SayWhyThereIsNone) {
  const workload::Trace trace = random_trace(1, 1);
  EXPECT_EQ(make_instance(trace, a100_fleet(0)).error().message,
            "a bound needs at least 1 GPU, there are 0");
  EXPECT_EQ(make_instance({}, a100_fleet(1)).error().message,
            "a bound needs at least 1 job, there are none");
  workload::Trace large = trace;
  large.jobs[0].memory_gib = 100;
  EXPECT_EQ(make_instance(large, a100_fleet(1)).error().message,
            "job '0' needs 100 GiB; no profile of a100-40gb has that much and a size the job has a "
            "time for");
}

// One job of 70 s on a whole GPU, seven times as long on a seventh: 208.5 W above idle for 70 s.
TEST(Bounds, OfALinearJobAreWhatItTakes) {
  workload::Trace trace;
  trace.class_names = {"any"};
  workload::Job job;
  job.deadline = Micros::seconds(60);
  for (std::size_t i = 0; i < workload::kSliceSizeCount; ++i) {
    job.time[i] = micros_from_seconds(490.0 / workload::kSliceSizes[i]);
  }
  trace.add(job, "one");
  const Instance instance = *make_instance(trace, a100_fleet(1));
  const Report report = find_bounds(instance, quick());
  EXPECT_NEAR(report.best(Kind::kEnergy)->value, 248.5 * 70, 1e-3);
  EXPECT_NEAR(report.best(Kind::kTardiness)->value, 10, 1e-6);
}

// Memory that only 3g and larger have: at most two at a time, 208.5 W for six slices.
TEST(Bounds, OfEnergyAreTighterWhenMemoryExcludesSmallSlices) {
  workload::Trace trace = random_trace(3, 20);
  const Instance without = *make_instance(trace, a100_fleet(2));
  for (workload::Job& job : trace.jobs) job.memory_gib = 15;
  const Instance with = *make_instance(trace, a100_fleet(2));
  const Report report = find_bounds(with, quick());
  EXPECT_GT(linear_energy_j(with), linear_energy_j(without));
  EXPECT_GE(report.best(Kind::kEnergy)->value, linear_energy_j(with));
}

TEST(Bounds, JointIsNotBelowTheSum) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Report report = find_bounds(random_instance(seed, 12, 2), quick());
    double sum = 0;
    for (const Bound& bound : report.bounds) {
      if (bound.kind == Kind::kEt && bound.name == "sum") sum = bound.value;
    }
    EXPECT_GT(sum, 0);
    EXPECT_GE(report.best(Kind::kEt)->value, sum);
  }
}

// Three jobs of 10, 10 and 20 s on one GPU, all due at once: 10 + 20 + 40 s late at best, and what
// the program misses is at most two slots a job.
TEST(Bounds, OfTheProgramMissAtMostTwoSlotsAJob) {
  workload::Trace trace;
  trace.class_names = {"any"};
  for (const double whole : {10.0, 10.0, 20.0}) {
    workload::Job job;
    for (std::size_t i = 0; i < workload::kSliceSizeCount; ++i) {
      job.time[i] = micros_from_seconds(whole * 7 / workload::kSliceSizes[i]);
    }
    trace.add(job, "some");
  }
  const Instance instance = *make_instance(trace, a100_fleet(1));
  const MipBound mip = mip_tardiness(instance, 100);
  ASSERT_EQ(mip.status, MipStatus::kOptimal);
  EXPECT_LE(mip.total_s, 70);
  EXPECT_GE(mip.total_s + 2 * 3 * mip.slot_s, 70);
  EXPECT_LT(mip.slot_s, 1);
  EXPECT_NEAR(matching_tardiness_s(instance), 70, 1e-4);
}

TEST(Certificate, ReadsBackAndHolds) {
  const Instance instance = random_instance(5, 9, 1);
  const Report report = find_bounds(instance, quick());
  const std::string text = to_text({subject_of(instance), report.bounds}, instance);
  const Result<Certificate> read = parse_certificate(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->subject, subject_of(instance));
  EXPECT_EQ(to_text(*read, instance), text);
  for (const Verdict& verdict : verify(*read, instance)) {
    EXPECT_TRUE(verdict.holds) << verdict.name << ": " << verdict.why;
  }
}

TEST(Certificate, DoesNotHoldWhenItClaimsMoreOrTheJobsAreOthers) {
  const Instance instance = random_instance(5, 9, 1);
  Certificate certificate{subject_of(instance), find_bounds(instance, quick()).bounds};
  const Instance easier = random_instance(5, 9, 4);
  int refuted = 0;
  for (const Verdict& verdict : verify(certificate, easier)) refuted += verdict.holds ? 0 : 1;
  EXPECT_GE(refuted, 3);
  for (Bound& bound : certificate.bounds) bound.value = bound.value * 1.0001 + 1e-9;
  for (const Verdict& verdict : verify(certificate, instance)) {
    EXPECT_FALSE(verdict.holds) << verdict.name;
  }
}

TEST(Certificate, IsRefusedWithASentence) {
  for (const std::string text :
       {"", "{}", "[1]", R"({"format":"other"})", R"({"format":"partita bound certificate 1"})"}) {
    const Result<Certificate> read = parse_certificate(text);
    ASSERT_FALSE(read.ok());
    EXPECT_TRUE(read.error().message.starts_with("this is no certificate: ")) << text;
  }
}

}  // namespace
}  // namespace partita::bounds
