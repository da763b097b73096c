#include "cli/text/replay_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace partita::cli {
namespace {

using control::ReplayedTurn;

// A line, and the job it is about.
struct Line {
  std::string text;
  JobNumber job = kNoJob;
};

std::string place(const ReplayedTurn& turn, GpuId gpu, mig::Placement placement) {
  return fmt::format("GPU {} {}", gpu.value,
                     mig::format_placement(turn.controller.fleet().model(), placement));
}

const char* name_of(launch::Report::Kind kind) {
  switch (kind) {
    case launch::Report::Kind::kStarted:
      return "began";
    case launch::Report::Kind::kNotStarted:
      return "was not started";
    case launch::Report::Kind::kEnded:
      return "ended";
    case launch::Report::Kind::kVanished:
      return "vanished";
    case launch::Report::Kind::kNoSpace:
      return "was not started for want of space";
  }
  return "";
}

Line line_of(const ReplayedTurn&, const control::Submit& submit) {
  return {fmt::format("uid {} submits {} of {}", submit.owner.uid, submit.count, submit.spec.name)};
}

Line line_of(const ReplayedTurn&, const control::Cancel& cancel) {
  return {fmt::format("job {} is to be cancelled", cancel.job), cancel.job};
}

Line line_of(const ReplayedTurn&, const control::CancelJobs& cancel) {
  std::string text = fmt::format("{} jobs are to be cancelled", cancel.jobs.size());
  if (cancel.jobs.size() == 1) return {text, cancel.jobs.front()};
  return {text};
}

Line line_of(const ReplayedTurn&, const launch::Report& report) {
  std::string text = fmt::format("attempt {} {}", text_of(report.key), name_of(report.kind));
  if (report.kind == launch::Report::Kind::kEnded) {
    text += report.signal != 0 ? fmt::format(" by signal {}", report.signal)
                               : fmt::format(" with status {}", report.exit_code);
  }
  return {text, report.key.job};
}

Line line_of(const ReplayedTurn& turn, const control::CreateDone& done) {
  const std::string where = place(turn, done.gpu, done.placement);
  return {done.instance ? fmt::format("{} was made: {}", where, done.instance->key.uuid)
                        : fmt::format("{} was not made: {}", where, done.error.message)};
}

Line line_of(const ReplayedTurn& turn, const control::DestroyDone& done) {
  const std::string where = place(turn, done.gpu, done.placement);
  return {done.gone ? where + " is gone"
                    : fmt::format("{} was not destroyed: {}", where, done.error.message)};
}

Line line_of(const ReplayedTurn&, const control::Reading& reading) {
  std::string text = fmt::format("GPU {} read:", reading.gpu.value);
  for (const auto& slice : reading.slices) {
    text += fmt::format(" {}:{:.2f} GiB", slice.start, slice.used_gib);
  }
  return {reading.power_w ? text + fmt::format(" {:.0f} W", *reading.power_w) : text};
}

Line line_of(const ReplayedTurn&, const control::Hold& hold) {
  return {fmt::format("{} job {}", hold.hold ? "hold" : "release", hold.job), hold.job};
}

Line line_of(const ReplayedTurn&, const control::Requeue& requeue) {
  return {fmt::format("requeue job {}", requeue.job), requeue.job};
}

Line line_of(const ReplayedTurn&, const control::DrainGpu& drain) {
  return {fmt::format("{} GPU {}{}{}", drain.drain ? "drain" : "resume", drain.gpu.value,
                      drain.reason.empty() ? "" : ": ", drain.reason)};
}

Line line_of(const ReplayedTurn&, const control::Inventory& inventory) {
  return {fmt::format("GPU {} has {} slices", inventory.gpu.value, inventory.instances.size())};
}

Line line_of(const ReplayedTurn&, const control::GpuHealth& health) {
  if (health.usable) return {fmt::format("GPU {} can be used", health.gpu.value)};
  return {fmt::format("GPU {} is {}: {}", health.gpu.value,
                      health.may_finish ? "to be left" : "out", health.why)};
}

Line line_of(const ReplayedTurn&, const control::Remark& remark) {
  return {fmt::format("{}: {}", remark.kind, remark.text)};
}

Line line_of(const ReplayedTurn&, const control::Storage& storage) {
  return {storage.space ? "there is disk space" : "no disk space: " + storage.why};
}

Line line_of(const ReplayedTurn&, const control::SliceFault& fault) {
  return {
      fmt::format("the slice at {} of GPU {} fails: {}", fault.start, fault.gpu.value, fault.why)};
}

Line line_of(const ReplayedTurn&, const control::Launch& launch) {
  return {fmt::format("launch {} on {}", text_of(launch.start.key), launch.instance.uuid),
          launch.start.key.job};
}

Line line_of(const ReplayedTurn&, const control::Stop& stop) {
  return {fmt::format("stop {}{}", text_of(stop.key), stop.checkpoint ? " after a checkpoint" : ""),
          stop.key.job};
}

Line line_of(const ReplayedTurn&, const control::Forget& forget) {
  return {fmt::format("forget {}", text_of(forget.key)), forget.key.job};
}

Line line_of(const ReplayedTurn& turn, const control::Create& create) {
  return {"create " + place(turn, create.gpu, create.placement)};
}

Line line_of(const ReplayedTurn& turn, const control::Destroy& destroy) {
  return {"destroy " + place(turn, destroy.gpu, destroy.placement)};
}

Line line_of(const control::Reply& reply) {
  const JobNumber job = reply.jobs.size() == 1 ? reply.jobs.front() : kNoJob;
  const bool good = reply.kind == control::Reply::Kind::kAccepted ||
                    reply.kind == control::Reply::Kind::kCancelled ||
                    reply.kind == control::Reply::Kind::kSomeCancelled ||
                    reply.kind == control::Reply::Kind::kDone;
  if (!good) return {"refuse: " + reply.message};
  return {job != kNoJob ? fmt::format("answer: job {}", job)
                        : fmt::format("answer: {} jobs", reply.jobs.size()),
          job};
}

bool is_routine(const control::Input& input) {
  return std::holds_alternative<control::Reading>(input) ||
         std::holds_alternative<control::Inventory>(input);
}

}  // namespace

