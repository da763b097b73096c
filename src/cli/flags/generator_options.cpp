#include "cli/flags/generator_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "cli/flags/limits.h"
#include "cli/flags/value_parsers.h"

namespace partita::cli {
namespace {

// For options whose default is the generator's own.
void set_if_given(const Values& values, std::string_view name, double& option) {
  if (values.given(name) != nullptr) option = values.number(name);
}

void set_span(const Values& values, std::string_view name, double& low, double& high) {
  if (!values.is_set(name)) return;
  low = values.as<Span>(name).low;
  high = values.as<Span>(name).high;
}

template <std::size_t kCount>
void fill(std::array<double, kCount>& into, const std::vector<double>& numbers) {
  CHECK(numbers.size() == kCount);
  std::copy(numbers.begin(), numbers.end(), into.begin());
}

workload::PapersMixOptions mix_options(const Values& values) {
  workload::PapersMixOptions mix;
  set_span(values, "deadline", mix.deadline_low, mix.deadline_high);
  mix.training_share = values.number("training-share");
  set_if_given(values, "bert-share", mix.bert_share);
  mix.inference_mean_min = values.number("inference-mean");
  set_span(values, "training-time", mix.training_low_min, mix.training_high_min);
  fill(mix.memory_gib, values.as<std::vector<double>>("memory"));
  return mix;
}

}  // namespace

workload::MigmOptions migm_options(const Values& values) {
  workload::MigmOptions options;
  if (values.given("mix") != nullptr) options.mix = values.text("mix");
  if (values.given("max-jobs") != nullptr) options.jobs = values.count("max-jobs");
  set_if_given(values, "layer-ms", options.layer_ms);
  options.seed = values.count("seed");
  return options;
}

workload::PapersOptions papers_options(const Values& values) {
  workload::PapersOptions options;
  set_if_given(values, "hours", options.hours);
  set_if_given(values, "rate", options.rate);
  if (values.given("hourly-rates") != nullptr) {
    fill(options.hourly_rates, values.as<std::vector<double>>("hourly-rates"));
  }
  options.mix = mix_options(values);
  options.seed = values.count("seed");
  return options;
}

workload::PoissonOptions poisson_options(const Values& values) {
  workload::PoissonOptions options;
  set_if_given(values, "rate", options.rate_per_min);
  if (values.given("hours") != nullptr) {
    options.hours = values.number("hours");
    options.jobs.reset();
  }
  if (values.given("max-jobs") != nullptr) options.jobs = values.count("max-jobs");
  options.mix = mix_options(values);
  options.seed = values.count("seed");
  return options;
}

workload::RealisticOptions realistic_options(const Values& values) {
  workload::RealisticOptions options;
  set_if_given(values, "hours", options.hours);
  options.jobs_per_hour = values.number("jobs-per-hour");
  options.profile = values.text("profile");
  options.burstiness = values.number("burstiness");
  options.median_s = values.number("median");
  options.sigma = values.number("sigma");
  options.shortest_s = values.number("shortest");
  options.longest_s = values.number("longest");
  options.slack_median = values.number("slack-median");
  options.slack_sigma = values.number("slack-sigma");
  options.slack_least = values.number("slack-least");
  if (values.given("curves") != nullptr) options.curves = values.text("curves");
  options.memory_scale = values.number("memory-scale");
  options.memory_sigma = values.number("memory-sigma");
  options.memory_unknown_gib = values.number("memory-unknown");
  options.memory_max_gib = values.number("memory-max");
  options.seed = values.count("seed");
  return options;
}

workload::ReaderOptions reader_options(const Values& values) {
  workload::ReaderOptions options;
  options.rows.skip_bad_rows = values.has_switch("skip-bad-rows");
  if (values.given("max-jobs") != nullptr) options.rows.max_jobs = values.count("max-jobs");
  if (values.given("curves") != nullptr) options.curves = values.text("curves");
  if (values.given("job-memory") != nullptr) options.memory_gib = values.number("job-memory");
  options.memory_from_curve = values.has_switch("memory-from-curve");
  set_span(values, "deadline", options.deadline_low, options.deadline_high);
  options.seed = values.count("seed");
  options.origin = values.text("origin");
  options.time_scale = values.number("time-scale");
  options.duration_scale = values.number("duration-scale");
  options.philly_flatten = values.has_switch("philly-flatten");
  options.openb_censored = values.has_switch("openb-censored");
  options.openb_smaller_slices = !values.has_switch("openb-strict");
  options.openb_gpu_gib = values.number("openb-gpu-memory");
  options.azure_prefill_tokens_per_s = values.number("azure-prefill");
  options.azure_decode_tokens_per_s = values.number("azure-decode");
  return options;
}

Result<std::optional<std::string>> job_origin(const Values& values) {
  const Value* file = values.given("jobs");
  const Value* kind = values.given("kind");
  if (file == nullptr && kind == nullptr) return std::optional<std::string>{};
  if (file == nullptr) return std::optional(kind->text);
  if (kind == nullptr) return std::optional<std::string>("trace");
  if (file->typed == kind->typed) {
    return Error{fmt::format("{} and {} exclude each other: jobs are read or made", file->place,
                             kind->place)};
  }
  return std::optional<std::string>(file->typed ? "trace" : kind->text);
}

Status check_applies(const Values& values, std::string_view origin) {
  const Value* chosen = values.given(origin == "trace" ? "jobs" : "kind");
  const bool origin_typed = chosen != nullptr && chosen->typed;
  for (const auto& [name, value] : values.all()) {
    const std::string_view only_for = find_flag(name)->only_for;
    // An origin typed over that of a file leaves the options of the file without meaning.
    if (only_for.empty() || (origin_typed && !value.typed)) continue;
    const auto origins = split(only_for, ' ');
    if (std::find(origins.begin(), origins.end(), origin) != origins.end()) continue;
    return Error{
        fmt::format("{} does not go with jobs {}; it is for {}", value.place,
                    origin == "trace" ? "from a file" : fmt::format("of the kind {}", origin),
                    fmt::join(origins, ", "))};
  }
  return {};
}

}  // namespace partita::cli
