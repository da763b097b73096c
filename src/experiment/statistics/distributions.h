// Distributions: the normal and Student's t, as far as intervals and tests need them.
//
// Good to at least ten digits where a statistician looks, which the tables in the test hold.
#pragma once

namespace partita::experiment {

double normal_cdf(double x);
// REQUIRES: 0 < probability < 1.
double normal_quantile(double probability);

// REQUIRES of both: degrees > 0.
double student_t_cdf(double x, double degrees);
// REQUIRES: 0 < probability < 1.
double student_t_quantile(double probability, double degrees);

}  // namespace partita::experiment
