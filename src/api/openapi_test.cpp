// The document of the interface against what the service answers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "api/http.h"
#include "api/service_fixture.h"
#include "api/submission.h"
#include "base/text.h"

namespace partita::api {
namespace {

using Json = nlohmann::json;
using test::body_for;
using test::kAnn;
using test::kBob;
using test::ServiceTest;
using test::some_contents;

TEST_F(ServiceTest, TheDocumentNamesExactlyTheRoutesOfTheTable) {
  const Json document = Json::parse(openapi_document("1"));
  std::size_t operations = 0;
  for (const auto& [path, methods] : document["paths"].items()) operations += methods.size();
  EXPECT_EQ(operations, routes().size());
  for (const Route& route : routes()) {
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    EXPECT_EQ(document["paths"][std::string(route.path)][method]["operationId"], route.name);
  }
}

TEST_F(ServiceTest, TheDocumentNamesExactlyTheFieldsOfASubmission) {
  const Json document = Json::parse(openapi_document("1"));
  const Json& schema = document["components"]["schemas"]["Submission"];
  const auto refused = parse_submission(R"({"argv":["x"],"directory":"/","surprise":1})");
  ASSERT_FALSE(refused.ok());
  const std::string known = refused.error().message.substr(refused.error().message.find("known: "));
  std::size_t bytes = std::string_view("known: ").size();
  for (const auto& [name, type] : schema["properties"].items()) {
    EXPECT_NE((known + ",").find(" " + name + ","), std::string::npos) << name;
    bytes += name.size() + 2;
  }
  EXPECT_EQ(bytes - 2, known.size()) << known;
}

// Where the JSON is not of the schema, of what OpenAPI 3.0 has and our document uses.
class Misfits {
 public:
  explicit Misfits(const Json& document) : schemas_(document["components"]["schemas"]) {}

  std::vector<std::string> of(const Json& schema, const Json& json, const std::string& at) const {
    if (schema.contains("$ref")) {
      const std::string name = schema["$ref"].get<std::string>().substr(21);
      return of(schemas_.at(name), json, at);
    }
    if (schema.contains("anyOf")) {
      std::vector<std::string> all;
      for (const Json& each : schema["anyOf"]) {
        const auto one = of(each, json, at);
        if (one.empty()) return {};
        all.insert(all.end(), one.begin(), one.end());
      }
      return all;
    }
    if (json.is_null() && schema.value("nullable", false)) return {};
    if (!is_of(schema.at("type"), json)) return {at + " is no " + schema["type"].dump()};
    std::vector<std::string> found = outside_limits(schema, json, at);
    for (const auto& [name, value] : json.items()) {
      if (json.is_array()) append(found, of(schema["items"], value, at + "/" + name));
      if (!json.is_object() || !schema.contains("properties")) continue;
      if (!schema["properties"].contains(name)) {
        found.push_back(at + " has " + name);
      } else {
        append(found, of(schema["properties"][name], value, at + "/" + name));
      }
    }
    return found;
  }

