// Requests against a live controller: whoever sends whatever, what is refused changes nothing, what
// is accepted is in the store, and nobody sees or stops what is another's.
//
// The first byte says who calls (the low two bits: root, Ann, Bob, a token) and with which scope;
// the rest is what comes over the connection, one request after the other.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "api/authentication.h"
#include "api/service.h"
#include "api/test_support.h"

namespace {

using namespace partita;  // NOLINT(google-build-using-namespace)

using api::test::kAnn;
using api::test::kBob;
constexpr std::string_view kSecret = "secret-of-ann";
constexpr std::size_t kRequestsMax = 64;

void require(bool holds) {
  if (!holds) std::abort();
}

// What is written down. Jobs that nobody starts have no attempts, slices or intents.
struct Kept {
  store::Contents contents;
  std::vector<store::EventRow> events;

  void commit(const store::Batch& batch) {
    require(batch.attempts.empty() && batch.instances.empty() && batch.intents.empty());
    require(batch.peaks.empty() && batch.forgotten_jobs.empty());
    for (const store::JobRow& row : batch.new_jobs) contents.jobs.push_back(row);
    for (const store::JobProgress& progress : batch.progress) {
      for (store::JobRow& row : contents.jobs) {
        if (row.progress.id == progress.id) row.progress = progress;
      }
    }
    for (const store::EventRow& event : batch.events) {
      events.push_back(event);
      contents.last_event = event.sequence;
    }
  }
};

std::unique_ptr<control::Controller> make_controller(Kept& kept) {
  control::Options options;
  options.limits.queue_jobs_max = 200;  // few, so that the limits are met
  options.limits.array_jobs_max = 50;
  std::vector<control::GpuFact> gpus{{"GPU-0", "A100", GpuId{0}}};
  auto controller = std::make_unique<control::Controller>(
      options, **mig::find_gpu("a100-40gb"), std::move(gpus), std::make_unique<api::test::Idle>(),
      std::make_unique<api::test::Still>());
  const auto turn = controller->restore(Micros{1}, kept.contents, {}, {});
  require(turn.ok());
  kept.commit(turn->batch);
  return controller;
}

class Daemon {
 public:
  explicit Daemon(std::uint8_t who) : controller_(make_controller(kept_)) {
    around_.events = [this](JobNumber job, std::size_t) {
      std::vector<control::EventView> own;
      for (const store::EventRow& event : kept_.events) {
        if (event.job == job) own.push_back(control::view_of(event));
      }
      return own;
    };
    around_.output = [](JobNumber, std::uint64_t, std::size_t) { return std::string("out"); };
    around_.why_closed = [] { return std::string(); };
    tcp_ = (who & 3U) == 3;
    const auto scope = static_cast<api::Scope>((who >> 2U) % 3);
    const std::uint32_t uids[] = {0, kAnn, kBob, kBob};
    caller_.uid = caller_.gid = uids[who & 3U];
    caller_.admin = tcp_ ? scope == api::Scope::kAdmin : caller_.uid == 0;
    if (tcp_) caller_.scope = scope;
    api::Request first;
    first.method = "POST";
    first.path = "/v1/jobs";
    first.body = R"({"argv":["secret-of-ann"],"directory":"/"})";
    handle(first, {kAnn, kAnn});
    require(controller_->jobs().size() == 1);
  }

  void take(const api::Request& request) {
    if (tcp_ && api::refuse_foreign(request, {true, "", "127.0.0.1", 7070})) return;
    if (tcp_ && !api::bearer_of(request)) return;
    handle(request, caller_);
  }

  void check_restored() {
    const store::Contents before = kept_.contents;
    const auto again = make_controller(kept_);
    require(again->jobs().size() == controller_->jobs().size());
    for (const auto& [id, job] : controller_->jobs()) {
      const control::Job* other = again->find(id);
      require(other != nullptr && other->spec == job.spec && other->owner == job.owner);
    }
    require(before.jobs == kept_.contents.jobs);
  }

 private:
  void handle(const api::Request& request, const api::Caller& caller) {
    const store::Contents before = kept_.contents;
    api::Handled handled = api::Service(*controller_, around_).handle(request, caller, 7);
    if (const auto* response = std::get_if<api::Response>(&handled)) {
      check(*response, caller);
      require(before == kept_.contents);
      return;
    }
    const std::vector<control::Input> inputs{std::get<control::Input>(std::move(handled))};
    require(caller.scope >= api::Scope::kSubmit);
    now_ = now_ + Micros{1};
    const control::Turn turn = controller_->step(now_, inputs);
    kept_.commit(turn.batch);
    require(turn.replies.size() == 1);
    const api::Response response = api::Service(*controller_, around_).response_to(turn.replies[0]);
    check(response, caller);
    if (response.status >= 400) require(before == kept_.contents);
    if (response.status < 400) check_accepted(turn.replies[0], caller);
  }

  void check(const api::Response& response, const api::Caller& caller) {
    const bool known = response.status == 200 || response.status == 201 || response.status == 400 ||
                       response.status == 403 || response.status == 404 || response.status == 405 ||
                       response.status == 409 || response.status == 429;
    require(known && !api::to_bytes(response, true).empty());
    if (response.type == "application/json") {
      require(!nlohmann::json::parse(response.body, nullptr, false).is_discarded());
    }
    const bool others = !caller.admin && caller.uid != kAnn;
    if (others && !said_secret_) require(response.body.find(kSecret) == std::string::npos);
  }

  void check_accepted(const control::Reply& reply, const api::Caller& caller) {
    for (const JobNumber id : reply.jobs) {
      const control::Job* job = controller_->find(id);
      require(job != nullptr && (caller.admin || job->owner.uid == caller.uid));
      if (job->owner.uid != caller.uid) continue;
      // One who says it himself may see it again.
      const std::string spec = control::encode_spec(job->spec) + job->key;
      if (caller.uid != kAnn && spec.find(kSecret) != std::string::npos) said_secret_ = true;
    }
  }

  Kept kept_;
  std::unique_ptr<control::Controller> controller_;
  api::Surroundings around_;
  api::Caller caller_;
  bool tcp_ = false;
  bool said_secret_ = false;
  Micros now_{2};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Daemon daemon(data[0]);
  for (std::size_t i = 0; i < kRequestsMax; ++i) {
    const api::Parsed parsed = api::parse_request(bytes);
    if (parsed.state != api::Parsed::State::kWhole) break;
    bytes.remove_prefix(parsed.used);
    daemon.take(parsed.request);
  }
  daemon.check_restored();
  return 0;
}
