// Sequential: a test that may be looked at after every day, for running until a difference is
// decided.
//
// Looking at an ordinary p-value every day and stopping at the first below 5 % claims a difference
// that is not there far more often than 5 % of the time. The rule here is the t test as an
// e-process: the likelihood of the t statistic so far if the effect (mean over standard deviation
// of the daily differences) is drawn from a normal distribution, over its likelihood if there is
// none,
//
//   E(n) = r^(-1/2) * ((1 + t^2/(n-1)) / (1 + t^2/(r (n-1))))^(n/2),   r = 1 + n * effect_variance.
//
// For independent normal differences P(E ever reaches 1/alpha) <= alpha, exactly, for any number of
// looks and without a last day fixed beforehand (Hendriksen, de Heide, Gruenwald 2021; Wang and
// Ramdas 2025). For other differences it holds the better the more days there are, hence days_min.
// Simulated, alpha 5 %, looking every day up to 400: normal 2 %, differences of two log-normal days
// 1 %, log-normal about its mean with skewness 1.75 5 %. With skewness 6 it is 13 %, what a single
// t test on 30 such days has too; days_min = 100 makes that 6 %.
// p = 1/E may go through Holm's correction like any other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "experiment/statistics/statistics.h"

namespace partita::experiment {

struct SequentialRule {
  double alpha = 0.05;
  // The effects it is quickest at are about the root of this; others cost a few more days.
  double effect_variance = 0.25;
  std::uint64_t days_min = 30;  // before them nothing is decided
};

// At or below alpha: decided, and it stays a fair claim whenever and why ever one stopped. 1 before
// days_min.
double anytime_p(std::span<const double> differences, const SequentialRule& rule = {});

// The mean differences with anytime_p > alpha: contains the true one on all days at once with
// probability 1 - alpha. Nothing before days_min.
std::optional<Interval> anytime_interval(std::span<const double> differences,
                                         const SequentialRule& rule = {});

// The same for mean(policy) / mean(reference) - 1: the ratios for which the differences
// policy - ratio * reference have anytime_p > alpha, so that it leaves out 0 exactly when the
// difference is decided. An end is infinite (below: -1) where the reference's own spread leaves it
// open. REQUIRES: equal lengths, none negative, and a reference with a positive mean.
std::optional<Interval> anytime_ratio_interval(std::span<const double> policy,
                                               std::span<const double> reference,
                                               const SequentialRule& rule = {});

// With fewer days than these nothing is decided, whatever they say.
std::uint64_t anytime_days_min(const SequentialRule& rule = {});

}  // namespace partita::experiment
