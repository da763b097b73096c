#include "decide/early_restart.h"

#include <cmath>

#include "base/check.h"

namespace partita::decide {

double upper_projection(std::span<const double> xs, std::span<const double> ys, double at,
                        double z) {
  CHECK(xs.size() == ys.size() && xs.size() >= 3);
  const auto count = static_cast<double>(xs.size());
  double x_mean = 0;
  double y_mean = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    x_mean += xs[i] / count;
    y_mean += ys[i] / count;
  }
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    xx += (xs[i] - x_mean) * (xs[i] - x_mean);
    xy += (xs[i] - x_mean) * (ys[i] - y_mean);
  }
  CHECK(xx > 0);
  const double slope = xy / xx;
  double residual = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double off = ys[i] - y_mean - slope * (xs[i] - x_mean);
    residual += off * off;
  }
  const double distance = at - x_mean;
  const double variance = residual / (count - 2) * (1 + 1 / count + distance * distance / xx);
  return y_mean + slope * distance + z * std::sqrt(variance);
}

}  // namespace partita::decide
