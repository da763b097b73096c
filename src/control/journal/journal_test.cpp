#include "control/journal/journal.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/row_sum.h"
#include "control/journal/journal_replay.h"
#include "control/journal/recorder.h"
#include "mig/gpu_model.h"

namespace partita::control {
namespace {

std::string random_text(Rng& rng) {
  std::string text(rng.below(12), ' ');
  for (char& c : text) c = static_cast<char>(rng.below(256));
  return text;
}

mig::Placement random_placement(Rng& rng) {
  return {static_cast<mig::ProfileIndex>(rng.below(6)), static_cast<std::uint8_t>(rng.below(8))};
}

device::Instance random_instance(Rng& rng) {
  device::Instance instance;
  instance.key = {GpuId{1}, static_cast<std::uint32_t>(rng.below(14)), random_text(rng)};
  instance.placement = random_placement(rng);
  instance.compute_instances = static_cast<int>(rng.below(3));
  if (rng.below(2) == 0) instance.ci = static_cast<std::uint32_t>(rng.below(7));
  instance.generation = rng.next();
  return instance;
}

launch::Report random_report(Rng& rng) {
  launch::Report report;
  report.kind = static_cast<launch::Report::Kind>(rng.below(4));
  report.key = {{static_cast<std::int64_t>(rng.below(1000))}, 2};
  report.pid = static_cast<int>(rng.below(1 << 22));
  report.exit_code = static_cast<int>(rng.below(200)) - 1;
  report.at = Micros{static_cast<std::int64_t>(rng.next() >> 1)};
  report.message = random_text(rng);
  report.over_time = rng.below(2) == 1;
  return report;
}

Reading random_reading(Rng& rng) {
  Reading reading;
  reading.gpu = GpuId{static_cast<std::uint32_t>(rng.below(2))};
  if (rng.below(3) != 0) reading.energy_j = rng.uniform(0, 1e9);
  if (rng.below(3) != 0) reading.power_w = rng.uniform(0, 700);
  // Often the slices of before, and often with the same figures.
  for (std::uint8_t i = 0; i < 3 + rng.below(2); ++i) {
    reading.slices.push_back(
        {i, i == 2 ? random_text(rng) : "MIG-1", rng.below(2) == 0 ? 1.5 : rng.uniform(0, 40)});
    if (rng.below(2) == 0) reading.slices.back().uuid = "MIG-1";
  }
  return reading;
}

Input random_input(Rng& rng) {
  const GpuId gpu{static_cast<std::uint32_t>(rng.below(2))};
  switch (rng.below(10)) {
    case 0: {
      Submit submit;
      submit.ticket = rng.next() >> 1;
      submit.owner = {1000, 100};
      submit.key = random_text(rng);
      submit.spec.argv = {"train", random_text(rng)};
      submit.spec.directory = "/";
      submit.spec.name = "n";
      if (rng.below(2) == 0) submit.spec.memory_gib = rng.uniform(0, 40);
      submit.count = rng.below(100);
      return submit;
    }
    case 1:
      return Cancel{rng.next() >> 1, {static_cast<std::int64_t>(rng.below(99))}};
    case 2:
      return random_report(rng);
    case 3: {
      CreateDone done{gpu, random_placement(rng), {}, {}};
      if (rng.below(2) == 0) done.instance = random_instance(rng);
      done.error = {device::Fault::kInUse, random_text(rng), {3, 4}};
      return done;
    }
    case 4:
      return DestroyDone{gpu, random_placement(rng), rng.below(2) == 0, {}};
    case 5:
      return random_reading(rng);
    case 6: {
      Inventory inventory{gpu, {}};
      Rng again(rng.below(2));  // one of two, so that it is often the one of before
      for (int i = 0; i < 3; ++i) inventory.instances.push_back(random_instance(again));
      return inventory;
    }
    case 7:
      return GpuHealth{gpu, rng.below(2) == 0, random_text(rng), rng.below(2) == 0};
    case 8:
      return Remark{random_text(rng), random_text(rng)};
    default:
      return SliceFault{gpu, static_cast<std::uint8_t>(rng.below(8)), random_text(rng)};
  }
}

std::vector<std::vector<Input>> random_turns(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::vector<Input>> turns(20);
  for (auto& inputs : turns) {
    for (std::uint64_t i = rng.below(6); i > 0; --i) inputs.push_back(random_input(rng));
  }
  return turns;
}

TEST(Journal, CancellingManyIsReadBackAsItWasWritten) {
  CancelJobs cancel{7, {{3}, {4}, {90}}, 1000};
  InputWriter writer;
  InputReader reader;
  const auto read = reader.decode(writer.encode(std::vector<Input>{Input(cancel)}));
  ASSERT_TRUE(read.ok());
  const auto& again = std::get<CancelJobs>(read->at(0));
  EXPECT_EQ(again.ticket, cancel.ticket);
  EXPECT_EQ(again.jobs, cancel.jobs);
  EXPECT_EQ(again.only_of, cancel.only_of);
}

// Bytes that were read back are compared by writing them again: a field that is not written, or
// not read, changes them or is caught below.
TEST(Journal, InputsAreReadBackAsTheyWereWritten) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    InputWriter writer;
    InputReader reader;
    InputWriter again;
    for (const auto& inputs : random_turns(seed)) {
      const std::string bytes = writer.encode(inputs);
      const auto read = reader.decode(bytes);
      ASSERT_TRUE(read.ok()) << "seed " << seed;
      ASSERT_EQ(read->size(), inputs.size());
      EXPECT_EQ(again.encode(*read), bytes) << "seed " << seed;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        ASSERT_EQ(inputs[i].index(), (*read)[i].index());
        const auto* report = std::get_if<launch::Report>(&inputs[i]);
        if (report != nullptr) {
          EXPECT_EQ(*report, std::get<launch::Report>((*read)[i]));
        }
        const auto* found = std::get_if<Inventory>(&inputs[i]);
        if (found != nullptr) {
          EXPECT_EQ(found->instances, std::get<Inventory>((*read)[i]).instances);
        }
        const auto* submit = std::get_if<Submit>(&inputs[i]);
        if (submit != nullptr) {
          EXPECT_EQ(submit->spec, std::get<Submit>((*read)[i]).spec);
        }
      }
    }
  }
}

