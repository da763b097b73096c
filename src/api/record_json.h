// Records as JSON, and the schema of that JSON, from their descriptions.
//
// Times are seconds, what is absent is null or a word, and a field that is visited twice stands
// where it was first.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace partita::api {

using Json = nlohmann::ordered_json;

// Of responses: the views of control/views/views.h, StatusView, numbers of jobs.
template <typename View>
Json json_of(const View& view);

// Schemas of OpenAPI 3.0.
template <typename View>
Json schema_of_response();
Json schema_of_submission();
Json schema_of_cancellation();

}  // namespace partita::api
