// Survival: how much longer a job will run that has run so long, from the jobs that ended before.
//
// Lengths are in estimates: 1 is a job that took as long as it was said to. Of the jobs remembered
// those count that ran longer than the one asked about has: the mean of what they still had before
// them is what it is expected to have. Where run times have a heavy tail that grows with age, where
// they are bounded it falls.
//
// Every job counts by the time it was said to take. Short estimates are too short more often than
// long ones, so a mean over jobs would make the work of all together too much; so weighed it is
// what it was. What is believed without any experience counts as a few jobs, so that one or two
// long ones do not decide, and beyond all that was seen it decides alone.
#pragma once

#include <deque>
#include <vector>

namespace partita::decide {

class Survival {
 public:
  // A job ended that was said to take `told`, in any unit, and took so many times that.
  // REQUIRES: both finite, `told` above 0, `length` not below.
  void ended(double length, double told);

  // Whether some job of those remembered took notably more or less than it was said to. Else
  // estimates are right, and there is nothing to correct.
  bool has_experience() const { return wrong_ > 0; }

  // What is expected to be left of a job of this age, when `believed` is what is believed of it
  // otherwise. Takes time in the logarithm of the jobs remembered, once these are summed up.
  double expected_left(double age, double believed) const;

  static constexpr std::size_t kRemembered = 512;  // the last that ended
  static constexpr double kBeliefWeight = 4;       // in jobs
  static constexpr double kWrong = 0.01;           // of the estimate

 private:
  struct Ended {
    double length;
    double told;

    bool wrong() const;
  };
  // Of a job and all that were longer.
  struct Sums {
    double told = 0;
    double told_squared = 0;
    double took = 0;
  };

  void sum_up() const;

  std::deque<Ended> ended_;     // in order of ending
  std::vector<Ended> ordered_;  // by length
  std::size_t wrong_ = 0;
  mutable std::vector<Sums> sums_;  // by place in `ordered_`, and one more; empty: to be made
};

}  // namespace partita::decide
