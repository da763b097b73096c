// Device rules as the kernel takes them: a small program that it runs at every open of a device.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "launch/confinement.h"

namespace partita::launch {
namespace {

class Program {
 public:
  // *(u32*)(r1 + offset) into the register.
  void load(std::uint8_t into, std::int16_t offset) {
    add({BPF_LDX | BPF_W | BPF_MEM, into, BPF_REG_1, offset, 0});
  }
  void mask(std::uint8_t reg, std::int32_t bits) {
    add({BPF_ALU64 | BPF_AND | BPF_K, reg, 0, 0, bits});
  }
  // Skips `over` instructions when it is so.
  void skip_if(std::uint8_t test, std::uint8_t reg, std::uint32_t value, std::int16_t over) {
    add({static_cast<std::uint8_t>(BPF_JMP32 | test | BPF_K), reg, 0, over,
         static_cast<std::int32_t>(value)});
  }
  void answer(std::int32_t value) {
    add({BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, value});
    add({BPF_JMP | BPF_EXIT, 0, 0, 0, 0});
  }
  const std::vector<bpf_insn>& code() const { return code_; }

 private:
  struct Words {
    std::uint8_t code;
    std::uint8_t into;
    std::uint8_t from;
    std::int16_t offset;
    std::int32_t value;
  };
  void add(const Words& words) {
    bpf_insn each{};
    each.code = words.code;
    each.dst_reg = words.into & 0xfU;
    each.src_reg = words.from & 0xfU;
    each.off = words.offset;
    each.imm = words.value;
    code_.push_back(each);
  }

  std::vector<bpf_insn> code_;
};

constexpr std::int32_t kAllow = 1;
constexpr std::int32_t kDeny = 0;

// Opening, reading, writing and making of a node are treated alike.
std::vector<bpf_insn> program_of(const DeviceRules& rules) {
  Program program;
  program.load(BPF_REG_2, offsetof(bpf_cgroup_dev_ctx, access_type));
  program.mask(BPF_REG_2, 0xffff);
  program.load(BPF_REG_3, offsetof(bpf_cgroup_dev_ctx, major));
  program.load(BPF_REG_4, offsetof(bpf_cgroup_dev_ctx, minor));
  program.skip_if(BPF_JEQ, BPF_REG_2, BPF_DEVCG_DEV_CHAR, 2);
  program.answer(kAllow);
  for (const DeviceNode& node : rules.allowed) {
    program.skip_if(BPF_JNE, BPF_REG_3, node.major, 3);
    program.skip_if(BPF_JNE, BPF_REG_4, node.minor, 2);
    program.answer(kAllow);
  }
  for (const std::uint32_t major : rules.governed) {
    program.skip_if(BPF_JNE, BPF_REG_3, major, 2);
    program.answer(kDeny);
  }
  program.answer(kAllow);
  return program.code();
}

int call(int command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

}  // namespace

Status attach_device_rules(const std::string& folder, const DeviceRules& rules) {
  const std::vector<bpf_insn> code = program_of(rules);
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  load.insn_cnt = static_cast<std::uint32_t>(code.size());
  load.insns = reinterpret_cast<std::uint64_t>(code.data());
  load.license = reinterpret_cast<std::uint64_t>("");
  const int program = call(BPF_PROG_LOAD, load);
  if (program < 0) {
    return Error{fmt::format("the kernel takes no device rules: {}", std::strerror(errno))};
  }
  const int cgroup = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bpf_attr attach{};
  attach.target_fd = static_cast<std::uint32_t>(cgroup);
  attach.attach_bpf_fd = static_cast<std::uint32_t>(program);
  attach.attach_type = BPF_CGROUP_DEVICE;
  attach.attach_flags = BPF_F_ALLOW_MULTI;  // those of the cgroups above hold as well
  const bool attached = cgroup >= 0 && call(BPF_PROG_ATTACH, attach) == 0;
  const int why = errno;
  if (cgroup >= 0) ::close(cgroup);
  ::close(program);
  if (attached) return {};
  return Error{fmt::format("{} takes no device rules: {}", folder, std::strerror(why))};
}

}  // namespace partita::launch
