// Reservations: a job that was passed over for long gets a place, and others keep off it.
//
// A place is a GPU, a profile and a start; the instance need not exist. From when it is reserved,
// other jobs start on instances that are in its way only if they are expected to end before those
// that run there already do (backfill). When none is busy any more, the layout is changed so that
// the instance exists, whatever the repartitioner wants there, and the job starts on it and runs to
// its end. docs/concepts/fairness.md has the rules and the bound on the wait that follows.
//
// PolicyDriver asks it before the policies; it knows nothing of them. The scheduler is shown a
// cluster in which what is reserved takes no job, and is not told of jobs that were started here.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "decide/layout_request.h"
#include "decide/place_search.h"
#include "decide/scheduler.h"
#include "decide/waiting_lanes.h"

namespace partita::decide {

// What who drives policies knows of GPUs and a view does not say.
struct FleetFacts {
  // The layout the GPU has or is changing to.
  std::function<mig::Layout(GpuId)> aim;
  // Whether layouts that are asked for are followed there: not on GPUs that are drained or lost.
  // No function: everywhere.
  std::function<bool(GpuId)> usable = {};
};

struct Reservation {
  JobHandle handle;
  JobId job;
  GpuId gpu;
  mig::Placement place;
  Micros made;
  Micros drained;     // others must be expected to end by then
  Micros start;       // when the job is expected to start
  bool cut = false;   // the instance exists or is being made
  Micros cut_at;      // since when nothing but that is waited for
  bool runs = false;  // the job has started there; the place is kept until it ends
};

class Reservations {
 public:
  // Places that jobs wait for or run on: one for so many GPUs or part of them, and no more than the
  // second. The rest of the fleet is left to the policy, however long the queue.
  static constexpr std::uint32_t kGpusPerReservation = 4;
  static constexpr std::size_t kReservationsMax = 16;
  // So many waiting jobs are looked at for one that ends in time.
  static constexpr std::size_t kBackfillLooksMax = 256;

  // `books` orders users; null: all jobs are alike. REQUIRES: it outlives this.
  Reservations(Micros after, FleetFacts facts, UsageBooks* books = nullptr);

  // A run begins: no jobs.
  void begin(const View& view);

  // ---- what happens

  // The job waits from now on; one that never started, since it came.
  void waits(const View& view, JobHandle job);
  // It does not any more, or is gone.
  void leaves(JobHandle job);
  // Whether the job was started here, so that the scheduler does not know of it; `forget` lets go.
  bool hides(const View& view, JobHandle job) const;
  void forget(JobHandle job);

  // ---- layouts

  // A request of the repartitioner, as far as it leaves reserved places alone.
  void adapt(const View& view, LayoutRequest& request);
  // Makes the reservations that are due, and asks for the layouts that they need.
  void plan(const View& view, std::vector<LayoutRequest>& requests);

  // ---- one decision

  // Whether the scheduler must be shown another cluster than there is.
  bool restricts() const { return !reservations_.empty() || !hidden_.empty(); }
  // Jobs whose place is ready start: appended to `moves`.
  void start_ready(const View& view, std::vector<Move>& moves);
  // The cluster for the scheduler, after those moves. Valid until the next call.
  const cluster::ClusterState& shown(const View& view, std::span<const Move> moves);
  // Jobs that end in time start on instances that are in the way of reserved places; those that
  // `moves` has already are not looked at, nor slices that it uses.
  void backfill(const View& view, std::vector<Move>& moves);
  // The decision is complete.
  void decided(const View& view, std::span<const Move> moves);

  // When the next reservation is due although nothing happens; Micros::max(): never.
  Micros next_time() const { return next_time_; }

  // In the order in which they were made.
  std::span<const Reservation> all() const { return reservations_; }
  // Whose job waits for its place or runs there; null when it has none.
  const Reservation* find(JobId job) const;
  std::uint64_t made() const { return made_; }
  std::uint64_t backfilled() const { return backfilled_; }

 private:
  struct Hidden {
    JobHandle handle;
    JobId job;
  };

  // When a job that no instance fits is due: before its deadline cannot be met any more.
  Micros due_early(const View& view, JobHandle job) const;
  JobHandle next_patient(const View& view) const;
  JobHandle next_early(const View& view);
  bool reserve_next(const View& view);
  void find_next_time(const View& view);
  // Of all that a place depends on.
  std::uint64_t version(const View& view) const { return view.cluster.layout_version + version_; }

  bool usable(GpuId gpu) const { return !facts_.usable || facts_.usable(gpu); }
  PlaceSearch beside_others(const View& view) const;
  mig::Layout layout_for(const View& view, GpuId gpu) const;

  void take_place(const View& view, Reservation& reservation, const FoundPlace& found);
  void reserve(const View& view, JobHandle job, const FoundPlace& found);
  void drop_over(const View& view);
  bool stands(const View& view, const Reservation& each) const;
  void make_way(const View& view, Reservation& each);
  void move_elsewhere(const View& view, Reservation& each, bool busy);

  // An idle instance in the way of a reserved place, and until when it can be used.
  struct Gap {
    SliceId slice;
    Micros until;
  };
  void list_gaps(const View& view, std::span<const Move> moves);
  SliceId fill_gap(const View& view, const ActiveJob& job);

  Micros after_;
  FleetFacts facts_;
  WaitingLanes waiting_;
  std::vector<Reservation> reservations_;
  std::vector<Hidden> hidden_;  // jobs that were started here and run
  // By GPU with reservations: what the repartitioner wants there.
  std::vector<std::optional<mig::Layout>> wanted_;
  std::vector<char> changed_;  // by GPU: its layout is to be asked for again
  std::optional<cluster::ClusterState> shown_;
  std::vector<Gap> gaps_;
  Micros next_time_ = Micros::max();
  std::uint64_t version_ = 0;  // of the reservations
  // version() at which the next one found no place beside the others.
  std::uint64_t full_ = WaitingLanes::kNever;
  std::uint64_t offered_version_ = WaitingLanes::kNever;  // of the layouts, when this was found:
  std::uint16_t offered_ = 0;  // profiles of the instances that take jobs
  std::uint64_t made_ = 0;
  std::uint64_t backfilled_ = 0;
};

}  // namespace partita::decide
