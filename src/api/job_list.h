// JobList: which jobs are asked for, and a page of them.
//
// Those that hold a slice come first, in order of number, then those that wait, the longest first,
// then those that have ended, the latest first: what a page leaves out is what matters least.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/controller.h"

namespace partita::api {

inline constexpr std::size_t kPageJobsMax = 10'000;
inline constexpr std::size_t kPageJobsDefault = 1'000;

struct JobFilter {
  std::array<bool, control::kJobStates> states{};
  std::optional<std::uint32_t> uid;
  std::optional<std::string> name;

  bool takes(const control::Job& job) const;
};

// Empty texts ask for nothing. `state`: "active", or states with commas between them; `user`: a
// number, or a name that `uid_of` knows.
Result<JobFilter> parse_filter(
    std::string_view state, std::string_view user, std::string_view name,
    const std::function<std::optional<std::uint32_t>(const std::string&)>& uid_of);

// The last job of a page, as the next one begins after it: "slice.12", "queued.57", "ended.9". A
// job that changed its group meanwhile may be on both or on neither.
struct PageMark {
  std::size_t group = 0;
  JobNumber job;
};
std::optional<PageMark> parse_mark(std::string_view text);
std::string text_of(PageMark mark);

struct JobPage {
  std::vector<const control::Job*> jobs;
  std::size_t total = 0;             // that are asked for, on all pages
  std::optional<std::string> after;  // of the next page; nothing: this is the last
};
// `may`: whether the caller may know of the job in the way it is asked for.
JobPage page_of(const control::Controller& controller, const JobFilter& filter,
                const std::function<bool(const control::Job&)>& may, std::size_t limit,
                std::optional<PageMark> after);

}  // namespace partita::api
