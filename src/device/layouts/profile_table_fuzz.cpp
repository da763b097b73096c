// A driver may say anything: what is accepted as a profile table is a GPU on which layouts can be
// made, named and read back.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "device/layouts/profile_table.h"
#include "mig/layout.h"

namespace {

// Takes numbers off the input, zero when it has ended.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  unsigned byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  // Mostly small, sometimes anything.
  unsigned number() {
    const unsigned first = byte();
    if (first < 240) return first % 20;
    return byte() | byte() << 8U | byte() << 16U | byte() << 24U;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

partita::device::DriverProfile profile_from(Bytes& bytes) {
  partita::device::DriverProfile profile;
  profile.argument = bytes.number();
  profile.info.id = bytes.number();
  profile.info.slice_count = bytes.number();
  profile.info.instance_count = bytes.number();
  profile.info.multiprocessor_count = bytes.number();
  profile.info.memory_size_mb = bytes.number() * 1024ULL;
  const unsigned name = bytes.byte() % 97;
  for (unsigned i = 0; i < name && i < sizeof(profile.info.name); ++i) {
    profile.info.name[i] = static_cast<char>(bytes.byte());
  }
  const unsigned placements = bytes.byte() % 10;
  for (unsigned i = 0; i < placements; ++i) {
    profile.placements.push_back({bytes.number(), bytes.number()});
  }
  return profile;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace partita;
  Bytes bytes(data, size);
  std::vector<device::DriverProfile> table(bytes.byte() % 20);
  for (device::DriverProfile& profile : table) profile = profile_from(bytes);
  const char* const name = bytes.byte() % 2 == 0 ? "NVIDIA H200" : "NVIDIA Z9";
  const auto model = device::model_from_driver(name, bytes.number() * 1024LL, table);
  if (!model) {
    CHECK(!model.error().message.empty());
    return 0;
  }
  CHECK(model->profiles.size() == table.size());
  CHECK(model->change_seconds.size() == model->profiles.size());
  CHECK(model->power_curves.front().watts.size() > static_cast<std::size_t>(model->compute_slices));
  mig::Layout layout;
  for (std::size_t i = 0; i < model->profiles.size(); ++i) {
    for (const std::uint8_t start : model->profiles[i].starts) {
      const mig::Placement placement{static_cast<mig::ProfileIndex>(i), start};
      if (mig::fits(*model, layout, placement)) layout.add(placement);
    }
  }
  CHECK(!mig::format_layout(*model, layout).empty());
  return 0;
}
