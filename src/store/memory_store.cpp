#include "store/memory_store.h"

#include <algorithm>

namespace partita::store {
namespace {

template <typename Map>
auto values_of(const Map& map) {
  std::vector<typename Map::mapped_type> values;
  for (const auto& [key, value] : map) values.push_back(value);
  return values;
}

}  // namespace

Status MemoryStore::commit(const Batch& batch) {
  if (full_ && !batch.empty()) return Error{"the disk is full"};
  for (const JobRow& row : batch.new_jobs) {
    if (!jobs_.emplace(row.progress.id, row).second) return Error{"a job was inserted twice"};
  }
  for (const JobProgress& progress : batch.progress) {
    const auto job = jobs_.find(progress.id);
    if (job == jobs_.end()) return Error{"a job that is not there was changed"};
    job->second.progress = progress;
  }
  for (const AttemptRow& row : batch.attempts) attempts_[{row.job, row.number}] = row;
  for (const Place& place : batch.gone_instances) instances_.erase({place.gpu, place.start});
  for (const InstanceRow& row : batch.instances) instances_[{row.gpu, row.start}] = row;
  for (const IntentRow& row : batch.met_intents) intents_.erase({row.kind, row.subject});
  for (const IntentRow& row : batch.intents) intents_[{row.kind, row.subject}] = row;
  for (const PeakRow& row : batch.peaks) peaks_[{row.uid, row.name}] = row;
  for (const TotalRow& row : batch.totals) totals_[{row.uid, row.name}] = row;
  for (const GpuRow& row : batch.gpus) gpus_[row.gpu] = row;
  events_.insert(events_.end(), batch.events.begin(), batch.events.end());
  for (const JobNumber id : batch.forgotten_jobs) {
    jobs_.erase(id);
    std::erase_if(attempts_, [&](const auto& each) { return each.first.first == id; });
    std::erase_if(events_, [&](const EventRow& event) { return event.job == id; });
  }
  for (const TurnRow& row : batch.turns) {
    if (row.number <= last_turn_) return Error{"a turn was inserted twice"};
    turns_.push_back(row);
    last_turn_ = row.number;
  }
  return {};
}

Result<Store::JournalSize> MemoryStore::journal_size() {
  JournalSize size;
  size.last_turn = last_turn_;
  for (const TurnRow& row : turns_) size.bytes += static_cast<std::int64_t>(row.inputs.size());
  size.closed = !turns_.empty() && turns_.back().kind == TurnKind::kClose;
  if (!turns_.empty()) size.first_us = turns_.front().at_us;
  return size;
}

Result<std::vector<TurnRow>> MemoryStore::turns(std::int64_t from, std::size_t most) {
  std::vector<TurnRow> found;
  for (const TurnRow& row : turns_) {
    if (row.number >= from && found.size() < most) found.push_back(row);
  }
  return found;
}

Status MemoryStore::begin_journal_anew() {
  turns_.clear();
  base_ = *load();
  return {};
}

Result<Contents> MemoryStore::load() {
  return Contents{values_of(jobs_),      values_of(attempts_),
                  values_of(instances_), values_of(intents_),
                  values_of(peaks_),     events_.empty() ? 0 : events_.back().sequence,
                  values_of(gpus_),      values_of(totals_)};
}

Result<std::vector<EventRow>> MemoryStore::events(JobNumber job, std::size_t most) {
  std::vector<EventRow> found;
  for (const EventRow& event : events_) {
    if (job == kNoJob || event.job == job) found.push_back(event);
  }
  if (found.size() > most) found.erase(found.begin(), found.end() - static_cast<long>(most));
  return found;
}

}  // namespace partita::store
