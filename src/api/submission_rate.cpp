#include "api/submission_rate.h"

#include <algorithm>
#include <cmath>

namespace partita::api {

Micros SubmissionRate::take(std::uint32_t uid, Micros now) {
  const auto [found, fresh] = buckets_.try_emplace(uid, Bucket{limit_.burst, now});
  Bucket& bucket = found->second;
  const double waited = (now - bucket.at).to_seconds();
  bucket.left = std::min(limit_.burst, bucket.left + std::max(0.0, waited) * limit_.per_second);
  bucket.at = now;
  if (bucket.left >= 1) {
    bucket.left -= 1;
    return {};
  }
  const double seconds = (1 - bucket.left) / limit_.per_second;
  return Micros{static_cast<std::int64_t>(std::ceil(seconds * 1e6))};
}

}  // namespace partita::api
