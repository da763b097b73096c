#include "experiment/day_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/check.h"

namespace partita::experiment {
namespace {

using Json = nlohmann::ordered_json;

constexpr Micros kHour = Micros::seconds(3600);
constexpr Micros kDay = Micros::seconds(86'400);

// The part of a run that is shown.
struct Window {
  Micros begin;
  Micros end;

  bool touches(Micros from, Micros to) const { return from < end && to > begin; }
  double seconds(Micros time) const {
    return static_cast<double>((std::clamp(time, begin, end) - begin).count) / 1e6;
  }
};

double seconds_since(Micros time, Micros zero) {
  return static_cast<double>((time - zero).count) / 1e6;
}

std::size_t pieces_in(const std::vector<sim::SchedulePiece>& pieces, const Window& window) {
  return static_cast<std::size_t>(std::ranges::count_if(
      pieces,
      [&](const sim::SchedulePiece& piece) { return window.touches(piece.begin, piece.end); }));
}

// Of the windows of this length that begin at a multiple of it, the one with the most arrivals.
Window busiest(const workload::Trace& trace, Micros length) {
  std::map<std::int64_t, std::uint64_t> arrivals;
  for (const workload::Job& job : trace.jobs) ++arrivals[job.arrival.count / length.count];
  const auto most =
      std::ranges::max_element(arrivals, {}, [](const auto& at) { return at.second; });
  const std::int64_t index = most == arrivals.end() ? 0 : most->first;
  return {Micros{index * length.count}, Micros{(index + 1) * length.count}};
}

Window window_of(const workload::Trace& trace, const sim::RunResult& result,
                 std::size_t pieces_max) {
  const bool one_day = trace.jobs.empty() || trace.jobs.back().arrival < kDay + kHour;
  Window window{Micros{}, result.end};
  if (!one_day) window = busiest(trace, kDay);
  for (Micros length = kDay; pieces_in(result.schedule, window) > pieces_max;) {
    length = Micros{length.count / 2};
    if (length < kHour) break;
    window = busiest(trace, length);
  }
  return window;
}

// A step function: what has changed by when, then what holds from when.
template <typename Value>
class Steps {
 public:
  void add(Micros time, Value change) { changes_.push_back({time, change}); }

  // `level(change)` moves the level and gives its new value. Changes at one instant are one step.
  template <typename Level>
  Json columns(const Window& window, const char* name, double first, const Level& level) {
    std::ranges::stable_sort(changes_, {}, &Change::time);
    Json times = Json::array({0.0});
    Json values = Json::array({first});
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      const double value = level(changes_[i].change);
      const bool last = i + 1 == changes_.size() || changes_[i + 1].time != changes_[i].time;
      if (!last || changes_[i].time >= window.end) continue;
      const double time = window.seconds(changes_[i].time);
      if (value == values.back().template get<double>()) continue;
      if (time == times.back().template get<double>()) {
        values.back() = value;
        continue;
      }
      times.push_back(time);
      values.push_back(value);
    }
    return {{"time_s", std::move(times)}, {name, std::move(values)}};
  }

 private:
  struct Change {
    Micros time;
    Value change;
  };
  std::vector<Change> changes_;
};

// Watts of the fleet. GPUs are counted by level, so that the sum does not drift.
Json power_columns(const sim::RunOptions& options, const sim::RunResult& result,
                   const Window& window) {
  struct Change {
    std::uint32_t gpu = 0;
    int slices = 0;
  };
  Steps<Change> steps;
  for (const sim::SchedulePiece& piece : result.schedule) {
    const std::uint32_t gpu = cluster::gpu_of(piece.slice).value;
    const int slices = options.model->profiles[piece.profile].compute_slices;
    steps.add(piece.begin, {gpu, slices});
    steps.add(piece.end, {gpu, -slices});
  }
  const std::vector<double>& watts = options.power->watts;
  std::vector<int> busy(options.gpus, 0);
  std::vector<std::int64_t> at_level(watts.size(), 0);
  at_level[0] = options.gpus;
  // Inside one instant a slice may be taken before it is given back.
  const auto clamped = [&](int slices) {
    return static_cast<std::size_t>(std::clamp(slices, 0, static_cast<int>(watts.size()) - 1));
  };
  return steps.columns(window, "watts", options.gpus * watts[0], [&](const Change& change) {
    int& slices = busy[change.gpu];
    --at_level[clamped(slices)];
    slices += change.slices;
    ++at_level[clamped(slices)];
    double sum = 0;
    for (std::size_t i = 0; i < watts.size(); ++i) {
      sum += static_cast<double>(at_level[i]) * watts[i];
    }
    return sum;
  });
}

// Jobs that have arrived, are not complete and do not run.
Json queue_columns(const workload::Trace& trace, const sim::RunResult& result,
                   const Window& window) {
  std::vector<Micros> last_end(trace.jobs.size(), Micros{-1});
  for (const sim::SchedulePiece& piece : result.schedule) {
    last_end[piece.id.value] = std::max(last_end[piece.id.value], piece.end);
  }
  Steps<int> steps;
  for (const workload::Job& job : trace.jobs) steps.add(job.arrival, 1);
  for (const sim::SchedulePiece& piece : result.schedule) {
    steps.add(piece.begin, -1);
    if (piece.end != last_end[piece.id.value]) steps.add(piece.end, 1);
  }
  std::int64_t waiting = 0;
  return steps.columns(window, "waiting", 0, [&](int change) {
    waiting += change;
    return static_cast<double>(waiting);
  });
}

// A job's id is a number where it is written as one.
Json id_json(std::string_view id) {
  constexpr std::size_t kDigitsMax = 15;  // what a double holds
  const bool digits = !id.empty() && id.size() <= kDigitsMax &&
                      id.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits || (id.size() > 1 && id.front() == '0')) return id;
  return std::stoull(std::string(id));
}

Json job_columns(const workload::Trace& trace, const sim::RunResult& result, const Window& window) {
  std::array<Json, 5> columns;
  columns.fill(Json::array());
  for (const sim::JobRecord& record : result.job_records) {
    const workload::Job& job = trace.jobs[record.id.value];
    if (!window.touches(job.arrival, std::max(record.completion, job.arrival + Micros{1}))) {
      continue;
    }
    columns[0].push_back(id_json(trace.id(record.id)));
    columns[1].push_back(trace.class_names[job.job_class]);
    columns[2].push_back(seconds_since(job.arrival, window.begin));
    columns[3].push_back(seconds_since(record.deadline, window.begin));
    columns[4].push_back(seconds_since(record.completion, window.begin));
  }
  return {{"id", std::move(columns[0])},
          {"class", std::move(columns[1])},
          {"arrival_s", std::move(columns[2])},
          {"deadline_s", std::move(columns[3])},
          {"completion_s", std::move(columns[4])}};
}

Json piece_columns(const workload::Trace& trace, const mig::GpuModel& model,
                   const sim::RunResult& result, const Window& window) {
  std::array<Json, 7> columns;
  columns.fill(Json::array());
  for (const sim::SchedulePiece& piece : result.schedule) {
    if (!window.touches(piece.begin, piece.end)) continue;
    const mig::Profile& profile = model.profiles[piece.profile];
    columns[0].push_back(id_json(trace.id(piece.id)));
    columns[1].push_back(cluster::gpu_of(piece.slice).value);
    columns[2].push_back(cluster::start_of(piece.slice));
    columns[3].push_back(profile.memory_slices);
    columns[4].push_back(profile.name);
    columns[5].push_back(window.seconds(piece.begin));
    columns[6].push_back(window.seconds(piece.end));
  }
  return {{"job", std::move(columns[0])},        {"gpu", std::move(columns[1])},
          {"start_slot", std::move(columns[2])}, {"slots", std::move(columns[3])},
          {"profile", std::move(columns[4])},    {"begin_s", std::move(columns[5])},
          {"end_s", std::move(columns[6])}};
}

Json layout_columns(const mig::GpuModel& model, const sim::RunResult& result,
                    const Window& window) {
  std::array<Json, 4> columns;
  columns.fill(Json::array());
  for (const sim::LayoutPiece& piece : result.layouts) {
    if (!window.touches(piece.begin, piece.end)) continue;
    columns[0].push_back(piece.gpu.value);
    columns[1].push_back(window.seconds(piece.begin));
    columns[2].push_back(window.seconds(piece.end));
    columns[3].push_back(mig::format_layout(model, piece.layout));
  }
  return {{"gpu", std::move(columns[0])},
          {"begin_s", std::move(columns[1])},
          {"end_s", std::move(columns[2])},
          {"layout", std::move(columns[3])}};
}

// The rates of a run that begins at midnight are those of the hours of its day.
Json rate_columns(const std::vector<double>& jobs_per_hour) {
  Json hours = Json::array();
  for (std::size_t hour = 0; hour < jobs_per_hour.size(); ++hour) hours.push_back(hour);
  return {{"hour", std::move(hours)}, {"jobs_per_hour", jobs_per_hour}};
}

}  // namespace

Json day_json(const DayIdentity& identity, const workload::Trace& trace,
              const sim::RunOptions& options, const sim::RunResult& result,
              std::size_t pieces_max) {
  CHECK(result.job_records.size() == trace.jobs.size());
  const Window window = window_of(trace, result, pieces_max);
  Json json{
      {"setting", identity.setting},
      {"policy", identity.policy},
      {"scheduler", identity.scheduler},
      {"repartition", identity.repartition},
      {"seed", identity.seed},
      {"gpu", options.model->key},
      {"gpus", options.gpus},
      {"memory_slices", options.model->memory_slices},
      {"energy_j", result.energy_j},
      {"mean_tardiness_s", result.mean_tardiness_s},
      {"window_s", {seconds_since(window.begin, Micros{}), seconds_since(window.end, Micros{})}}};
  json["jobs"] = job_columns(trace, result, window);
  json["pieces"] = piece_columns(trace, *options.model, result, window);
  json["layouts"] = layout_columns(*options.model, result, window);
  json["power"] = power_columns(options, result, window);
  json["queue"] = queue_columns(trace, result, window);
  json["rates"] = rate_columns(identity.jobs_per_hour);
  return json;
}

}  // namespace partita::experiment
