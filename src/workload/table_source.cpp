#include "workload/table_source.h"

#include <fmt/format.h>

namespace partita::workload {
namespace {

std::string rows(std::uint64_t count) {
  return fmt::format("{} row{}", count, count == 1 ? "" : "s");
}

}  // namespace

Result<bool> TableSource::next(JobRow& row) {
  while (!options_.max_jobs || jobs_ < *options_.max_jobs) {
    const Result<RowState> state = table_.next();
    if (!state) return state.error();
    if (*state == RowState::kEnd) return at_end();
    const Result<bool> used = *state == RowState::kRow ? convert(row) : table_.row_error();
    if (used && *used) {
      ++jobs_;
      return true;
    }
    if (used) continue;
    if (!options_.skip_bad_rows) return used.error();
    if (bad_rows_++ == 0) first_bad_ = used.error().message;
  }
  return false;
}

// Rows that are skipped are meant to be a few: with nothing left, what follows would be about
// nothing at all.
Result<bool> TableSource::at_end() const {
  if (jobs_ > 0 || bad_rows_ == 0) return false;
  return Error{fmt::format("{} has no row that can be used: {} skipped as bad; the first: {}",
                           table_.name(), rows(bad_rows_), first_bad_)};
}

bool TableSource::pass_over(std::string_view reason) {
  for (auto& [known, count] : passed_over_) {
    if (known != reason) continue;
    ++count;
    return false;
  }
  passed_over_.emplace_back(reason, 1);
  return false;
}

std::vector<std::string> TableSource::warnings() const {
  std::vector<std::string> sentences = notes_;
  for (const auto& [reason, count] : passed_over_) {
    sentences.push_back(fmt::format("{}: {} passed over: {}", table_.name(), rows(count), reason));
  }
  if (bad_rows_ > 0) {
    sentences.push_back(fmt::format("{}: {} skipped as bad; the first: {}", table_.name(),
                                    rows(bad_rows_), first_bad_));
  }
  if (jobs_ == 0) sentences.push_back(fmt::format("{} holds no jobs", table_.name()));
  return sentences;
}

}  // namespace partita::workload
