#include "control/journal/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/byte_codec.h"
#include "base/check.h"
#include "control/journal/foreign_records.h"

namespace partita::control {
namespace {

// Raise them when what is written below changes; an older journal is then refused by name. The
// second also says what a preemption costs, and is written only where there are any, so that a
// journal without can be read by whoever wrote the first. The third also says how users share, the
// fourth who may have how much.
constexpr std::int64_t kJournalFormat = 1;
constexpr std::int64_t kFormatWithPreemption = 2;
constexpr std::int64_t kFormatWithQueue = 3;
constexpr std::int64_t kFormatWithQuotas = 4;

// Above what a command line may say, and far from overflow when a few are added.
constexpr std::int64_t kQuotaMost = 1'000'000'000'000;
constexpr Micros kRestartCostMax = Micros::seconds(100'000'000'000);

using PreemptionMode = decide::Preemption::Mode;

std::int64_t format_of(const Beginning& beginning) {
  if (beginning.options.quotas.any()) return kFormatWithQuotas;
  if (beginning.options.queue.any()) return kFormatWithQueue;
  const bool preempts = beginning.options.preemption.mode != PreemptionMode::kNone;
  return preempts ? kFormatWithPreemption : kJournalFormat;
}

// ---- a record as bytes, and back

class Put {
 public:
  template <typename T>
  void operator()(const Field& field, const T& value) {
    CHECK(field.encoding != Encoding::kNamed);  // bytes have no names: raise the format instead
    put(value);
  }
  template <typename T>
  void put(const T& value) {
    if constexpr (WholeNumber<T>) {
      writer.integer(to_whole(value));
    } else if constexpr (std::same_as<T, double>) {
      writer.real(value);
    } else if constexpr (std::same_as<T, std::string>) {
      writer.text(value);
    } else if constexpr (std::same_as<T, JobSpec>) {
      writer.text(encode_spec(value));
    } else if constexpr (kIsList<T>) {
      writer.integer(static_cast<std::int64_t>(value.size()));
      for (const auto& each : value) put(each);
    } else if constexpr (kIsOptional<T>) {
      writer.flag(value.has_value());
      if (value) put(*value);
    } else {
      Description<T>::fields(value, *this);
    }
  }

  ByteWriter writer;
};

class Get {
 public:
  explicit Get(std::string_view bytes) : reader(bytes) {}

  template <typename T>
  void operator()(const Field& field, T& value) {
    if constexpr (std::same_as<T, bool>) {
      value = reader.up_to(1) != 0;
    } else if constexpr (WholeNumber<T>) {
      const bool any = field.most == kNoLimit;
      set_whole(value,
                any ? reader.integer() : reader.up_to(static_cast<std::int64_t>(field.most)));
    } else if constexpr (std::same_as<T, double>) {
      value = reader.real();
    } else if constexpr (std::same_as<T, std::string>) {
      value = reader.text();
    } else if constexpr (std::same_as<T, JobSpec>) {
      Result<JobSpec> decoded = decode_spec(reader.text());
      if (decoded) value = *std::move(decoded);
      if (!decoded) reader.up_to(-1);  // nothing that follows counts
    } else if constexpr (kIsList<T>) {
      value.resize(reader.count());
      for (auto& each : value) (*this)(field, each);
    } else if constexpr (kIsOptional<T>) {
      if (reader.flag()) (*this)(field, value.emplace());
    } else {
      Description<T>::fields(value, *this);
    }
  }
  template <typename T>
  void get(T& value) {
    (*this)(Field{}, value);
  }

  ByteReader reader;
};

bool is_usable(const decide::QueueRules& rules) {
  if (rules.reserve_after && *rules.reserve_after < Micros{}) return false;
  return rules.half_life > Micros{} && std::ranges::all_of(rules.weights, [](const auto& each) {
           return std::isfinite(each.second) && each.second > 0;
         });
}

bool is_usable(const QuotaRules& quotas) {
  const auto count = [](std::optional<std::int64_t> most) {
    return most.value_or(0) >= 0 && most.value_or(0) <= kQuotaMost;
  };
  const auto use = [](std::optional<double> most) {
    return std::isfinite(most.value_or(0)) && most.value_or(0) >= 0;
  };
  return std::ranges::all_of(quotas.rules, [&](const QuotaRule& rule) {
    const QuotaAmounts& most = rule.most;
    const bool sizes = std::ranges::all_of(most.instances, [&](const QuotaAmounts::OfSize& each) {
      return each.size >= 1 && each.size <= mig::kComputeSlicesMax && count(each.most);
    });
    return sizes && count(most.jobs) && count(most.running) && count(most.slices) &&
           use(most.gpu_hours) && use(most.joules);
  });
}

// What restore() and the constructor ask of it.
bool is_usable(const Beginning& beginning) {
  const mig::GpuModel& model = beginning.model;
  const Micros cost = beginning.options.preemption.cost;
  if (cost < Micros{} || cost > kRestartCostMax) return false;
  if (!is_usable(beginning.options.queue) || !is_usable(beginning.options.quotas)) return false;
  if (beginning.gpus.empty() || model.profiles.empty() || model.power_curves.empty()) return false;
  if (model.profiles.size() > mig::kProfilesMax) return false;
  for (const Inventory& inventory : beginning.inventories) {
    if (inventory.gpu.value >= beginning.gpus.size()) return false;
    for (const device::Instance& instance : inventory.instances) {
      if (instance.placement.profile >= model.profiles.size()) return false;
    }
  }
  return true;
}

// ---- inputs, each behind the number of its kind

bool same_slices(const Reading& a, const Reading& b) {
  return a.slices.size() == b.slices.size() &&
         std::equal(
             a.slices.begin(), a.slices.end(), b.slices.begin(),
             [](const auto& x, const auto& y) { return x.start == y.start && x.uuid == y.uuid; });
}

void put_reading(Put& way, const Reading& reading, LastSeen& last) {
  Reading& before = last.readings[reading.gpu.value];
  const bool same = same_slices(reading, before);
  visit_each(way, reading.gpu, reading.energy_j, reading.power_w, same);
  if (!same) way.put(reading.slices);
  for (std::size_t i = 0; same && i < reading.slices.size(); ++i) {
    const bool unchanged = reading.slices[i].used_gib == before.slices[i].used_gib;
    way.put(unchanged);
    if (!unchanged) way.put(reading.slices[i].used_gib);
  }
  before = reading;
}

void get_reading(Get& way, Reading& reading, LastSeen& last) {
  bool same = false;
  visit_each(way, reading.gpu, reading.energy_j, reading.power_w, same);
  if (same) {
    reading.slices = last.readings[reading.gpu.value].slices;
    for (Reading::SliceMemory& slice : reading.slices) {
      bool unchanged = false;
      way.get(unchanged);
      if (!unchanged) way.get(slice.used_gib);
    }
  } else {
    way.get(reading.slices);
  }
  if (way.reader.good()) last.readings[reading.gpu.value] = reading;
}

void put_inventory(Put& way, const Inventory& inventory, LastSeen& last) {
  std::vector<device::Instance>& before = last.instances[inventory.gpu.value];
  const bool same = inventory.instances == before;
  way.put(same);
  if (same) return way.put(inventory.gpu);
  way.put(inventory);
  before = inventory.instances;
}

void get_inventory(Get& way, Inventory& inventory, LastSeen& last) {
  bool same = false;
  way.get(same);
  if (same) {
    way.get(inventory.gpu);
    inventory.instances = last.instances[inventory.gpu.value];
    return;
  }
  way.get(inventory);
  if (way.reader.good()) last.instances[inventory.gpu.value] = inventory.instances;
}

// Of what is written as a difference.
template <typename T>
concept Differential = std::is_same_v<std::remove_cvref_t<T>, Reading> ||
    std::is_same_v<std::remove_cvref_t<T>, Inventory>;

template <std::size_t kIndex = 0>
Input input_of_kind(std::size_t index) {
  if constexpr (kIndex + 1 < std::variant_size_v<Input>) {
    if (index != kIndex) return input_of_kind<kIndex + 1>(index);
  }
  return Input(std::in_place_index<kIndex>);
}

}  // namespace

std::optional<GpuId> gpu_of(const Input& input) {
  return std::visit(
      [](const auto& each) -> std::optional<GpuId> {
        if constexpr (requires { each.gpu; }) return each.gpu;
        return {};
      },
      input);
}

std::string encode_beginning(const Beginning& beginning) {
  Put put;
  const std::int64_t format = format_of(beginning);
  put.put(format);
  if (format == kFormatWithQuotas) put.put(beginning.options.quotas);
  if (format >= kFormatWithQueue) {
    put.put(beginning.options.preemption.mode == PreemptionMode::kPays);
    put.put(beginning.options.queue);
  }
  if (format != kJournalFormat) put.put(beginning.options.preemption.cost);
  put.put(beginning);
  return put.writer.take();
}

Result<Beginning> decode_beginning(std::string_view bytes) {
  Get get(bytes);
  std::int64_t format = 0;
  get.get(format);
  if (get.reader.good() && (format < kJournalFormat || format > kFormatWithQuotas)) {
    return Error{fmt::format("it has format {}; this partita reads formats {} to {}", format,
                             kJournalFormat, kFormatWithQuotas)};
  }
  Beginning beginning;
  bool pays = format == kFormatWithPreemption;
  if (format == kFormatWithQuotas) get.get(beginning.options.quotas);
  if (format >= kFormatWithQueue) {
    get.get(pays);
    get.get(beginning.options.queue);
  }
  if (pays) beginning.options.preemption.mode = PreemptionMode::kPays;
  if (format > kJournalFormat) get.get(beginning.options.preemption.cost);
  get.get(beginning);
  if (!get.reader.good_to_the_end() || !is_usable(beginning)) {
    return Error{"it does not say how the daemon began"};
  }
  return beginning;
}

std::string InputWriter::encode(std::span<const Input> inputs) {
  Put put;
  for (const Input& input : inputs) {
    put.writer.integer(static_cast<std::int64_t>(input.index()));
    if (const auto* reading = std::get_if<Reading>(&input)) put_reading(put, *reading, last_);
    if (const auto* found = std::get_if<Inventory>(&input)) put_inventory(put, *found, last_);
    std::visit(
        [&](const auto& each) {
          if constexpr (!Differential<decltype(each)>) put.put(each);
        },
        input);
  }
  return put.writer.take();
}

Result<std::vector<Input>> InputReader::decode(std::string_view bytes) {
  Get get(bytes);
  std::vector<Input> inputs;
  while (get.reader.good() && !get.reader.good_to_the_end()) {
    const std::int64_t kind = get.reader.up_to(std::variant_size_v<Input> - 1);
    inputs.push_back(input_of_kind(static_cast<std::size_t>(kind)));
    if (auto* reading = std::get_if<Reading>(&inputs.back())) get_reading(get, *reading, last_);
    if (auto* found = std::get_if<Inventory>(&inputs.back())) get_inventory(get, *found, last_);
    std::visit(
        [&](auto& each) {
          if constexpr (!Differential<decltype(each)>) get.get(each);
        },
        inputs.back());
  }
  if (!get.reader.good()) return Error{"its inputs cannot be read"};
  return inputs;
}

}  // namespace partita::control
