// Journal: every turn of the controller as bytes, so that it can be replayed later.
//
// The controller is a function of how it was made and of the inputs of its turns. A beginning holds
// the first, a turn the second; the digest of what came out then tells whether a replay gave the
// same. Kept in the store, in the transaction of the turn (docs/concepts/live.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/controller.h"

namespace partita::control {

// One start of the daemon: what Controller and restore() were given, the store's contents aside.
struct Beginning {
  std::string version;  // of the program
  std::string policy;   // "SCHEDULER/REPARTITIONER"
  std::uint64_t seed = 0;
  Options options;
  mig::GpuModel model;
  std::vector<GpuFact> gpus;
  std::vector<Inventory> inventories;
  std::vector<launch::Report> attempts;

  static auto parts(auto& self) {
    return std::tie(self.version, self.policy, self.seed, self.options, self.model, self.gpus,
                    self.inventories, self.attempts);
  }
};

std::string encode_beginning(const Beginning& beginning);
Result<Beginning> decode_beginning(std::string_view bytes);

// What is read off a GPU comes every second and says mostly what the last one said, so what is
// written is the difference. Writer and reader remember the last of each GPU since their beginning.
struct LastSeen {
  std::map<std::uint32_t, Reading> readings;
  std::map<std::uint32_t, std::vector<device::Instance>> instances;
};

class InputWriter {
 public:
  std::string encode(std::span<const Input> inputs);

 private:
  LastSeen last_;
};

class InputReader {
 public:
  Result<std::vector<Input>> decode(std::string_view bytes);

 private:
  LastSeen last_;
};

// The GPU an input is of, if it is of one.
std::optional<GpuId> gpu_of(const Input& input);

// Of everything that a turn says and does; its own rows of the journal aside.
std::int64_t digest_of(const Turn& turn);

}  // namespace partita::control
