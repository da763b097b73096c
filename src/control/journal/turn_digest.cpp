// The digest of a turn: two turns that differ in anything they say or do have different ones, but
// for one chance in 2^64.
#include "base/row_sum.h"
#include "control/journal/journal.h"

namespace partita::control {
namespace {

void add(RowSum& sum, const store::JobProgress& row) {
  sum.add(row.id);
  sum.add(row.state);
  sum.add(row.attempt);
  sum.add(row.need_gib);
  sum.add(row.changed_us);
  sum.add(row.reason);
}

void add(RowSum& sum, const store::JobRow& row) {
  add(sum, row.progress);
  sum.add(row.submitted_us);
  sum.add(row.uid);
  sum.add(row.gid);
  sum.add(row.name);
  sum.add(row.key);
  sum.add(row.spec);
}

void add(RowSum& sum, const store::AttemptRow& row) {
  for (const std::int64_t each : {row.job, row.number, row.state, row.start, row.started_us,
                                  row.ended_us, row.exit_code, row.signal}) {
    sum.add(each);
  }
  for (const std::string* each : {&row.gpu, &row.instance, &row.profile, &row.reason}) {
    sum.add(*each);
  }
  sum.add(row.peak_gib);
  sum.add(row.energy_j);
}

void add(RowSum& sum, const store::InstanceRow& row) {
  sum.add(row.gpu);
  sum.add(row.start);
  sum.add(row.profile);
  sum.add(row.uuid);
  sum.add(row.state);
  sum.add(row.changed_us);
}

void add(RowSum& sum, const store::IntentRow& row) {
  sum.add(row.kind);
  sum.add(row.subject);
  sum.add(row.made_us);
}

void add(RowSum& sum, const store::EventRow& row) {
  sum.add(row.sequence);
  sum.add(row.at_us);
  sum.add(row.job);
  sum.add(row.kind);
  sum.add(row.text);
}

void add(RowSum& sum, const store::PeakRow& row) {
  sum.add(row.uid);
  sum.add(row.name);
  sum.add(row.peak_gib);
}

void add(RowSum& sum, const store::Place& place) {
  sum.add(place.gpu);
  sum.add(place.start);
}

void add(RowSum& sum, std::int64_t value) {
  sum.add(value);
}

void add(RowSum& sum, const std::string& text) {
  sum.add(text);
}

void add(RowSum& sum, const Reply& reply);
void add(RowSum& sum, const Effect& effect);

template <typename T>
void add(RowSum& sum, const std::vector<T>& values) {
  sum.add(static_cast<std::int64_t>(values.size()));
  for (const T& each : values) add(sum, each);
}

void add(RowSum& sum, launch::AttemptKey key) {
  sum.add(key.job);
  sum.add(key.number);
}

void add(RowSum& sum, const device::InstanceKey& key) {
  sum.add(static_cast<std::int64_t>(key.gpu.value));
  sum.add(static_cast<std::int64_t>(key.gi));
  sum.add(key.uuid);
}

void add(RowSum& sum, GpuId gpu, mig::Placement placement) {
  sum.add(static_cast<std::int64_t>(gpu.value));
  sum.add(static_cast<std::int64_t>(placement.profile));
  sum.add(static_cast<std::int64_t>(placement.start));
}

void add(RowSum& sum, const Reply& reply) {
  sum.add(static_cast<std::int64_t>(reply.ticket));
  sum.add(static_cast<std::int64_t>(reply.kind));
  add(sum, reply.jobs);
  sum.add(reply.message);
}

void add(RowSum& sum, const Launch& launch) {
  add(sum, launch.start.key);
  add(sum, launch.start.argv);
  add(sum, launch.start.environment);
  sum.add(launch.start.directory);
  sum.add(static_cast<std::int64_t>(launch.start.owner.uid));
  sum.add(static_cast<std::int64_t>(launch.start.owner.gid));
  add(sum, launch.start.checkpoint);
  sum.add(launch.start.time_limit.count);
  add(sum, launch.instance);
}

void add(RowSum& sum, const Stop& stop) {
  add(sum, stop.key);
  sum.add(static_cast<std::int64_t>(stop.checkpoint));
}

void add(RowSum& sum, const Forget& forget) {
  add(sum, forget.key);
}

void add(RowSum& sum, const Create& create) {
  add(sum, create.gpu, create.placement);
}

void add(RowSum& sum, const Destroy& destroy) {
  add(sum, destroy.gpu, destroy.placement);
  add(sum, destroy.instance);
}

void add(RowSum& sum, const Effect& effect) {
  sum.add(static_cast<std::int64_t>(effect.index()));
  std::visit([&](const auto& each) { add(sum, each); }, effect);
}

}  // namespace

std::int64_t digest_of(const Turn& turn) {
  RowSum sum;
  const store::Batch& batch = turn.batch;
  add(sum, batch.new_jobs);
  add(sum, batch.progress);
  add(sum, batch.attempts);
  add(sum, batch.instances);
  add(sum, batch.gone_instances);
  add(sum, batch.intents);
  add(sum, batch.met_intents);
  add(sum, batch.events);
  add(sum, batch.peaks);
  add(sum, batch.forgotten_jobs);
  add(sum, turn.replies);
  add(sum, turn.effects);
  return sum.value();
}

}  // namespace partita::control
