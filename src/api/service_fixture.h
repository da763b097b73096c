// A service over a controller with one GPU and a job of Ann's, for the tests of the interface.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "api/service.h"
#include "api/test_support.h"

namespace partita::api::test {

// A body that the route takes.
inline std::string body_for(const Route& route) {
  return route.id == RouteId::kCancelJobs ? R"({"state":"queued"})"
                                          : R"({"argv":["x"],"directory":"/"})";
}

class ServiceTest : public testing::Test {
 protected:
  ServiceTest()
      : controller_({}, **mig::find_gpu("a100-40gb"), {{"GPU-0", "A100", GpuId{0}}},
                    std::make_unique<Idle>(), std::make_unique<Still>()),
        service_(controller_, around_) {
    around_.events = [](JobNumber, std::size_t) { return std::vector<control::EventView>(); };
    around_.output = [](JobNumber, std::uint64_t, std::size_t) { return std::string("out"); };
    around_.why_closed = [this] { return closed_; };
    EXPECT_TRUE(controller_.restore(Micros{1}, {}, {}, {}).ok());
    submit(kAnn, R"({"argv":["secret-program"],"directory":"/"})");
  }

  static Request request(const std::string& method, const std::string& path,
                         const std::string& body = "") {
    Request made;
    made.method = method;
    made.path = path.substr(0, path.find('?'));
    if (path.find('?') != std::string::npos) made.query = path.substr(path.find('?') + 1);
    made.body = body;
    return made;
  }
  static Caller caller(std::uint32_t uid) { return {uid, uid, uid == 0}; }

  // The status of a response; 0 when it goes to the controller.
  int status(std::uint32_t uid, const std::string& method, const std::string& path,
             const std::string& body = "") {
    const Handled handled = service_.handle(request(method, path, body), caller(uid), 7);
    const auto* response = std::get_if<Response>(&handled);
    return response == nullptr ? 0 : response->status;
  }
  std::string body(std::uint32_t uid, const std::string& path) {
    const Handled handled = service_.handle(request("GET", path), caller(uid), 7);
    return std::get<Response>(handled).body;
  }
  // What is answered, by the controller if it has to.
  Response answer(std::uint32_t uid, const std::string& method, const std::string& path,
                  const std::string& text = "") {
    Handled handled = service_.handle(request(method, path, text), caller(uid), 7);
    if (auto* response = std::get_if<Response>(&handled)) return std::move(*response);
    const std::vector<control::Input> inputs{std::get<control::Input>(std::move(handled))};
    return service_.response_to(controller_.step(Micros{2}, inputs).replies.at(0));
  }
  control::Reply submit(std::uint32_t uid, const std::string& text) {
    Handled handled = service_.handle(request("POST", "/v1/jobs", text), caller(uid), 7);
    const std::vector<control::Input> inputs{std::get<control::Input>(std::move(handled))};
    return controller_.step(Micros{2}, inputs).replies.at(0);
  }

  Surroundings around_;
  std::string closed_;
  control::Controller controller_;
  Service service_;
};

// A job that ended after two attempts, as the store has it.
inline store::Contents some_contents() {
  store::Contents contents;
  control::JobSpec spec;
  spec.argv = {"./train", "--fast"};
  spec.environment = {"A=b"};
  spec.directory = "/tmp";
  spec.name = "train";
  spec.memory_gib = 9.5;
  spec.deadline = Micros{1'700'000'100'000'000};
  spec.times[0] = Micros{1'200'000'000};
  spec.times[4] = Micros{300'500'000};
  spec.checkpoint = {"save"};
  spec.time_limit = Micros{60'000'000};
  spec.comment = "a line";
  store::JobRow job;
  job.progress = {{1}, 6, 2, 9.5, 1'700'000'002'500'000, "exit status 3"};
  job.submitted_us = 1'700'000'000'000'000;
  job.uid = job.gid = kAnn;
  job.spec = control::encode_spec(spec);
  contents.jobs = {job};
  contents.attempts = {{1, 1, 3, "GPU-0", "MIG-1", "2g.10gb", 4, 1'700'000'001'000'000,
                        1'700'000'001'500'000, -1, 9, 1.25, 70.5, "signal 9"},
                       {1, 2, 3, "GPU-0", "MIG-2", "2g.10gb", 2, 1'700'000'002'000'000,
                        1'700'000'002'500'000, 3, 0, 2.25, 7.25, "exit status 3"}};
  return contents;
}

}  // namespace partita::api::test
