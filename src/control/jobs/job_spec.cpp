#include "control/jobs/job_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "workload/curves.h"

namespace partita::control {
namespace {

constexpr std::string_view kFormat = "spec1";
// With a time limit behind the rest; jobs without one are written as ever, so that an older program
// reads them.
constexpr std::string_view kFormatWithLimit = "spec2";
constexpr double kGuessSeconds = 3600;  // on the whole GPU, when nothing is known
constexpr Micros kNoDeadline = Micros::seconds(30LL * 24 * 3600);
constexpr double kMemoryGibMax = 10'000;
constexpr double kSecondsMax = 10.0 * 366 * 24 * 3600;

void put(std::string& text, std::string_view field) {
  text += std::to_string(field.size());
  text += ':';
  text += field;
}

void put_list(std::string& text, const std::vector<std::string>& list) {
  put(text, std::to_string(list.size()));
  for (const std::string& each : list) put(text, each);
}

std::string number_text(const std::optional<Micros>& time) {
  return time ? std::to_string(time->count) : std::string();
}

// Reads the fields back; once one is wrong, all that follow are.
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text) {}

  std::string_view next() {
    const auto colon = text_.find(':');
    const auto size =
        colon == std::string_view::npos ? std::nullopt : parse_int(text_.substr(0, colon));
    if (!size || *size < 0 || static_cast<std::size_t>(*size) > text_.size() - colon - 1) {
      good_ = false;
      text_ = {};
      return {};
    }
    const std::string_view field = text_.substr(colon + 1, static_cast<std::size_t>(*size));
    text_.remove_prefix(colon + 1 + field.size());
    return field;
  }

  std::vector<std::string> list() {
    const auto count = parse_int(next());
    good_ = good_ && count && *count >= 0;
    std::vector<std::string> list;
    for (std::int64_t i = 0; good_ && i < *count; ++i) list.emplace_back(next());
    return list;
  }

  std::optional<Micros> time() {
    const std::string_view field = next();
    if (field.empty()) return {};
    const auto count = parse_int(field);
    good_ = good_ && count;
    return Micros{count.value_or(0)};
  }

  std::optional<double> number() {
    const std::string_view field = next();
    if (field.empty()) return {};
    const auto value = parse_double(field);
    good_ = good_ && value;
    return value;
  }

  bool good_to_the_end() const { return good_ && text_.empty(); }

 private:
  std::string_view text_;
  bool good_ = true;
};

bool has_null(const std::vector<std::string>& list) {
  return std::ranges::any_of(
      list, [](const std::string& each) { return each.find('\0') != std::string::npos; });
}

bool is_name(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

std::size_t bytes_of(const std::vector<std::string>& list) {
  std::size_t bytes = 0;
  for (const std::string& each : list) bytes += each.size() + 1;
  return bytes;
}

Status check_numbers(const JobSpec& spec) {
  if (spec.memory_gib && !(*spec.memory_gib > 0 && *spec.memory_gib <= kMemoryGibMax)) {
    return Error{fmt::format("memory of {:g} GiB; wanted above 0 and at most {:g}, or auto",
                             *spec.memory_gib, kMemoryGibMax)};
  }
  for (const auto& time : spec.times) {
    if (time && !(time->count > 0 && time->to_seconds() <= kSecondsMax)) {
      return Error{"a time on a slice must be above 0 and at most ten years"};
    }
  }
  if (spec.time_limit &&
      !(spec.time_limit->count > 0 && spec.time_limit->to_seconds() <= kSecondsMax)) {
    return Error{"a time limit must be above 0 and at most ten years"};
  }
  if (spec.deadline && !(spec.deadline->count > 0 && spec.deadline->to_seconds() <= 1e11)) {
    return Error{"the deadline is no instant of this age"};
  }
  return {};
}

Status check_environment(const JobSpec& spec, const Limits& limits) {
  if (spec.environment.size() > limits.environment_entries_max) {
    return Error{fmt::format("{} environment entries; at most {}", spec.environment.size(),
                             limits.environment_entries_max)};
  }
  for (const std::string& entry : spec.environment) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{fmt::format("environment entry '{}' is not NAME=VALUE", entry.substr(0, 64))};
    }
    const std::string_view name = std::string_view(entry).substr(0, equals);
    if (name.starts_with("LD_") || name == "CUDA_VISIBLE_DEVICES") {
      return Error{fmt::format("the environment variable {} is not the job's to set", name)};
    }
  }
  return {};
}

