#include "bounds/slots/job_response.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace partita::bounds {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// What rounding leaves of the work is no reason to take another piece.
constexpr double kEnough = kWorkAsked - 1e-12;
constexpr double kPlenty = 2;  // of work: a stretch without end has no more

}  // namespace

std::size_t PriceGrid::find(double instant) const {
  const auto after = std::upper_bound(edges.begin(), edges.end(), instant);
  CHECK(after != edges.begin());
  return static_cast<std::size_t>(after - edges.begin()) - 1;
}

JobResponse::JobResponse(const PriceGrid& grid, double late_weight)
    : grid_(grid), late_weight_(late_weight), least_prices_(grid.modes, kInfinity) {
  for (std::size_t i = 0; i < grid.prices.size(); ++i) {
    double& least = least_prices_[i % grid.modes];
    least = std::min(least, grid.prices[i]);
  }
}

void JobResponse::prepare(const BoundJob& job) {
  rungs_.clear();
  for (std::size_t mode = 0; mode < grid_.modes; ++mode) {
    if (job.time[mode] <= 0) continue;
    rungs_.push_back({1 / (job.time[mode] * kSecondsPerMicro), static_cast<std::uint8_t>(mode)});
  }
  std::stable_sort(rungs_.begin(), rungs_.end(),
                   [](const Rung& a, const Rung& b) { return a.speed < b.speed; });
  taken_.clear();
  taken_work_ = taken_cost_ = 0;
}

// No way to run the job costs less, whenever it ends.
double JobResponse::least_cost() const {
  double least = kInfinity;
  for (const Rung& rung : rungs_) least = std::min(least, least_prices_[rung.mode] / rung.speed);
  return least * kWorkAsked;
}

// The lower hull of (speed, price) from the idle corner: its sides are the pieces, steeper one by
// one.
void JobResponse::make_pieces(const Stretch& stretch, double extra) {
  const double* prices = grid_.at(stretch.interval);
  const double seconds = (stretch.end - stretch.begin) * kSecondsPerMicro;
  struct Corner {
    double speed;
    double price;
    std::uint8_t mode;
  };
  std::array<Corner, kModesMax + 1> hull;
  std::size_t size = 1;
  hull[0] = {0, 0, kIdle};
  const auto steeper_before = [&](const Corner& next) {
    const Corner& top = hull[size - 1];
    const Corner& below = hull[size - 2];
    return (top.price - below.price) * (next.speed - top.speed) >=
           (next.price - top.price) * (top.speed - below.speed);
  };
  for (const Rung& rung : rungs_) {
    const Corner next{rung.speed, prices[rung.mode] + extra, rung.mode};
    if (hull[size - 1].speed == next.speed) {
      if (hull[size - 1].price <= next.price) continue;
      --size;
    }
    while (size >= 2 && steeper_before(next)) --size;
    hull[size++] = next;
  }
  fresh_.clear();
  for (std::size_t i = 1; i < size; ++i) {
    const double speed = hull[i].speed - hull[i - 1].speed;
    fresh_.push_back(
        {(hull[i].price - hull[i - 1].price) / speed, std::min(speed * seconds, kPlenty), speed,
         static_cast<std::uint32_t>(stretch.interval), hull[i - 1].mode, hull[i].mode});
  }
}

// Keeps the cheapest pieces that make up the work. What is dropped never comes back: later pieces
// only lower the price at the margin.
void JobResponse::take_pieces() {
  for (const Piece& piece : fresh_) {
    if (taken_work_ >= kEnough && piece.slope >= taken_.back().slope) break;
    const auto place =
        std::upper_bound(taken_.begin(), taken_.end(), piece.slope,
                         [](double slope, const Piece& other) { return slope < other.slope; });
    taken_.insert(place, piece);
    taken_work_ += piece.work;
    taken_cost_ += piece.work * piece.slope;
    while (taken_work_ - taken_.back().work >= kEnough) {
      taken_work_ -= taken_.back().work;
      taken_cost_ -= taken_.back().work * taken_.back().slope;
      taken_.pop_back();
    }
    if (taken_work_ <= kWorkAsked) continue;
    const double too_much = taken_work_ - kWorkAsked;
    taken_.back().work -= too_much;
    taken_cost_ -= too_much * taken_.back().slope;
    taken_work_ = kWorkAsked;
  }
}

