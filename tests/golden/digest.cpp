#include "golden/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace partita::golden {

void Digest::add(const mig::Layout& layout) {
  for (const mig::Placement placement : layout.instances()) {
    add(placement.profile * std::uint64_t{256} + placement.start);
  }
  add(layout.instances().size());
}

void Digest::add(const sim::RunResult& result) {
  for (const sim::SchedulePiece& piece : ordered_pieces(result)) {
    add(piece.id.value);
    add(piece.slice.value);
    add(piece.profile);
    add(piece.begin);
    add(piece.end);
  }
  for (const sim::LayoutPiece& piece : result.layouts) {
    add(piece.gpu.value);
    add(piece.begin);
    add(piece.end);
    add(piece.layout);
  }
  for (const sim::JobRecord& job : result.job_records) {
    add(job.first_start);
    add(job.completion);
    add(job.deadline);
    add(job.preemptions);
  }
  for (const std::uint64_t count :
       {result.jobs, result.late_jobs, result.events, result.decisions, result.preemptions,
        result.repartitions, result.instances_created, result.instances_destroyed}) {
    add(count);
  }
  add(result.end);
}

std::string Digest::text() const {
  return fmt::format("0x{:016x}", value());
}

std::vector<sim::SchedulePiece> ordered_pieces(const sim::RunResult& result) {
  std::vector<sim::SchedulePiece> pieces = result.schedule;
  std::ranges::sort(pieces, [](const sim::SchedulePiece& a, const sim::SchedulePiece& b) {
    return std::tie(a.begin, a.slice) < std::tie(b.begin, b.slice);
  });
  return pieces;
}

}  // namespace partita::golden
