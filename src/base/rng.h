// Rng: seeded random numbers whose stream is ours, so that a seed gives the same bytes with any
// standard library. (std::normal_distribution and friends differ between implementations.)
#pragma once

#include <array>
#include <cstdint>

namespace partita {

// xoshiro256++ of Blackman and Vigna, seeded by splitmix64.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  // A generator for one purpose: streams of one seed with different purposes do not overlap in
  // practice, so adding draws to one part of a program leaves the others as they were.
  Rng(std::uint64_t seed, std::uint64_t purpose);

  std::uint64_t next();
  double uniform();                          // [0, 1), 53 bits
  double uniform(double low, double high);   // [low, high)
  std::uint64_t below(std::uint64_t limit);  // 0 .. limit-1, unbiased; REQUIRES: limit > 0
  double exponential(double mean);
  double normal();                            // mean 0, variance 1
  double lognormal(double mu, double sigma);  // exp(mu + sigma * normal())

  // All that the next draws depend on, to save and restore it.
  std::array<std::uint64_t, 4>& state() { return state_; }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace partita
