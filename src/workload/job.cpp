#include "workload/job.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace partita::workload {

std::string_view Trace::id(JobId job) const {
  CHECK(job.value < id_ends.size());
  const std::uint64_t begin = job.value == 0 ? 0 : id_ends[job.value - 1];
  return std::string_view(id_text).substr(begin, id_ends[job.value] - begin);
}

void Trace::add(const Job& job, std::string_view external_id) {
  CHECK(job.job_class < class_names.size());
  CHECK(jobs.size() == id_ends.size());
  jobs.push_back(job);
  id_text.append(external_id);
  id_ends.push_back(id_text.size());
  if (!memory_curves.empty()) memory_curves.resize(jobs.size());
  if (!owners.empty()) owners.resize(jobs.size());
}

void Trace::add(const Job& job, std::string_view external_id, const MemoryCurve& memory) {
  add(job, external_id);
  if (!memory.grows()) return;
  memory_curves.resize(jobs.size());
  memory_curves.back() = memory;
}

void Trace::set_owner(JobOwner owner) {
  CHECK(!jobs.empty() && owner.user < user_names.size());
  owners.resize(jobs.size());
  owners.back() = owner;
}

ClassIndex Trace::class_index(std::string_view name) {
  const auto found = std::find(class_names.begin(), class_names.end(), name);
  if (found != class_names.end()) return static_cast<ClassIndex>(found - class_names.begin());
  CHECK(class_names.size() < kClassesMax);
  class_names.emplace_back(name);
  return static_cast<ClassIndex>(class_names.size() - 1);
}

std::size_t Trace::memory_bytes() const {
  std::size_t bytes =
      sizeof(Trace) + jobs.capacity() * sizeof(Job) + id_text.capacity() +
      memory_curves.capacity() * sizeof(MemoryCurve) + owners.capacity() * sizeof(JobOwner) +
      id_ends.capacity() * sizeof(std::uint64_t) + class_names.capacity() * sizeof(std::string);
  for (const std::string& name : class_names) bytes += name.capacity();
  return bytes;
}

void sort_by_arrival(Trace& trace) {
  const auto earlier = [](const Job& a, const Job& b) { return a.arrival < b.arrival; };
  if (std::is_sorted(trace.jobs.begin(), trace.jobs.end(), earlier)) return;
  CHECK(trace.jobs.size() <= kJobsMax);
  std::vector<std::uint32_t> order(trace.jobs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return trace.jobs[a].arrival < trace.jobs[b].arrival;
  });
  // One array at a time, so that the second copy of the jobs is gone before that of the ids comes.
  {
    std::vector<Job> jobs;
    jobs.reserve(order.size());
    for (const std::uint32_t i : order) jobs.push_back(trace.jobs[i]);
    trace.jobs = std::move(jobs);
  }
  if (!trace.memory_curves.empty()) {
    std::vector<MemoryCurve> curves;
    curves.reserve(order.size());
    for (const std::uint32_t i : order) curves.push_back(trace.memory_curves[i]);
    trace.memory_curves = std::move(curves);
  }
  if (!trace.owners.empty()) {
    std::vector<JobOwner> owners;
    owners.reserve(order.size());
    for (const std::uint32_t i : order) owners.push_back(trace.owners[i]);
    trace.owners = std::move(owners);
  }
  std::string id_text;
  std::vector<std::uint64_t> id_ends;
  id_text.reserve(trace.id_text.size());
  id_ends.reserve(order.size());
  for (const std::uint32_t i : order) {
    id_text.append(trace.id(JobId{i}));
    id_ends.push_back(id_text.size());
  }
  trace.id_text = std::move(id_text);
  trace.id_ends = std::move(id_ends);
}

}  // namespace partita::workload
