#include "api/job_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace partita::api {
namespace {

using control::Job;
using control::JobState;

constexpr std::array<std::string_view, 3> kGroups{"slice", "queued", "ended"};
constexpr std::size_t kEnded = 2;

std::size_t group_of(const Job& job) {
  if (control::has_ended(job.state())) return kEnded;
  return job.state() == JobState::kQueued ? 1 : 0;
}

// Whether the job stands behind the mark.
bool is_behind(const Job& job, std::size_t group, PageMark mark) {
  if (group != mark.group) return group > mark.group;
  return group == kEnded ? job.id < mark.job : job.id > mark.job;
}

Error unknown_state(std::string_view word) {
  return {
      fmt::format("state has '{}'; wanted active, or some of queued, starting, running, "
                  "restarting, cancelling, done, failed, cancelled, lost, with commas between",
                  word.substr(0, 64))};
}

}  // namespace

bool JobFilter::takes(const Job& job) const {
  return states[static_cast<std::size_t>(job.state())] && (!uid || job.owner.uid == *uid) &&
         (!name || job.spec.name == *name);
}

Result<JobFilter> parse_filter(
    std::string_view state, std::string_view user, std::string_view name,
    const std::function<std::optional<std::uint32_t>(const std::string&)>& uid_of) {
  JobFilter filter;
  filter.states.fill(state.empty());
  for (const std::string_view word : split(state, ',')) {
    if (state.empty()) break;
    const auto known = control::job_state_of(word);
    if (!known && word != "active") return unknown_state(word);
    if (known) filter.states[static_cast<std::size_t>(*known)] = true;
    for (std::size_t i = 0; !known && i < control::kJobStates; ++i) {
      if (!control::has_ended(static_cast<JobState>(i))) filter.states[i] = true;
    }
  }
  if (!user.empty()) {
    const auto number = parse_int(user);
    const bool is_uid = number && *number >= 0 && *number < 0xffffffffLL;
    filter.uid = is_uid ? static_cast<std::uint32_t>(*number) : uid_of(std::string(user));
    if (!filter.uid) {
      return Error{fmt::format("user is '{}'; wanted the name or the number of a user here",
                               user.substr(0, 64))};
    }
  }
  if (!name.empty()) filter.name = name;
  return filter;
}

std::optional<PageMark> parse_mark(std::string_view text) {
  const auto dot = text.find('.');
  const auto group = std::ranges::find(kGroups, text.substr(0, dot));
  if (dot == std::string_view::npos || group == kGroups.end()) return {};
  const auto number = parse_int(text.substr(dot + 1));
  if (!number || *number < 1) return {};
  return PageMark{static_cast<std::size_t>(group - kGroups.begin()), {*number}};
}

std::string text_of(PageMark mark) {
  return fmt::format("{}.{}", kGroups[mark.group], mark.job);
}

JobPage page_of(const control::Controller& controller, const JobFilter& filter,
                const std::function<bool(const Job&)>& may, std::size_t limit,
                std::optional<PageMark> after) {
  JobPage page;
  std::array<std::vector<const Job*>, kGroups.size()> groups;
  for (const auto& [id, job] : controller.jobs()) {
    if (!filter.takes(job) || !may(job)) continue;
    ++page.total;
    const std::size_t group = group_of(job);
    if (!after || is_behind(job, group, *after)) groups[group].push_back(&job);
  }
  std::ranges::reverse(groups[kEnded]);
  std::size_t left_over = 0;
  for (const auto& group : groups) {
    const std::size_t taken = std::min(limit - page.jobs.size(), group.size());
    page.jobs.insert(page.jobs.end(), group.begin(),
                     group.begin() + static_cast<std::ptrdiff_t>(taken));
    left_over += group.size() - taken;
  }
  if (left_over > 0)
    page.after = text_of(PageMark{group_of(*page.jobs.back()), page.jobs.back()->id});
  return page;
}

}  // namespace partita::api