TEST(Journal, AReadingThatSaysWhatTheLastOneSaidTakesFewBytes) {
  Reading reading;
  reading.gpu = GpuId{0};
  reading.energy_j = 12.5;
  for (std::uint8_t i = 0; i < 7; ++i) {
    reading.slices.push_back({i, "MIG-01234567-89ab-cdef-0123-456789abcdef", 4.25});
  }
  InputWriter writer;
  const std::vector<Input> inputs{reading};
  EXPECT_GT(writer.encode(inputs).size(), 300U);
  EXPECT_LT(writer.encode(inputs).size(), 25U);
}

Beginning some_beginning() {
  Beginning beginning;
  beginning.version = "1";
  beginning.policy = "fifo+tightest/migm-b";
  beginning.seed = 7;
  beginning.options.early_restart->window = 17;
  beginning.options.limits.attempts_max = 5;
  beginning.options.preemption = {decide::Preemption::Mode::kPays, Micros::seconds(30)};
  beginning.model = *mig::catalogue().front();
  beginning.gpus = {{"GPU-1", "name", GpuId{3}}};
  Rng rng(5);
  device::Instance instance = random_instance(rng);
  instance.placement = {0, 0};
  beginning.inventories = {{GpuId{0}, {instance}}};
  beginning.attempts = {random_report(rng)};
  return beginning;
}

TEST(Journal, ABeginningIsReadBackAsItWasWritten) {
  const Beginning beginning = some_beginning();
  const std::string bytes = encode_beginning(beginning);
  const auto read = decode_beginning(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(encode_beginning(*read), bytes);
  EXPECT_EQ(read->policy, beginning.policy);
  EXPECT_EQ(read->options.early_restart->window, 17U);
  EXPECT_EQ(read->options.limits.attempts_max, 5);
  EXPECT_EQ(read->options.preemption.mode, decide::Preemption::Mode::kPays);
  EXPECT_EQ(read->options.preemption.cost, Micros::seconds(30));
  EXPECT_EQ(read->model.profiles.back().starts, beginning.model.profiles.back().starts);
  EXPECT_EQ(read->model.power_curves.front().watts, beginning.model.power_curves.front().watts);
  EXPECT_EQ(read->inventories.front().instances, beginning.inventories.front().instances);
  EXPECT_EQ(read->attempts, beginning.attempts);
  EXPECT_EQ(read->gpus.front().device, GpuId{3});
}

TEST(Journal, TheRulesOfASharedQueueAreReadBack) {
  for (const auto mode : {decide::Preemption::Mode::kNone, decide::Preemption::Mode::kPays}) {
    Beginning beginning = some_beginning();
    beginning.options.preemption.mode = mode;
    beginning.options.queue = {.reserve_after = Micros::seconds(90),
                               .fair_share = decide::FairOrder::kJoules,
                               .half_life = Micros::seconds(7),
                               .weights = {{"1001", 2.5}}};
    const auto read = decode_beginning(encode_beginning(beginning));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->options.preemption.mode, mode);
    EXPECT_EQ(read->options.queue.reserve_after, beginning.options.queue.reserve_after);
    EXPECT_EQ(read->options.queue.fair_share, decide::FairOrder::kJoules);
    EXPECT_EQ(read->options.queue.half_life, Micros::seconds(7));
    EXPECT_EQ(read->options.queue.weights, beginning.options.queue.weights);
    beginning.options.queue.weights = {{"1001", -1}};
    EXPECT_FALSE(decode_beginning(encode_beginning(beginning)).ok());
  }
}