TurnLines lines_of(const ReplayedTurn& turn, std::optional<JobNumber> job) {
  TurnLines lines;
  const auto wanted = [&](const Line& line) { return !job || line.job == *job; };
  for (const control::Reply& reply : turn.turn.replies) {
    const Line line = line_of(reply);
    if (wanted(line)) lines.out.push_back(line.text);
  }
  for (const store::EventRow& event : turn.turn.batch.events) {
    const std::string of = event.job == kNoJob ? "" : fmt::format("job {} ", event.job);
    const Line line{fmt::format("{}{}: {}", of, event.kind, event.text), event.job};
    if (wanted(line)) lines.out.push_back(line.text);
  }
  for (const control::Effect& effect : turn.turn.effects) {
    const Line line = std::visit([&](const auto& each) { return line_of(turn, each); }, effect);
    if (wanted(line)) lines.out.push_back(line.text);
  }
  // A reading is told where something followed from the turn.
  for (const control::Input& input : turn.inputs) {
    const Line line = std::visit([&](const auto& each) { return line_of(turn, each); }, input);
    const bool told = job ? line.job == *job || (line.job == kNoJob && !lines.out.empty())
                          : !is_routine(input) || !lines.out.empty();
    if (told) lines.in.push_back(line.text);
  }
  return lines;
}

nlohmann::ordered_json turn_json(const ReplayedTurn& turn, const TurnLines& lines) {
  nlohmann::ordered_json json;
  json["turn"] = turn.number;
  json["at_s"] = turn.at.to_seconds();
  json["begins"] = turn.beginning != nullptr;
  json["same"] = turn.same;
  json["in"] = lines.in;
  json["out"] = lines.out;
  return json;
}

}  // namespace partita::cli
