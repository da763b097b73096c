#include "policies/repartitioners/backlog_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "nn/model.h"

namespace partita::policies {
namespace {

constexpr std::int64_t kHourMicros = 3'600'000'000;
constexpr double kJobsMax = 1e9;
// A mix that is off by less is left alone, as learned policies do.
constexpr double kReluctance = 0.5;

int hour_of(Micros now) {
  return static_cast<int>(now.count / kHourMicros % 24);
}

struct Line {
  BacklogRule::Row row;
  std::string mix;
};

Result<Line> parse_line(std::string_view text, std::size_t number) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!trim(word).empty()) words.push_back(trim(word));
  }
  const std::int64_t hour = words.empty() ? -1 : parse_int(words[0]).value_or(-1);
  const double jobs = words.size() < 2 ? -1 : parse_double(words[1]).value_or(-1);
  if (words.size() != 3 || hour < 0 || hour > 23 || !(jobs >= 0 && jobs <= kJobsMax)) {
    return Error{
        fmt::format("line {}: '{}' is not HOUR JOBS MIX, for example 8 1.5 1*4,2*4", number, text)};
  }
  return Line{{static_cast<int>(hour), jobs, 0}, std::string(words[2])};
}

bool comes_before(const BacklogRule::Row& a, const BacklogRule::Row& b) {
  return a.hour != b.hour ? a.hour < b.hour : a.jobs_per_gpu < b.jobs_per_gpu;
}

}  // namespace

std::size_t BacklogRule::entry_for(int hour, double jobs_per_gpu) const {
  int block = rows.back().hour;
  for (const Row& row : rows) {
    if (row.hour <= hour) block = row.hour;
  }
  std::optional<std::size_t> entry;
  for (const Row& row : rows) {
    if (row.hour != block) continue;
    if (!entry || row.jobs_per_gpu <= jobs_per_gpu) entry = row.entry;
  }
  return *entry;
}

Result<BacklogRule> parse_backlog_rule(std::string_view text, const mig::GpuModel& model) {
  BacklogRule rule;
  std::string menu;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw.substr(0, raw.find('#')));
    if (line.empty()) continue;
    Result<Line> parsed = parse_line(line, number);
    if (!parsed) return parsed.error();
    if (!rule.rows.empty() && !comes_before(rule.rows.back(), parsed->row)) {
      return Error{fmt::format("line {}: hours and jobs must rise from line to line", number)};
    }
    parsed->row.entry = rule.rows.size();
    rule.rows.push_back(parsed->row);
    menu += (menu.empty() ? "" : ";") + parsed->mix;
  }
  if (rule.rows.empty()) return Error{"the file has no line HOUR JOBS MIX"};
  Result<MixMenu> mixes = parse_menu(model, menu);
  if (!mixes) return mixes.error();
  rule.menu = *std::move(mixes);
  return rule;
}

BacklogTable::BacklogTable(BacklogRule rule, std::uint32_t gpus)
    : rule_(std::move(rule)), gpus_(gpus), mix_(rule_.menu.layouts) {
  CHECK(!rule_.rows.empty());
}

std::vector<mig::Layout> BacklogTable::initial_layouts(const decide::View& view) {
  mix_.begin(counts_for(rule_.menu.entries[rule_.entry_for(hour_of(view.now), 0)], gpus_));
  return mix_.present();
}

void BacklogTable::decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) {
  const double jobs = static_cast<double>(view.jobs.size()) / gpus_;
  const std::vector<float>& shares = rule_.menu.entries[rule_.entry_for(hour_of(view.now), jobs)];
  mix_.move_towards(view, shares, kMovesMax, kReluctance, requests);
}

Result<std::unique_ptr<decide::Repartitioner>> load_backlog_table(const std::string& path,
                                                                  const mig::GpuModel& model,
                                                                  std::uint32_t gpus) {
  const Result<std::string> text = nn::read_bytes(path);
  if (!text) return text.error();
  Result<BacklogRule> rule = parse_backlog_rule(*text, model);
  if (!rule) return Error{fmt::format("'{}': {}", path, rule.error().message)};
  return std::unique_ptr<decide::Repartitioner>(
      std::make_unique<BacklogTable>(*std::move(rule), gpus));
}

}  // namespace partita::policies
