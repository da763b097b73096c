#include "workload/job_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <unordered_map>

namespace partita::workload {
namespace {

// Class names to indices for as many classes as a careless file has.
class ClassTable {
 public:
  explicit ClassTable(Trace& trace) : trace_(trace) {}

  Result<ClassIndex> index(const std::string& name) {
    if (!trace_.class_names.empty() && trace_.class_names[last_] == name) return last_;
    const auto found = indices_.find(name);
    if (found != indices_.end()) return last_ = found->second;
    if (indices_.size() == kClassesMax) {
      return Error{
          fmt::format("more than {} job classes; class '{}' is one too many", kClassesMax, name)};
    }
    last_ = static_cast<ClassIndex>(indices_.size());
    indices_.emplace(name, last_);
    trace_.class_names.push_back(name);
    return last_;
  }

 private:
  Trace& trace_;
  std::unordered_map<std::string, ClassIndex> indices_;
  ClassIndex last_ = 0;
};

// User names to indices; there are none until a job says whose it is.
class UserTable {
 public:
  explicit UserTable(Trace& trace) : trace_(trace) {}

  Status own(const JobRow& row) {
    if (row.user.empty() && row.priority == 0) return {};
    if (trace_.user_names.empty()) {
      trace_.user_names.emplace_back(kUserUnnamed);
      indices_.emplace(kUserUnnamed, 0);
    }
    const auto next = static_cast<std::uint32_t>(indices_.size());
    const std::string name(row.user.empty() ? kUserUnnamed : std::string_view(row.user));
    const auto [found, is_new] = indices_.emplace(name, next);
    if (is_new) {
      if (next == kUsersMax) {
        return Error{fmt::format("more than {} users; user '{}' is one too many", kUsersMax, name)};
      }
      trace_.user_names.push_back(name);
    }
    trace_.set_owner({found->second, row.priority});
    return {};
  }

 private:
  Trace& trace_;
  std::unordered_map<std::string, std::uint32_t> indices_;
};

std::vector<std::uint64_t> id_hashes(const Trace& trace) {
  std::vector<std::uint64_t> hashes(trace.jobs.size());
  for (std::uint32_t i = 0; i < hashes.size(); ++i) {
    hashes[i] = std::hash<std::string_view>{}(trace.id(JobId{i}));
  }
  return hashes;
}

// Eight bytes a job for the hashes; the jobs that share one are compared by name.
Status refuse_duplicate_ids(const Trace& trace) {
  std::vector<std::uint64_t> sorted = id_hashes(trace);
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return {};
  std::unordered_map<std::string_view, std::uint32_t> seen;
  for (std::uint32_t i = 0; i < trace.jobs.size(); ++i) {
    const std::string_view id = trace.id(JobId{i});
    const auto [low, high] =
        std::equal_range(sorted.begin(), sorted.end(), std::hash<std::string_view>{}(id));
    if (high - low < 2) continue;
    const auto [first, is_new] = seen.emplace(id, i);
    if (is_new) continue;
    return Error{fmt::format("job id '{}' appears twice, as jobs {} and {} of the input", id,
                             first->second + 1, i + 1)};
  }
  return {};
}

}  // namespace

void set_id(JobRow& row, std::uint64_t number) {
  std::array<char, 24> text;
  row.id.assign(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
}

Result<Trace> read_all(JobSource& source) {
  Trace trace;
  ClassTable classes(trace);
  UserTable users(trace);
  JobRow row;
  while (true) {
    const Result<bool> more = source.next(row);
    if (!more) return more.error();
    if (!*more) break;
    if (trace.jobs.size() == kJobsMax) return Error{fmt::format("more than {} jobs", kJobsMax)};
    const Result<ClassIndex> job_class = classes.index(row.job_class);
    if (!job_class) return job_class.error();
    row.job.job_class = *job_class;
    trace.add(row.job, row.id, row.memory);
    if (const Status owned = users.own(row); !owned) return owned.error();
  }
  if (const Status unique = refuse_duplicate_ids(trace); !unique) return unique.error();
  sort_by_arrival(trace);
  return trace;
}

}  // namespace partita::workload
