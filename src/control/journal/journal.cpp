#include "control/journal/journal.h"

#include <fmt/format.h>

#include "base/byte_codec.h"

namespace partita::control {
namespace {

// Raise them when what is written below changes; an older journal is then refused by name. The
// second also says what a preemption costs, and is written only where there are any, so that a
// journal without can be read by whoever wrote the first.
constexpr std::int64_t kJournalFormat = 1;
constexpr std::int64_t kFormatWithPreemption = 2;

// Above what a command line may say, and far from overflow when a few are added.
constexpr Micros kRestartCostMax = Micros::seconds(100'000'000'000);

using PreemptionMode = decide::Preemption::Mode;

std::int64_t format_of(const Beginning& beginning) {
  const bool preempts = beginning.options.preemption.mode != PreemptionMode::kNone;
  return preempts ? kFormatWithPreemption : kJournalFormat;
}

// ---- one way for both directions
//
// Each `visit` names the fields of a record once; a Put writes them and a Get reads them, so that
// the two cannot differ.

class Put {
 public:
  template <typename T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void number(const T& value, std::int64_t) {
    writer.integer(static_cast<std::int64_t>(value));
  }
  void real(const double& value) { writer.real(value); }
  void text(const std::string& value) { writer.text(value); }
  template <typename T, typename Each>
  void list(const std::vector<T>& values, Each each) {
    writer.integer(static_cast<std::int64_t>(values.size()));
    for (const T& value : values) each(value);
  }
  template <typename T, typename Each>
  void maybe(const std::optional<T>& value, Each each) {
    writer.flag(value.has_value());
    if (value) each(*value);
  }

  ByteWriter writer;
};

class Get {
 public:
  explicit Get(std::string_view bytes) : reader(bytes) {}

  template <typename T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void number(T& value, std::int64_t most) {
    value = static_cast<T>(most == kAny ? reader.integer() : reader.up_to(most));
  }
  void real(double& value) { value = reader.real(); }
  void text(std::string& value) { value = reader.text(); }
  template <typename T, typename Each>
  void list(std::vector<T>& values, Each each) {
    values.resize(reader.count());
    for (T& value : values) each(value);
  }
  template <typename T, typename Each>
  void maybe(std::optional<T>& value, Each each) {
    if (reader.flag()) each(value.emplace());
  }

  static constexpr std::int64_t kAny = -1;
  ByteReader reader;
};

constexpr std::int64_t kAny = Get::kAny;

// `C` is T or const T, as the direction has it.
template <typename Way, typename C>
void visit_placement(Way& way, C& placement) {
  way.number(placement.profile, mig::kProfilesMax - 1);
  way.number(placement.start, mig::kMemorySlicesMax - 1);
}

template <typename Way, typename C>
void visit_key(Way& way, C& key) {
  way.number(key.gpu.value, kAny);
  way.number(key.gi, kAny);
  way.text(key.uuid);
}

template <typename Way, typename C>
void visit_instance(Way& way, C& instance) {
  visit_key(way, instance.key);
  visit_placement(way, instance.placement);
  way.number(instance.compute_instances, kAny);
  way.maybe(instance.ci, [&](auto& ci) { way.number(ci, kAny); });
  way.number(instance.generation, kAny);
}

template <typename Way, typename C>
void visit_inventory(Way& way, C& inventory) {
  way.number(inventory.gpu.value, kAny);
  way.list(inventory.instances, [&](auto& each) { visit_instance(way, each); });
}

template <typename Way, typename C>
void visit_report(Way& way, C& report) {
  way.number(report.kind, static_cast<std::int64_t>(launch::Report::Kind::kVanished));
  way.number(report.key.job, kAny);
  way.number(report.key.number, kAny);
  way.number(report.pid, kAny);
  way.number(report.exit_code, kAny);
  way.number(report.signal, kAny);
  way.number(report.at.count, kAny);
  way.text(report.message);
  way.number(report.over_time, 1);
}

template <typename Way, typename C>
void visit_error(Way& way, C& error) {
  way.number(error.fault, static_cast<std::int64_t>(device::Fault::kUnknown));
  way.text(error.message);
  way.list(error.pids, [&](auto& pid) { way.number(pid, kAny); });
}

template <typename Way, typename C>
void visit_profile(Way& way, C& profile) {
  way.text(profile.name);
  way.number(profile.nvml_id, kAny);
  way.text(profile.nvml_enum);
  way.number(profile.compute_slices, mig::kComputeSlicesMax);
  way.number(profile.memory_slices, mig::kMemorySlicesMax);
  way.real(profile.memory_gib);
  way.number(profile.sms, kAny);
  way.number(profile.instances_max, kAny);
  way.list(profile.starts, [&](auto& start) { way.number(start, mig::kMemorySlicesMax - 1); });
  way.number(profile.media, 1);
  way.number(profile.double_memory, 1);
}

template <typename Way, typename C>
void visit_model(Way& way, C& model) {
  way.text(model.key);
  way.text(model.title);
  way.number(model.compute_slices, mig::kComputeSlicesMax);
  way.number(model.memory_slices, mig::kMemorySlicesMax);
  way.number(model.sms_without_mig, kAny);
  way.list(model.profiles, [&](auto& each) { visit_profile(way, each); });
  way.list(model.change_seconds, [&](auto& each) {
    way.real(each.create);
    way.real(each.destroy);
  });
  way.list(model.power_curves, [&](auto& curve) {
    way.text(curve.name);
    way.list(curve.watts, [&](auto& watts) { way.real(watts); });
  });
}

template <typename Way, typename C>
void visit_limits(Way& way, C& limits) {
  for (auto* each :
       {&limits.queue_jobs_max, &limits.queue_jobs_per_user_max, &limits.finished_jobs_kept_max,
        &limits.array_jobs_max, &limits.argv_bytes_max, &limits.environment_entries_max,
        &limits.name_bytes_max, &limits.key_bytes_max}) {
    way.number(*each, kAny);
  }
  way.number(limits.attempts_max, kAny);
  way.number(limits.losses_max, kAny);
  way.number(limits.time_limit_max.count, kAny);
}

template <typename Way, typename C>
void visit_options(Way& way, C& options) {
  way.number(options.shadow, 1);
  way.maybe(options.early_restart, [&](auto& rule) {
    way.number(rule.readings, kAny);
    way.number(rule.window, kAny);
    way.number(rule.least, kAny);
    way.real(rule.z);
    way.number(rule.confirmations, kAny);
  });
  way.maybe(options.preempt_after, [&](auto& span) { way.number(span.count, kAny); });
  way.number(options.restart_cost.count, kAny);
  way.number(options.pass_interval.count, kAny);
  way.real(options.et_a);
  visit_limits(way, options.limits);
}

template <typename Way, typename C>
void visit_beginning(Way& way, C& beginning) {
  way.text(beginning.version);
  way.text(beginning.policy);
  way.number(beginning.seed, kAny);
  visit_options(way, beginning.options);
  visit_model(way, beginning.model);
  way.list(beginning.gpus, [&](auto& gpu) {
    way.text(gpu.uuid);
    way.text(gpu.name);
    way.number(gpu.device.value, kAny);
  });
  way.list(beginning.inventories, [&](auto& each) { visit_inventory(way, each); });
  way.list(beginning.attempts, [&](auto& each) { visit_report(way, each); });
}

// What restore() and the constructor ask of it.
bool is_usable(const Beginning& beginning) {
  const mig::GpuModel& model = beginning.model;
  const Micros cost = beginning.options.preemption.cost;
  if (cost < Micros{} || cost > kRestartCostMax) return false;
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

void visit_input(Put& way, const Submit& submit) {
  way.number(submit.ticket, kAny);
  way.number(submit.owner.uid, kAny);
  way.number(submit.owner.gid, kAny);
  way.text(submit.key);
  way.text(encode_spec(submit.spec));
  way.number(submit.count, kAny);
}

void visit_input(Get& way, Submit& submit) {
  way.number(submit.ticket, kAny);
  way.number(submit.owner.uid, kAny);
  way.number(submit.owner.gid, kAny);
  way.text(submit.key);
  std::string spec;
  way.text(spec);
  Result<JobSpec> decoded = decode_spec(spec);
  if (decoded) submit.spec = *std::move(decoded);
  if (!decoded) way.reader.up_to(-1);  // nothing that follows counts
  way.number(submit.count, kAny);
}

template <typename Way, typename C>
requires std::is_same_v<std::remove_const_t<C>, Cancel>
void visit_input(Way& way, C& cancel) {
  way.number(cancel.ticket, kAny);
  way.number(cancel.job, kAny);
}

template <typename Way, typename C>
requires std::is_same_v<std::remove_const_t<C>, launch::Report>
void visit_input(Way& way, C& report) {
  visit_report(way, report);
}

template <typename Way, typename C>
requires std::is_same_v<std::remove_const_t<C>, CreateDone>
void visit_input(Way& way, C& done) {
  way.number(done.gpu.value, kAny);
  visit_placement(way, done.placement);
  way.maybe(done.instance, [&](auto& each) { visit_instance(way, each); });
  visit_error(way, done.error);
}

template <typename Way, typename C>
requires std::is_same_v<std::remove_const_t<C>, DestroyDone>
void visit_input(Way& way, C& done) {
  way.number(done.gpu.value, kAny);
  visit_placement(way, done.placement);
  way.number(done.gone, 1);
  visit_error(way, done.error);
}

template <typename Way, typename C>
requires std::is_same_v<std::remove_const_t<C>, GpuHealth>
void visit_input(Way& way, C& health) {
  way.number(health.gpu.value, kAny);
  way.number(health.usable, 1);
  way.text(health.why);
  way.number(health.may_finish, 1);
}

template <typename Way, typename C>
requires std::is_same_v<std::remove_const_t<C>, SliceFault>
void visit_input(Way& way, C& fault) {
  way.number(fault.gpu.value, kAny);
  way.number(fault.start, mig::kMemorySlicesMax - 1);
  way.text(fault.why);
}

template <typename Way, typename C>
requires std::is_same_v<std::remove_const_t<C>, Remark>
void visit_input(Way& way, C& remark) {
  way.text(remark.kind);
  way.text(remark.text);
}

bool same_slices(const Reading& a, const Reading& b) {
  return a.slices.size() == b.slices.size() &&
         std::equal(
             a.slices.begin(), a.slices.end(), b.slices.begin(),
             [](const auto& x, const auto& y) { return x.start == y.start && x.uuid == y.uuid; });
}

void put_reading(Put& way, const Reading& reading, LastSeen& last) {
  Reading& before = last.readings[reading.gpu.value];
  way.number(reading.gpu.value, kAny);
  way.maybe(reading.energy_j, [&](auto& joules) { way.real(joules); });
  way.maybe(reading.power_w, [&](auto& watts) { way.real(watts); });
  const bool same = same_slices(reading, before);
  way.number(same, 1);
  if (!same) {
    way.list(reading.slices, [&](auto& slice) {
      way.number(slice.start, mig::kMemorySlicesMax - 1);
      way.text(slice.uuid);
      way.real(slice.used_gib);
    });
  }
  for (std::size_t i = 0; same && i < reading.slices.size(); ++i) {
    const bool unchanged = reading.slices[i].used_gib == before.slices[i].used_gib;
    way.number(unchanged, 1);
    if (!unchanged) way.real(reading.slices[i].used_gib);
  }
  before = reading;
}

void get_reading(Get& way, Reading& reading, LastSeen& last) {
  way.number(reading.gpu.value, kAny);
  way.maybe(reading.energy_j, [&](auto& joules) { way.real(joules); });
  way.maybe(reading.power_w, [&](auto& watts) { way.real(watts); });
  bool same = false;
  way.number(same, 1);
  if (same) {
    reading.slices = last.readings[reading.gpu.value].slices;
    for (Reading::Slice& slice : reading.slices) {
      bool unchanged = false;
      way.number(unchanged, 1);
      if (!unchanged) way.real(slice.used_gib);
    }
  } else {
    way.list(reading.slices, [&](auto& slice) {
      way.number(slice.start, mig::kMemorySlicesMax - 1);
      way.text(slice.uuid);
      way.real(slice.used_gib);
    });
  }
  if (way.reader.good()) last.readings[reading.gpu.value] = reading;
}

void put_inventory(Put& way, const Inventory& inventory, LastSeen& last) {
  std::vector<device::Instance>& before = last.instances[inventory.gpu.value];
  const bool same = inventory.instances == before;
  way.number(same, 1);
  if (same) return way.number(inventory.gpu.value, kAny);
  visit_inventory(way, inventory);
  before = inventory.instances;
}

void get_inventory(Get& way, Inventory& inventory, LastSeen& last) {
  bool same = false;
  way.number(same, 1);
  if (same) {
    way.number(inventory.gpu.value, kAny);
    inventory.instances = last.instances[inventory.gpu.value];
    return;
  }
  visit_inventory(way, inventory);
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
  put.number(format, kAny);
  if (format == kFormatWithPreemption) put.number(beginning.options.preemption.cost.count, kAny);
  visit_beginning(put, beginning);
  return put.writer.take();
}

Result<Beginning> decode_beginning(std::string_view bytes) {
  Get get(bytes);
  std::int64_t format = 0;
  get.number(format, kAny);
  if (get.reader.good() && format != kJournalFormat && format != kFormatWithPreemption) {
    return Error{fmt::format("it has format {}; this partita reads formats {} and {}", format,
                             kJournalFormat, kFormatWithPreemption)};
  }
  Beginning beginning;
  if (format == kFormatWithPreemption) {
    beginning.options.preemption.mode = PreemptionMode::kPays;
    get.number(beginning.options.preemption.cost.count, kAny);
  }
  visit_beginning(get, beginning);
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
          if constexpr (!Differential<decltype(each)>) visit_input(put, each);
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
          if constexpr (!Differential<decltype(each)>) visit_input(get, each);
        },
        inputs.back());
  }
  if (!get.reader.good()) return Error{"its inputs cannot be read"};
  return inputs;
}

}  // namespace partita::control