 private:
  static bool is_of(const std::string& type, const Json& json) {
    return type == "object"    ? json.is_object()
           : type == "array"   ? json.is_array()
           : type == "string"  ? json.is_string()
           : type == "boolean" ? json.is_boolean()
           : type == "integer" ? json.is_number_integer()
                               : type == "number" && json.is_number();
  }
  static std::vector<std::string> outside_limits(const Json& schema, const Json& json,
                                                 const std::string& at) {
    std::vector<std::string> found;
    const auto wrong = [&](bool is, const char* what) {
      if (is) found.push_back(at + " is outside of its " + what);
    };
    const auto has = [&](const char* name) { return schema.contains(name); };
    wrong(has("enum") && std::ranges::find(schema["enum"], json) == schema["enum"].end(), "enum");
    wrong(json.is_number() && has("minimum") && json < schema["minimum"], "minimum");
    wrong(json.is_number() && has("maximum") && json > schema["maximum"], "maximum");
    wrong(json.is_array() && has("maxItems") && json.size() > schema["maxItems"], "maxItems");
    for (const Json& name : schema.value("required", Json::array())) {
      if (!json.contains(name)) found.push_back(at + " lacks " + name.get<std::string>());
    }
    return found;
  }
  static void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  const Json& schemas_;
};

// Every route that there is, by every kind of caller, also when it refuses.
TEST_F(ServiceTest, EveryAnswerIsWhatTheDocumentSays) {
  around_.events = [&](JobNumber, std::size_t) {
    return std::vector{control::EventView{7, Micros{1}, JobNumber{1}, "submitted", "text"}};
  };
  const Json document = Json::parse(openapi_document("1"));
  const Misfits misfits(document);
  std::set<std::string> seen;
  for (const Route& route : routes()) {
    std::string path(route.path);
    std::string job = "1";
    if (route.method == "POST") {  // job 1 was cancelled on the way
      const Response fresh =
          answer(kAnn, "POST", "/v1/jobs", R"({"argv":["x"],"directory":"/","name":"fresh"})");
      job = Json::parse(fresh.body)["jobs"][0].dump();
    }
    if (path.find("{id}") != std::string::npos) path.replace(path.find("{id}"), 4, job);
    if (path.find("{gpu}") != std::string::npos) path.replace(path.find("{gpu}"), 5, "0");
    for (const std::string query : {"", "?limit=abc&offset=abc"}) {
      for (const std::uint32_t uid : {0U, kAnn, kBob}) {
        for (const std::string& text : {body_for(route), std::string(R"({"jobs":[1,77]})")}) {
          const Response response = answer(uid, std::string(route.method), path + query, text);
          const Json& responses =
              document["paths"][std::string(route.path)][lower(route.method)]["responses"];
          const std::string status = std::to_string(response.status);
          ASSERT_TRUE(responses.contains(status)) << route.name << " " << status;
          const std::string type = response.type.substr(0, response.type.find(';'));
          const Json& content = responses[status]["content"];
          ASSERT_TRUE(content.contains(type)) << route.name << " " << type;
          seen.insert(std::string(route.name) + " " + status);
          if (type != "application/json") continue;
          for (const std::string& each :
               misfits.of(content[type]["schema"], Json::parse(response.body), path)) {
            ADD_FAILURE() << route.name << ": " << each;
          }
        }
      }
    }
  }
  for (const Route& route : routes()) {
    const std::string good = route.id == RouteId::kSubmit ? " 201" : " 200";
    EXPECT_TRUE(seen.contains(std::string(route.name) + good)) << Json(seen).dump();
  }
  for (const char* refusal : {"list_jobs 400", "show_job 403", "cancel_job 403", "submit 400"}) {
    EXPECT_TRUE(seen.contains(refusal)) << Json(seen).dump();
  }
}

TEST_F(ServiceTest, JobsThatEndedAreShownAsTheDocumentSays) {
  control::Controller held({}, **mig::find_gpu("a100-40gb"), {{"GPU-0", "A100", GpuId{0}}},
                           std::make_unique<test::Idle>(), std::make_unique<test::Still>());
  ASSERT_TRUE(held.restore(Micros{1'700'000'003'000'000}, some_contents(), {}, {}).ok());
  const Service service(held, around_);
  const Json document = Json::parse(openapi_document("1"));
  const Misfits misfits(document);
  const auto json = [&](const char* path) {
    const Handled handled = service.handle(request("GET", path), caller(kAnn), 7);
    return Json::parse(std::get<Response>(handled).body);
  };
  const Json& schemas = document["components"]["schemas"];
  EXPECT_EQ(misfits.of(schemas["Job"], json("/v1/jobs/1"), ""), std::vector<std::string>());
  EXPECT_EQ(misfits.of(schemas["JobPage"], json("/v1/jobs"), ""), std::vector<std::string>());
  EXPECT_FALSE(misfits.of(schemas["Job"], Json::parse(R"({"id":"1"})"), "").empty());
  EXPECT_FALSE(misfits.of(schemas["Gpus"], json("/v1/jobs"), "").empty());
}

TEST_F(ServiceTest, TheDocumentSaysWhereTheDaemonIsAndWhatItEnforces) {
  const Json document = Json::parse(openapi_document("1"));
  EXPECT_FALSE(document["servers"].empty());
  EXPECT_EQ(document["info"]["x-limits"]["body_bytes"], kBodyBytesMax);
  const Json& fields = document["components"]["schemas"]["Submission"]["properties"];
  EXPECT_EQ(fields["name"]["maxLength"], 64);
  EXPECT_EQ(fields["env"]["maxItems"], 256);
  EXPECT_EQ(fields["comment"]["maxLength"], 1024);
  const Json& parameters = document["paths"]["/v1/jobs"]["get"]["parameters"];
  const auto limit = std::ranges::find_if(
      parameters, [](const Json& parameter) { return parameter["name"] == "limit"; });
  ASSERT_NE(limit, parameters.end());
  EXPECT_EQ((*limit)["schema"]["maximum"], 10'000);
  EXPECT_EQ(status(kAnn, "GET", "/v1/jobs?limit=10000"), 200);
  EXPECT_EQ(status(kAnn, "GET", "/v1/jobs?limit=10001"), 400);
  for (const Route& route : routes()) {
    const Json& operation = document["paths"][std::string(route.path)][lower(route.method)];
    for (const auto& [status, response] : operation["responses"].items()) {
      for (const auto& [type, content] : response["content"].items()) {
        EXPECT_TRUE(content["schema"].is_object()) << route.name << status;
      }
    }
  }
}

TEST_F(ServiceTest, LimitsOfASubmissionAreInTheDocumentAndAreThoseThatAreAskedFor) {
  const Json document = Json::parse(openapi_document("1"));
  const Json& fields = document["components"]["schemas"]["Submission"]["properties"];
  for (const char* name : {"memory_gib", "deadline_s", "time_limit_s", "array"}) {
    const double most = fields[name]["maximum"];
    const auto parse = [&](const std::string& value) {
      return parse_submission(R"({"argv":["x"],"directory":"/",")" + std::string(name) +
                              "\":" + value + "}");
    };
    EXPECT_TRUE(parse(fmt::format("{:.15g}", most)).ok()) << name;
    EXPECT_FALSE(parse(fmt::format("{:.15g}", most * 1.001)).ok()) << name;
    EXPECT_FALSE(parse("0").ok()) << name;
  }
  const auto refused = parse_submission(R"({"argv":["x"],"directory":"/","array":1.5})");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "the field array has 1.5; wanted a whole number above 0 and at most 10000");
}

}  // namespace
}  // namespace partita::api
