#include "control/jobs/job_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/record_text.h"
#include "workload/curves.h"

namespace partita::control {
namespace {

// A job is written in the first format that has all of it, so that an older program reads those
// that use nothing newer.
struct Format {
  std::string_view name;
  std::span<const Encoding> parts;
};
constexpr std::array kParts{Encoding::kPositional, Encoding::kTail, Encoding::kNamed};
constexpr std::array kFormats = std::to_array<Format>({
    {"spec1", std::span(kParts).first(1)},
    {"spec2", std::span(kParts).first(2)},
    {"spec3", kParts},
});
constexpr double kGuessSeconds = 3600;  // on the whole GPU, when nothing is known
constexpr Micros kNoDeadline = Micros::seconds(30LL * 24 * 3600);

// Each text behind its length, so that any byte may stand in it.
class Counted {
 public:
  void put(std::string_view each) {
    text += std::to_string(each.size());
    text += ':';
    text += each;
  }
  std::string text;
};

class CountedReader {
 public:
  explicit CountedReader(std::string_view text) : text_(text) {}

  std::optional<std::string_view> next() {
    const auto colon = text_.find(':');
    const auto size =
        colon == std::string_view::npos ? std::nullopt : parse_int(text_.substr(0, colon));
    if (!size || *size < 0 || static_cast<std::size_t>(*size) > text_.size() - colon - 1) return {};
    const std::string_view each = text_.substr(colon + 1, static_cast<std::size_t>(*size));
    text_.remove_prefix(colon + 1 + each.size());
    return each;
  }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

bool has_null(const std::vector<std::string>& list) {
  return std::ranges::any_of(
      list, [](const std::string& each) { return each.find('\0') != std::string::npos; });
}

bool may_stand_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool is_name(std::string_view name) {
  return std::ranges::all_of(name, may_stand_in_name);
}

std::size_t bytes_of(const std::vector<std::string>& list) {
  std::size_t bytes = 0;
  for (const std::string& each : list) bytes += each.size() + 1;
  return bytes;
}

// Numbers and texts against what their descriptions say; the first that is wrong is kept.
class CheckField {
 public:
  void operator()(const Field& field, double value) {
    if (value > 0 && value <= field.most) return;
    refuse("{} is {:g}; wanted above 0 and at most {:.15g}", field.name, value, field.most);
  }
  void operator()(const Field&, bool) {}
  void operator()(const Field& field, Micros value) { (*this)(field, value.to_seconds()); }
  void operator()(const Field& field, const std::string& value) {
    if (static_cast<double>(value.size()) > field.most) {
      refuse("{} has {} bytes; wanted at most {:g}", field.name, value.size(), field.most);
    }
    const auto control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
    if (field.line && std::ranges::any_of(value, control)) {
      refuse("{} has a control character; wanted one line of text", field.name);
    }
  }
  template <typename T>
  void operator()(const Field& field, const T& value) {
    if constexpr (kIsOptional<T>) {
      if (value) (*this)(field, *value);
    } else if constexpr (WholeNumber<T>) {
      const auto number = static_cast<double>(value);
      if (!field.negative) return (*this)(field, number);
      if (number < -field.most || number > field.most) {
        refuse("{} is {:.15g}; wanted {:.15g} to {:.15g}", field.name, number, -field.most,
               field.most);
      }
    } else {
      for (const auto& each : value) (*this)(field, each);
    }
  }

  Status why;

 private:
  template <typename... Parts>
  void refuse(fmt::format_string<Parts...> sentence, Parts&&... parts) {
    if (why.ok()) why = Error{fmt::format(sentence, std::forward<Parts>(parts)...)};
  }
};

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
    if (is_reserved_variable(name)) {
      return Error{
          fmt::format("the environment variable {} is not the job's to set; it says where "
                      "the daemon runs it",
                      name.substr(0, 64))};
    }
  }
  return {};
}

Status check_dependencies(const JobSpec& spec) {
  if (spec.after.size() > kDependenciesMax) {
    return Error{
        fmt::format("after names {} jobs; wanted at most {}", spec.after.size(), kDependenciesMax)};
  }
  for (const std::string& each : spec.after) {
    if (!parse_dependency(each)) {
      return Error{
          fmt::format("after has '{}'; wanted the number of a job, as in 12, 12:ok or "
                      "12:any",
                      each.substr(0, 64))};
    }
  }
  return {};
}

// The path with what %j and the like stand for; nothing when another follows a percent sign.
std::optional<std::string> expand_percents(std::string_view path, std::string_view name,
                                           const ArrayPlace& place) {
  std::string expanded;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      expanded += path[i];
      continue;
    }
    switch (++i < path.size() ? path[i] : '\0') {
      case 'j':
        expanded += std::to_string(place.job.value);
        break;
      case 'A':
        expanded +=
            std::to_string(place.array_job == kNoJob ? place.job.value : place.array_job.value);
        break;
      case 'a':
        expanded += std::to_string(place.index);
        break;
      case 'x':
        expanded += name;
        break;
      case '%':
        expanded += '%';
        break;
      default:
        return {};
    }
  }
  return expanded;
}

