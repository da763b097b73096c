// PolicyFacts: what a policy is called, says of itself and needs, as data that runners check.
#pragma once

#include <string>

namespace partita::decide {

struct PolicyFacts {
  std::string name;
  std::string summary;           // one line
  std::string source;            // the paper or textbook it comes from
  bool needs_run_times = false;  // reads the jobs' times per slice size
  bool needs_deadlines = false;
  bool needs_power_curve = false;
  bool needs_seed = false;  // draws random numbers
  bool may_wait = false;    // lets a job wait although a slice that fits it is free
};

}  // namespace partita::decide
