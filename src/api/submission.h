// The body of a submission: what it asks for, and the schema of it.
#pragma once

#include "base/record.h"
#include "control/protocol.h"

namespace partita::api {

// What a body may say: the job and how it is submitted.
template <typename Self, typename Visit>
void body_fields(Self& submit, Visit&& visit) {
  control::JobSpec::fields(submit.spec, visit);
  visit(Field{.name = "key", .doc = "The same key of one owner gives the same jobs again"},
        submit.key);
  visit(Field{.name = "array", .doc = "An array of so many equal jobs", .most = 1e6}, submit.count);
}

// The job that a body asks for. Unknown fields are refused.
Result<control::Submit> parse_submission(std::string_view body);

}  // namespace partita::api