Status check_files(const JobSpec& spec) {
  if (spec.output && !spec.output->starts_with('/')) {
    return Error{
        fmt::format("the output file '{}'; wanted an absolute path", spec.output->substr(0, 64))};
  }
  if (spec.output && !expand_percents(*spec.output, "", {})) {
    return Error{
        fmt::format("the output file '{}'; wanted %j (the job's number), %A (its array's), %a (its "
                    "index there), "
                    "%x (its name) or %% behind a percent sign",
                    spec.output->substr(0, 64))};
  }
  if (!spec.script) return {};
  if (!spec.script->starts_with("#!") ||
      trim(spec.script->substr(2, spec.script->find('\n') - 2)).empty()) {
    return Error{"the script does not begin with #! and the program that reads it"};
  }
  if (spec.script->find('\0') != std::string::npos) return Error{"a null byte is in the script"};
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

std::string name_of_program(std::string_view program) {
  std::string name;
  for (const char c : program.substr(program.rfind('/') + 1)) {
    if (may_stand_in_name(c) && name.size() < Limits{}.name_bytes_max) name += c;
  }
  return name.empty() ? "job" : name;
}

bool is_reserved_variable(std::string_view name) {
  if (name == "PARTITA_SOCKET" || name == "PARTITA_TOKEN") return false;
  return name == "CUDA_VISIBLE_DEVICES" || name == "NVIDIA_VISIBLE_DEVICES" ||
         name.starts_with("PARTITA_");
}

std::optional<Dependency> parse_dependency(std::string_view text) {
  const auto colon = text.find(':');
  const auto number = parse_int(text.substr(0, colon));
  if (!number || *number < 1) return {};
  const std::string_view how = colon == std::string_view::npos ? "ok" : text.substr(colon + 1);
  if (how != "ok" && how != "any") return {};
  return Dependency{{*number}, how == "any"};
}

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
  if (!spec.directory.starts_with('/')) {
    return Error{
        fmt::format("the directory '{}'; wanted an absolute path", spec.directory.substr(0, 64))};
  }
  CheckField check;
  JobSpec::fields(spec, check);
  if (!check.why) return check.why;
  const Micros most = limits.time_limit_max;
  if (spec.time_limit && most > Micros{} && *spec.time_limit > most) {
    return Error{fmt::format("a time limit of {:g} s; at most {:g} s here",
                             spec.time_limit->to_seconds(), most.to_seconds())};
  }
  const Status files = check_files(spec);
  if (!files) return files;
  if (const Status after = check_dependencies(spec); !after) return after;
  return check_environment(spec, limits);
}

std::string output_path_of(const JobSpec& spec, const ArrayPlace& place) {
  if (!spec.output) return {};
  return expand_percents(*spec.output, spec.name, place).value_or("");
}

std::string encode_spec(const JobSpec& spec) {
  std::size_t format = uses(spec, Encoding::kNamed) ? 2 : uses(spec, Encoding::kTail) ? 1 : 0;
  Counted out;
  out.put(kFormats[format].name);
  for (const Encoding encoding : kFormats[format].parts)
    JobSpec::fields(spec, TextWriter(out, encoding));
  return std::move(out.text);
}

Result<JobSpec> decode_spec(std::string_view text) {
  CountedReader source(text);
  TextReader reader(source);
  const std::string_view name = reader.text();
  const auto format = std::ranges::find(kFormats, name, &Format::name);
  JobSpec spec;
  if (format != std::end(kFormats)) {
    for (const Encoding encoding : format->parts) reader.read(spec, encoding);
  }
  if (format == std::end(kFormats) || !reader.good_to_the_end()) {
    return Error{"a stored job cannot be read"};
  }
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
