// A third party's arithmetic: energy and tardiness from jobs.csv, schedule.csv and layouts.csv.
//
// Nothing of the simulator is used here. The power table is that of SMART-MIG, section IV.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "program.h"

namespace partita::cli_test {
namespace {

constexpr std::array<double, 8> kWatts{40, 119, 160, 205.3, 243.9, 247.7, 248.5, 248.5};

using Fields = std::vector<std::string>;

// Fields of a line; quotes hide commas.
Fields fields_of(const std::string& line) {
  Fields fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<Fields> rows_of(const std::string& text, const std::string& header) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, header);
  std::vector<Fields> rows;
  while (std::getline(lines, line)) rows.push_back(fields_of(line));
  return rows;
}

long double number(const std::string& text) {
  long double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_TRUE(error == std::errc() && end == text.data() + text.size()) << text;
  return value;
}

struct Piece {
  std::string job;
  std::string gpu;
  std::string slot;
  std::string profile;
  long double begin;
  long double end;
};

struct Recomputed {
  long double energy_j = 0;
  long double mean_tardiness_s = 0;
  long double max_tardiness_s = 0;
  double late_share = 0;
};

class Recompute : public ProgramTest {
 protected:
  void read_run() {
    jobs_ = rows_of(read("jobs.csv"),
                    "id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s");
    layouts_ = rows_of(read("layouts.csv"), "gpu,begin_s,end_s,layout");
    for (const Fields& row :
         rows_of(read("schedule.csv"), "job,gpu,start_slot,profile,begin_s,end_s")) {
      pieces_.push_back({row[0], row[1], row[2], row[3], number(row[4]), number(row[5])});
    }
  }

  // Every GPU is on from 0 to the end; its power follows the compute slices in use.
  long double energy() const {
    std::map<std::string, std::vector<std::pair<long double, int>>> changes;
    for (const Piece& piece : pieces_) {
      const int slices = piece.profile[0] - '0';
      changes[piece.gpu].emplace_back(piece.begin, slices);
      changes[piece.gpu].emplace_back(piece.end, -slices);
    }
    std::map<std::string, long double> ends;
    for (const Fields& row : layouts_) ends[row[0]] = std::max(ends[row[0]], number(row[2]));
    long double joules = 0;
    for (const auto& [gpu, end] : ends) joules += energy_of(changes[gpu], end);
    return joules;
  }

  static long double energy_of(std::vector<std::pair<long double, int>>& changes, long double end) {
    std::sort(changes.begin(), changes.end());
    long double joules = 0;
    long double now = 0;
    int busy = 0;
    for (const auto& [time, slices] : changes) {
      joules += (time - now) * static_cast<long double>(kWatts.at(static_cast<std::size_t>(busy)));
      now = time;
      busy += slices;
    }
    EXPECT_EQ(busy, 0);
    return joules + (end - now) * static_cast<long double>(kWatts[0]);
  }

  Recomputed recompute() const {
    std::map<std::string, long double> completion;
    for (const Piece& piece : pieces_) {
      completion[piece.job] = std::max(completion[piece.job], piece.end);
    }
    Recomputed sums;
    std::size_t late = 0;
    for (const Fields& job : jobs_) {
      const long double tardiness = std::max(0.0L, completion.at(job[0]) - number(job[2]));
      sums.mean_tardiness_s += tardiness;
      sums.max_tardiness_s = std::max(sums.max_tardiness_s, tardiness);
      late += tardiness > 5e-7L ? 1 : 0;
    }
    sums.mean_tardiness_s /= static_cast<long double>(jobs_.size());
    sums.late_share = static_cast<double>(late) / static_cast<double>(jobs_.size());
    sums.energy_j = energy();
    return sums;
  }

  // Work done on each slice size adds up to one job; nothing runs before it arrives.
  void expect_work_done(long double lost_per_restart) const {
    const std::map<char, std::size_t> column{{'1', 5}, {'2', 6}, {'3', 7}, {'4', 8}, {'7', 9}};
    std::map<std::string, const Fields*> job_of;
    for (const Fields& job : jobs_) job_of[job[0]] = &job;
    std::map<std::string, long double> work;
    std::map<std::string, int> count;
    std::vector<const Piece*> in_order;
    for (const Piece& piece : pieces_) in_order.push_back(&piece);
    std::sort(in_order.begin(), in_order.end(),
              [](const Piece* a, const Piece* b) { return a->begin < b->begin; });
    for (const Piece* piece : in_order) {
      const Fields& job = *job_of.at(piece->job);
      EXPECT_GE(piece->begin, number(job[1]) - 1e-9L);
      const long double lost = count[piece->job]++ > 0 ? lost_per_restart : 0;
      const long double ran = std::max(0.0L, piece->end - piece->begin - lost);
      work[piece->job] += ran / number(job[column.at(piece->profile[0])]);
    }
    for (const Fields& job : jobs_) EXPECT_NEAR(double(work[job[0]]), 1.0, 1e-4) << job[0];
  }

