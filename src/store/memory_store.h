// MemoryStore: a store without a disk, for tests of whoever uses one.
#pragma once

#include <map>
#include <utility>

#include "store/store.h"

namespace partita::store {

class MemoryStore : public Store {
 public:
  Status commit(const Batch& batch) override;
  bool out_of_space() const override { return full_; }
  Status reserve(std::uint64_t) override { return {}; }
  // From now on commits fail for want of space, or do so no more.
  void set_full(bool full) { full_ = full; }
  Result<Contents> load() override;
  Result<std::vector<EventRow>> events(JobNumber job, std::size_t most) override;

  Result<JournalSize> journal_size() override;
  Result<std::vector<TurnRow>> turns(std::int64_t from, std::size_t most) override;
  Result<Contents> journal_base() override { return base_; }
  Status begin_journal_anew() override;

  bool has_intent(const std::string& kind, const std::string& subject) const {
    return intents_.contains({kind, subject});
  }

 private:
  using PlaceKey = std::pair<std::string, std::int64_t>;

  std::map<JobNumber, JobRow> jobs_;
  std::map<std::pair<JobNumber, std::int64_t>, AttemptRow> attempts_;
  std::map<PlaceKey, InstanceRow> instances_;
  std::map<std::pair<std::string, std::string>, IntentRow> intents_;
  std::map<std::pair<std::int64_t, std::string>, PeakRow> peaks_;
  std::map<std::pair<std::int64_t, std::string>, TotalRow> totals_;
  std::map<std::string, GpuRow> gpus_;
  std::vector<EventRow> events_;
  std::vector<TurnRow> turns_;
  std::int64_t last_turn_ = 0;
  Contents base_;
  bool full_ = false;
};

}  // namespace partita::store