TEST(Journal, QuotasAreReadBack) {
  Beginning beginning = some_beginning();
  QuotaAmounts most{200, 8, 7, {{3, 2}, {7, 0}}, 100.5, 5e7};
  beginning.options.quotas.period = QuotaPeriod::kMonth;
  beginning.options.quotas.rules = {{QuotaHolder::kUser, "ann", 1001, most},
                                    {QuotaHolder::kDefault, "", 0, {}}};
  beginning.options.queue.reserve_after = Micros::seconds(90);
  const auto read = decode_beginning(encode_beginning(beginning));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->options.queue.reserve_after, Micros::seconds(90));
  EXPECT_EQ(read->options.quotas.period, QuotaPeriod::kMonth);
  ASSERT_EQ(read->options.quotas.rules.size(), 2U);
  EXPECT_EQ(read->options.quotas.rules[0].name, "ann");
  EXPECT_EQ(read->options.quotas.rules[0].id, 1001U);
  EXPECT_EQ(read->options.quotas.rules[0].most, most);
  EXPECT_EQ(read->options.quotas.rules[1].kind, QuotaHolder::kDefault);
  beginning.options.quotas.rules[0].most.instances = {{100, 1}};
  EXPECT_FALSE(decode_beginning(encode_beginning(beginning)).ok()) << "no slice is so large";
  beginning.options.quotas.rules[0].most.instances.clear();
  beginning.options.quotas.rules[0].most.slices = -1;
  EXPECT_FALSE(decode_beginning(encode_beginning(beginning)).ok());
}

