// SubmissionRate: how often a user may submit: a bucket each, which fills while they wait.
#pragma once

#include <cstdint>
#include <map>

#include "base/units.h"

namespace partita::api {

struct RateLimit {
  double per_second = 20;  // in the long run
  double burst = 100;      // at once, by who has waited
};

class SubmissionRate {
 public:
  explicit SubmissionRate(RateLimit limit) : limit_(limit) {}

  // Takes one out of the user's bucket and gives 0; or how long to wait until there is one.
  Micros take(std::uint32_t uid, Micros now);

 private:
  struct Bucket {
    double left = 0;
    Micros at;
  };

  RateLimit limit_;
  std::map<std::uint32_t, Bucket> buckets_;
};

}  // namespace partita::api