// What the job would cost with the fresh pieces among those it may take, without taking them.
double JobResponse::cost_with_pieces() {
  double cost = taken_cost_;
  double lacking = taken_work_ >= kEnough ? 0 : kWorkAsked - taken_work_;
  std::size_t last = taken_.size();  // pieces from here on are displaced
  double left = last > 0 ? taken_[last - 1].work : 0;
  for (const Piece& piece : fresh_) {
    double work = piece.work;
    if (lacking > kWorkAsked - kEnough) {
      const double filled = std::min(work, lacking);
      cost += filled * piece.slope;
      lacking -= filled;
      work -= filled;
      marginal_ = std::max(marginal_, piece.slope);
      if (lacking > kWorkAsked - kEnough) continue;
    }
    while (work > 0 && last > 0 && taken_[last - 1].slope > piece.slope) {
      const double moved = std::min(work, left);
      cost -= moved * (taken_[last - 1].slope - piece.slope);
      work -= moved;
      left -= moved;
      marginal_ = std::max(piece.slope, taken_[last - 1].slope);
      if (left > 0) continue;
      --last;
      left = last > 0 ? taken_[last - 1].work : 0;
      marginal_ = last > 0 ? std::max(piece.slope, taken_[last - 1].slope) : piece.slope;
    }
    if (work > 0) break;
  }
  return lacking > kWorkAsked - kEnough ? kInfinity : cost;
}

double JobResponse::take_until_due(const BoundJob& job, double due) {
  double begin = job.release;
  for (std::size_t i = grid_.find(begin); begin < due; ++i) {
    const double end = std::min(grid_.end(i), due);
    make_pieces({i, begin, end, false}, 0);
    take_pieces();
    begin = end;
  }
  return taken_work_ >= kEnough ? taken_cost_ : kInfinity;
}

void JobResponse::note(std::vector<Ending>* endings, const Stretch& last) const {
  if (endings != nullptr) endings->push_back({last, marginal_});
}

double JobResponse::scan(const BoundJob& job, std::vector<Ending>* endings) {
  prepare(job);
  const double due = late_weight_ > 0 ? job.due : kInfinity;
  double best = take_until_due(job, due);
  best_in_time_ = true;
  marginal_ = taken_.empty() ? 0 : taken_.back().slope;
  note(endings, {grid_.find(job.release), job.release, due, false});
  if (late_weight_ <= 0) return best;
  const double least = least_cost();
  double begin = due;
  for (std::size_t i = grid_.find(begin);; ++i) {
    const double late_cost = late_weight_ * (begin - due) * kSecondsPerMicro;
    if (late_cost + least >= best) return best;
    const Stretch stretch{i, begin, grid_.end(i), true};
    make_pieces(stretch, late_weight_);
    marginal_ = taken_.empty() ? 0 : taken_.back().slope;
    const double cost = late_cost + cost_with_pieces();
    note(endings, stretch);
    if (cost < best) {
      best = cost;
      best_last_ = stretch;
      best_in_time_ = false;
    }
    if (i == grid_.tail()) return best;
    make_pieces(stretch, 0);
    take_pieces();
    begin = stretch.end;
  }
}

// Takes the pieces of the best ending once more, so that `taken_` holds them.
void JobResponse::replay(const BoundJob& job) {
  prepare(job);
  const double due = late_weight_ > 0 ? job.due : kInfinity;
  take_until_due(job, due);
  if (best_in_time_) return;
  double begin = due;
  for (std::size_t i = grid_.find(begin); i < best_last_.interval; ++i) {
    make_pieces({i, begin, grid_.end(i), true}, 0);
    take_pieces();
    begin = grid_.end(i);
  }
  make_pieces(best_last_, late_weight_);
  take_pieces();
}

double JobResponse::cost(const BoundJob& job) {
  const double best = scan(job, nullptr);
  replay(job);
  return best;
}

double JobResponse::cost_with_endings(const BoundJob& job, std::vector<Ending>& endings) {
  endings.clear();
  return scan(job, &endings);
}

void JobResponse::add_usage(std::span<double> usage) const {
  for (const Piece& piece : taken_) {
    const double seconds = piece.work / piece.speed;
    double* row = usage.data() + static_cast<std::size_t>(piece.interval) * grid_.modes;
    row[piece.to] += seconds;
    if (piece.from != kIdle) row[piece.from] -= seconds;
  }
}

}  // namespace partita::bounds