// Between two sizes that are known, a straight line of log time over log size; beyond them, work
// that spreads evenly over the compute slices.
double seconds_on(const JobSpec& spec, std::size_t size) {
  const auto log_size = [](std::size_t i) { return std::log(double(workload::kSliceSizes[i])); };
  std::optional<std::size_t> below;
  std::optional<std::size_t> above;
  for (std::size_t i = 0; i < spec.times.size(); ++i) {
    if (!spec.times[i]) continue;
    if (i <= size) below = i;
    if (i >= size && !above) above = i;
  }
  const auto log_time = [&](std::size_t i) { return std::log(spec.times[i]->to_seconds()); };
  if (!below && !above) return kGuessSeconds * 7.0 / workload::kSliceSizes[size];
  if (below && above && *below == *above) return spec.times[size]->to_seconds();
  if (below && above) {
    const double share =
        (log_size(size) - log_size(*below)) / (log_size(*above) - log_size(*below));
    return std::exp(log_time(*below) + share * (log_time(*above) - log_time(*below)));
  }
  const std::size_t known = below ? *below : *above;
  return std::exp(log_time(known) + log_size(known) - log_size(size));
}

}  // namespace

Status check_spec(const JobSpec& spec, const Limits& limits) {
  if (spec.argv.empty() || spec.argv[0].empty()) return Error{"there is no program to run"};
  if (bytes_of(spec.argv) > limits.argv_bytes_max ||
      bytes_of(spec.checkpoint) > limits.argv_bytes_max) {
    return Error{fmt::format("the command has more than {} bytes", limits.argv_bytes_max)};
  }
  if (has_null(spec.argv) || has_null(spec.environment) || has_null(spec.checkpoint) ||
      spec.directory.find('\0') != std::string::npos) {
    return Error{"a null byte stands in the command, its environment or its directory"};
  }
  if (spec.name.size() > limits.name_bytes_max || spec.name.empty() || !is_name(spec.name)) {
    return Error{fmt::format(
        "the name '{}' of {} bytes; wanted 1 to {} letters, digits, '.', '_' and '-'",
        spec.name.substr(0, limits.name_bytes_max), spec.name.size(), limits.name_bytes_max)};
  }
  if (!spec.directory.starts_with('/') || spec.directory.size() > 4096) {
    return Error{fmt::format("the directory '{}'; wanted an absolute path of at most 4096 bytes",
                             spec.directory.substr(0, 64))};
  }
  const Status numbers = check_numbers(spec);
  if (!numbers) return numbers;
  const Micros most = limits.time_limit_max;
  if (spec.time_limit && most > Micros{} && *spec.time_limit > most) {
    return Error{fmt::format("a time limit of {:g} s; at most {:g} s here",
                             spec.time_limit->to_seconds(), most.to_seconds())};
  }
  return check_environment(spec, limits);
}

std::string encode_spec(const JobSpec& spec) {
  std::string text;
  put(text, spec.time_limit ? kFormatWithLimit : kFormat);
  put_list(text, spec.argv);
  put_list(text, spec.environment);
  put(text, spec.directory);
  put(text, spec.name);
  put(text, spec.memory_gib ? fmt::format("{}", *spec.memory_gib) : std::string());
  put(text, number_text(spec.deadline));
  for (const auto& time : spec.times) put(text, number_text(time));
  put_list(text, spec.checkpoint);
  if (spec.time_limit) put(text, number_text(spec.time_limit));
  return text;
}

Result<JobSpec> decode_spec(std::string_view text) {
  Fields fields(text);
  const std::string_view format = fields.next();
  const bool known = format == kFormat || format == kFormatWithLimit;
  JobSpec spec;
  spec.argv = fields.list();
  spec.environment = fields.list();
  spec.directory = fields.next();
  spec.name = fields.next();
  spec.memory_gib = fields.number();
  spec.deadline = fields.time();
  for (auto& time : spec.times) time = fields.time();
  spec.checkpoint = fields.list();
  if (format == kFormatWithLimit) spec.time_limit = fields.time();
  if (!known || !fields.good_to_the_end()) return Error{"a stored job cannot be read"};
  return spec;
}

workload::Job as_policy_job(const JobSpec& spec, Micros submitted, double need_gib) {
  workload::Job job;
  job.arrival = submitted;
  job.deadline = std::max(submitted, spec.deadline.value_or(submitted + kNoDeadline));
  for (std::size_t i = 0; i < job.time.size(); ++i) {
    const double seconds = std::min(seconds_on(spec, i), workload::kJobSecondsMax);
    job.time[i] = std::max(Micros{1}, micros_from_seconds(seconds));
  }
  job.memory_gib = static_cast<float>(need_gib);
  job.resumable = !spec.checkpoint.empty();
  return job;
}

}  // namespace partita::control