TEST(Journal, WhatIsCutIsRefused) {
  const std::string bytes = encode_beginning(some_beginning());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_beginning(bytes.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(decode_beginning(bytes + "x").ok());
  InputWriter writer;
  const std::vector<Input> inputs{GpuHealth{GpuId{0}, false, "lost"}};
  const std::string health = writer.encode(inputs);
  for (std::size_t size = 1; size < health.size(); ++size) {
    EXPECT_FALSE(InputReader{}.decode(health.substr(0, size)).ok()) << size;
  }
}

TEST(Journal, ABeginningOfAnotherFormatIsRefusedByNumber) {
  std::string bytes = encode_beginning(some_beginning());
  bytes.front() = 18;  // nine, as a varint
  const auto read = decode_beginning(bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("format 9"), std::string::npos);
}

TEST(Journal, EverythingATurnSaysIsInItsDigest) {
  const auto changed = [](auto change) {
    Turn turn;
    const std::int64_t before = digest_of(turn);
    change(turn);
    return digest_of(turn) != before;
  };
  EXPECT_TRUE(changed([](Turn& t) { t.batch.new_jobs.emplace_back(); }));
  EXPECT_TRUE(changed([](Turn& t) { t.batch.progress.emplace_back(); }));
  EXPECT_TRUE(changed([](Turn& t) { t.batch.attempts.emplace_back(); }));
  EXPECT_TRUE(changed([](Turn& t) { t.batch.instances.emplace_back(); }));
  EXPECT_TRUE(changed([](Turn& t) { t.batch.gone_instances.emplace_back(); }));
  EXPECT_TRUE(changed([](Turn& t) { t.batch.intents.emplace_back(); }));
  EXPECT_TRUE(changed([](Turn& t) { t.batch.met_intents.emplace_back(); }));
  EXPECT_TRUE(changed([](Turn& t) { t.batch.events.emplace_back(); }));
  EXPECT_TRUE(changed([](Turn& t) { t.batch.peaks.emplace_back(); }));
  EXPECT_TRUE(changed([](Turn& t) { t.batch.forgotten_jobs.push_back({1}); }));
  EXPECT_TRUE(changed([](Turn& t) { t.replies.emplace_back(); }));
  EXPECT_TRUE(changed([](Turn& t) { t.effects.emplace_back(Stop{}); }));
  EXPECT_FALSE(changed([](Turn& t) { t.batch.turns.emplace_back(); }));
  EXPECT_FALSE(changed([](Turn& t) { t.batch.totals.emplace_back(); }));
}

// ---- bytes that older programs wrote and newer ones must go on writing

std::int64_t sum_of_bytes(std::string_view bytes) {
  RowSum sum;
  sum.add(bytes);
  return sum.value();
}

// Every row and every effect, each field different from its neighbours.
Turn full_turn() {
  Turn turn;
  store::JobRow job;
  job.progress = {
      .id = {1}, .state = 2, .attempt = 3, .need_gib = 4.5, .changed_us = 5, .reason = "six"};
  job.submitted_us = 7;
  job.uid = 8;
  job.gid = 9;
  job.name = "ten";
  job.key = "eleven";
  job.spec = "twelve";
  turn.batch.new_jobs = {job};
  turn.batch.progress = {job.progress};
  turn.batch.attempts = {{.job = {1},
                          .number = 2,
                          .state = 3,
                          .gpu = "GPU-4",
                          .instance = "MIG-5",
                          .profile = "1g.5gb",
                          .start = 6,
                          .started_us = 7,
                          .ended_us = 8,
                          .exit_code = 9,
                          .signal = 10,
                          .peak_gib = 11.5,
                          .energy_j = 12.5,
                          .reason = "thirteen"}};
  turn.batch.instances = {{"GPU-1", 2, "3g.20gb", "MIG-4", 5, 6}};
  turn.batch.gone_instances = {{"GPU-7", 8}};
  turn.batch.intents = {{"launch", "9.1", 10}};
  turn.batch.met_intents = {{"stop", "11.1", 12}};
  turn.batch.events = {{13, 14, {15}, "kind", "text"}};
  turn.batch.peaks = {{16, "name", 17.5}};
  turn.batch.forgotten_jobs = {{18}, {19}};
  turn.batch.turns = {{20, 21, store::TurnKind::kBegin, 22, "inputs"}};
  turn.replies = {{23, Reply::Kind::kFull, {{24}, {25}}, "message"}};
  Launch launch;
  launch.start.key = {{26}, 27};
  launch.start.argv = {"a", "b"};
  launch.start.environment = {"C=d"};
  launch.start.directory = "/e";
  launch.start.owner = {28, 29};
  launch.start.checkpoint = {"f"};
  launch.start.time_limit = Micros{30};
  launch.instance = {GpuId{31}, 32, "MIG-33"};
  turn.effects.emplace_back(std::move(launch));
  turn.effects.emplace_back(Stop{{34, 35}, true});
  turn.effects.emplace_back(Forget{{36, 37}});
  turn.effects.emplace_back(Create{GpuId{38}, {3, 4}});
  turn.effects.emplace_back(Destroy{GpuId{39}, {1, 2}, {GpuId{40}, 41, "MIG-42"}});
  return turn;
}

TEST(Journal, DigestsAndBytesAreThoseThatOlderProgramsWrote) {
  EXPECT_EQ(digest_of(full_turn()), 2287520881008345579);
  std::string bytes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    InputWriter writer;
    for (const auto& inputs : random_turns(seed)) bytes += writer.encode(inputs);
  }
  EXPECT_EQ(bytes.size(), 32'826U);
  EXPECT_EQ(sum_of_bytes(bytes), 2201503175964687327);
  Beginning beginning = some_beginning();
  mig::GpuModel& model = beginning.model = {};  // a model of its own: those of the catalogue change
  model.key = "key";
  model.title = "title";
  model.compute_slices = 7;
  model.memory_slices = 8;
  model.sms_without_mig = 108;
  mig::Profile& profile = model.profiles.emplace_back();
  profile.name = "1g.5gb";
  profile.nvml_id = 19;
  profile.nvml_enum = "enum";
  profile.compute_slices = 1;
  profile.memory_slices = 1;
  profile.memory_gib = 4.75;
  profile.sms = 14;
  profile.instances_max = 7;
  profile.starts = {0, 1, 2};
  profile.media = true;
  model.change_seconds = {{0.25, 0.5}};
  model.power_curves.emplace_back().name = "curve";
  model.power_curves.back().watts = {1, 2.5};
  EXPECT_EQ(sum_of_bytes(encode_beginning(beginning)), -8267546581907945454);
  beginning.options.preemption = {decide::Preemption::Mode::kNone, {}};
  EXPECT_EQ(sum_of_bytes(encode_beginning(beginning)), -4867150520018195824);
}

TEST(Recorder, AQuietTurnWaitsForOneThatIsWritten) {
  Recorder recorder({4, 0, false});
  Turn quiet;
  recorder.note(Micros{1}, {}, quiet);
  EXPECT_TRUE(quiet.batch.empty());
  Turn loud;
  loud.batch.events.emplace_back();
  recorder.note(Micros{2}, {}, loud);
  ASSERT_EQ(loud.batch.turns.size(), 2U);
  EXPECT_EQ(loud.batch.turns[0].number, 5);
  EXPECT_EQ(loud.batch.turns[1].number, 6);
}

TEST(Recorder, AFullJournalIsClosedOnceAndBegunAnew) {
  Recorder recorder({9, kJournalBytesMax - 50, false});
  const std::vector<Input> inputs{GpuHealth{GpuId{0}, false, std::string(100, 'x')}};
  Turn turn;
  recorder.note(Micros{1}, inputs, turn);
  EXPECT_TRUE(recorder.closed());
  ASSERT_EQ(turn.batch.turns.size(), 1U);
  EXPECT_EQ(turn.batch.turns[0].kind, store::TurnKind::kClose);
  Turn next;
  recorder.note(Micros{2}, inputs, next);
  EXPECT_TRUE(next.batch.turns.empty());
  EXPECT_TRUE(should_begin_anew({9, 10, true}, {}, Micros{3}));
  EXPECT_TRUE(should_begin_anew({9, kJournalBytesMax / 2 + 1, false}, {}, Micros{3}));
  EXPECT_FALSE(should_begin_anew({9, kJournalBytesMax / 2, false}, {}, Micros{3}));
}

TEST(Recorder, AJournalThatIsTooOldIsClosedAndBegunAnew) {
  const JournalLimits limits{1'000'000, Micros::seconds(60)};
  const store::Store::JournalSize size{9, 10, false, 5'000'000};
  const Micros last = Micros::seconds(65);
  EXPECT_FALSE(should_begin_anew(size, limits, last));
  EXPECT_TRUE(should_begin_anew(size, limits, last + Micros{1}));
  EXPECT_TRUE(should_begin_anew({9, 500'001, false, 5'000'000}, limits, last));
  Recorder recorder(size, limits);
  const std::vector<Input> inputs{GpuHealth{GpuId{0}, false, "x"}};
  Turn turn;
  turn.batch.events.emplace_back();
  recorder.note(last, inputs, turn);
  EXPECT_FALSE(recorder.closed());
  recorder.note(last + Micros{1}, inputs, turn);
  EXPECT_TRUE(recorder.closed());
}

TEST(Recorder, NothingFollowsAJournalThatIsClosed) {
  Recorder recorder({9, 10, true});
  Turn turn;
  turn.batch.events.emplace_back();
  recorder.begin(Micros{1}, some_beginning(), turn);
  recorder.note(Micros{2}, {}, turn);
  EXPECT_TRUE(turn.batch.turns.empty());
}

TEST(Journal, WhetherThereIsSpaceIsWrittenAndRead) {
  launch::Report report;
  report.kind = launch::Report::Kind::kNoSpace;
  report.key = {{3}, 1};
  report.message = "no space";
  const std::vector<Input> inputs{Storage{false, "the disk is full"}, report, Storage{true, ""}};
  InputWriter writer;
  InputReader reader;
  const auto read = reader.decode(writer.encode(inputs));
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), 3U);
  EXPECT_EQ(std::get<Storage>((*read)[0]).why, "the disk is full");
  EXPECT_FALSE(std::get<Storage>((*read)[0]).space);
  EXPECT_EQ(std::get<launch::Report>((*read)[1]), report);
  EXPECT_TRUE(std::get<Storage>((*read)[2]).space);
}

}  // namespace
}  // namespace partita::control
