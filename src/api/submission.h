// The bodies of requests: what they ask for, and the schemas of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/record.h"
#include "control/protocol.h"

namespace partita::api {

// What a body may say: the job and how it is submitted.
template <typename Self, typename Visit>
void body_fields(Self& submit, Visit&& visit) {
  control::JobSpec::fields(submit.spec, visit);
  visit(Field{.name = "key",
              .doc = "The same key of one owner gives the same jobs again",
              .most = static_cast<double>(control::Limits{}.key_bytes_max)},
        submit.key);
  visit(Field{.name = "array",
              .doc = "An array of so many equal jobs",
              .most = static_cast<double>(control::Limits{}.array_jobs_max)},
        submit.count);
}

// What a request to cancel several jobs may say: their numbers, or what they have in common.
struct Cancellation {
  std::vector<JobNumber> jobs;
  std::optional<std::string> user;
  std::optional<std::string> state;
  std::optional<std::string> name;

  static void fields(auto& self, auto&& visit) {
    visit(Field{.name = "jobs",
                .doc = "The numbers of the jobs; not beside the others",
                .items = static_cast<double>(control::Limits{}.queue_jobs_max)},
          self.jobs);
    visit(Field{.name = "user", .doc = "All of this user, a name or a number", .most = 256},
          self.user);
    visit(Field{.name = "state", .doc = "All in one of these states", .most = 256}, self.state);
    visit(Field{.name = "name", .doc = "All of this name", .most = 64}, self.name);
  }
};

// The job that a body asks for. Unknown fields are refused.
Result<control::Submit> parse_submission(std::string_view body);
Result<Cancellation> parse_cancellation(std::string_view body);

}  // namespace partita::api