  // Each piece lies within a time in which its GPU offered that instance.
  void expect_offered() const {
    for (const Piece& piece : pieces_) {
      const std::string instance = piece.profile + ":" + piece.slot;
      long double covered = 0;
      for (const Fields& row : layouts_) {
        if (row[0] != piece.gpu) continue;
        const Fields instances = fields_of(row[3]);
        if (std::find(instances.begin(), instances.end(), instance) == instances.end()) continue;
        covered += std::max(
            0.0L, std::min(piece.end, number(row[2])) - std::max(piece.begin, number(row[1])));
      }
      EXPECT_NEAR(double(covered), double(piece.end - piece.begin), 1e-6) << piece.job;
    }
  }

  void expect_same(const nlohmann::json& json) const {
    const Recomputed own = recompute();
    const auto near = [&](const char* key, long double value) {
      const double said = json[key];
      EXPECT_NEAR(said, double(value), 1e-9 * std::max(1.0, std::abs(said))) << key;
    };
    near("energy_j", own.energy_j);
    near("mean_tardiness_s", own.mean_tardiness_s);
    near("max_tardiness_s", own.max_tardiness_s);
    near("late_share", own.late_share);
    near("energy_w_min", own.energy_j / 60);
    near("energy_kwh", own.energy_j / 3'600'000);
  }

  void run_and_check(const std::string& settings, long double lost_per_restart = 0) {
    const Ran ran =
        run("simulate --jobs jobs.csv --json --schedule schedule.csv "
            "--layouts layouts.csv " +
            settings);
    ASSERT_EQ(ran.status, 0) << ran.err;
    read_run();
    repartitions_ = ran.json()["repartitions"];
    preemptions_ = ran.json()["preemptions"];
    expect_same(ran.json());
    expect_offered();
    expect_work_done(lost_per_restart);
  }

  int repartitions_ = 0;
  int preemptions_ = 0;
  std::vector<Fields> jobs_;
  std::vector<Fields> layouts_;
  std::vector<Piece> pieces_;
};

TEST_F(Recompute, ADayWithFreePreemption) {
  out_of(kGenerateDay);
  run_and_check(
      "--gpus 8 --scheduler cedf --repartition static:1,2,2,2,2,2,6,10 --preemption free");
}

TEST_F(Recompute, ADayWithoutPreemption) {
  out_of(kGenerateDay);
  run_and_check("--gpus 8 --scheduler mdd --repartition static:1,1,2,3,3,5,5,10 --preemption none");
}

TEST_F(Recompute, ATimetableWithMeasuredCosts) {
  out_of("generate --hours 48 --rate 5 --seed 3 --out jobs.csv");
  run_and_check(
      "--gpus 2 --scheduler edf-ss --repartition timetable:06:00=9,12:00=6,20:00=2,4 "
      "--repartition-cost measured --preemption free");
}

TEST_F(Recompute, ATimetableWithoutPreemption) {
  out_of("generate --hours 48 --rate 2 --seed 4 --out jobs.csv");
  run_and_check("--scheduler mdd --preemption none --repartition timetable:06:00=9,20:00=2");
  EXPECT_GE(repartitions_, 3);
}

TEST_F(Recompute, PreemptionAtACostAndALaterHorizon) {
  out_of("generate --hours 24 --rate 4 --seed 5 --out jobs.csv");
  run_and_check(
      "--gpus 2 --scheduler edf-ss --repartition static:2,9 --preemption cost=30 "
      "--horizon 200000",
      30);
}

TEST_F(Recompute, PreemptionThatPays) {
  out_of("generate --hours 24 --rate 6 --seed 6 --out jobs.csv");
  run_and_check(
      "--gpus 2 --scheduler mdd --repartition timetable:06:00=2,9,18:00=3,9 --preemption pays=30",
      30);
  EXPECT_GT(preemptions_, 10);
}

}  // namespace
}  // namespace partita::cli_test
