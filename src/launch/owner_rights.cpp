#include "launch/owner_rights.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/fd.h"
#include "base/text.h"
#include "base/whole_file.h"

namespace partita::launch {
namespace {

// The bytes of one message that carries a descriptor.
struct DescriptorMessage {
  DescriptorMessage() {
    piece.iov_base = &byte;
    piece.iov_len = 1;
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;

  char byte = 'f';
  iovec piece{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
};

bool send_descriptor(int socket, int fd) {
  DescriptorMessage message;
  cmsghdr* part = CMSG_FIRSTHDR(&message.header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
  return ::sendmsg(socket, &message.header, MSG_NOSIGNAL) == 1;
}

// -1: none came.
int receive_descriptor(int socket) {
  DescriptorMessage message;
  ssize_t size = 0;
  do {
    size = ::recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  const cmsghdr* part = CMSG_FIRSTHDR(&message.header);
  if (size != 1 || part == nullptr || part->cmsg_type != SCM_RIGHTS) return -1;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
  return fd;
}

[[noreturn]] void open_in_child(const Start& start, const std::string& path, bool empty, int socket,
                                int pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  become_owner(start.owner, pipe);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // another user forgets it
  ::umask(022);
  if (::chdir(start.directory.c_str()) != 0) give_up_folder(pipe, start);
  // Not blocking: a named pipe that nobody reads would hold the job up for ever.
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int fd = ::open(path.c_str(), flags | (empty ? O_TRUNC : 0), 0666);
  if (fd < 0) give_up(pipe, path.c_str());
  ::_exit(send_descriptor(socket, fd) ? 0 : 126);
}

}  // namespace

void give_up(int pipe, const char* what) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), "%.384s: %s", what, std::strerror(errno));
  if (::write(pipe, text.data(), std::strlen(text.data())) < 0) ::_exit(126);
  ::_exit(127);
}

void give_up_folder(int pipe, const Start& start) {
  const int why = errno;
  std::array<char, 384> text{};
  std::snprintf(text.data(), text.size(), "the folder of the job, %.340s", start.directory.c_str());
  errno = why;
  give_up(pipe, text.data());
}

void become_owner(const Owner& owner, int pipe) {
  if (::geteuid() != 0 || owner.uid == 0) return;
  const passwd* user = ::getpwuid(owner.uid);
  const bool groups =
      user != nullptr ? ::initgroups(user->pw_name, owner.gid) == 0 : ::setgroups(0, nullptr) == 0;
  if (!groups) give_up(pipe, "the groups of the owner cannot be set");
  if (::setresgid(owner.gid, owner.gid, owner.gid) != 0) give_up(pipe, "the group cannot be set");
  if (::setresuid(owner.uid, owner.uid, owner.uid) != 0) give_up(pipe, "the user cannot be set");
  if (::setresuid(0, 0, 0) == 0) give_up(pipe, "root could be had back");
}

Result<int> open_as_owner(const Start& start, const std::string& path, bool empty) {
  std::array<int, 2> sockets{-1, -1};
  std::array<int, 2> pipe{-1, -1};
  const bool made = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0 &&
                    ::pipe2(pipe.data(), O_CLOEXEC) == 0;
  const Fd ours(sockets[0]);
  Fd theirs(sockets[1]);
  const Fd told(pipe[0]);
  Fd tell(pipe[1]);
  if (!made) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  const pid_t child = ::fork();
  if (child == 0) open_in_child(start, path, empty, sockets[1], pipe[1]);
  const int trouble = errno;
  ::close(theirs.release());
  ::close(tell.release());
  if (child < 0) return Error{fmt::format("{}: {}", path, std::strerror(trouble))};
  const int fd = receive_descriptor(ours.get());
  std::array<char, 512> why{};
  const ssize_t size = fd >= 0 ? 0 : ::read(told.get(), why.data(), why.size());
  ::waitpid(child, nullptr, 0);
  if (fd >= 0) return fd;
  return Error{size > 0 ? std::string(why.data(), static_cast<std::size_t>(size))
                        : fmt::format("{} cannot be opened", path)};
}

int make_script(const Start& start) {
  Fd fd(::memfd_create("script", MFD_ALLOW_SEALING | MFD_CLOEXEC));
  if (fd.get() < 0 || !write_all(fd.get(), start.script, "script").ok()) return -1;
  // The kernel gives them no permission bits to speak of: the owner of the job may read it.
  ::fchmod(fd.get(), 0444);
  ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd.release();
}

std::vector<std::string> script_argv(const Start& start) {
  const std::string_view text = start.script;
  const std::string_view line = trim(text.substr(2, text.find('\n') - 2));
  const std::size_t blank = line.find_first_of(" \t");
  std::vector<std::string> argv{std::string(line.substr(0, blank))};
  // All that follows is one argument, as the kernel has it.
  if (blank != std::string_view::npos) argv.emplace_back(trim(line.substr(blank)));
  argv.push_back(fmt::format("/dev/fd/{}", kScriptDescriptor));
  argv.insert(argv.end(), start.argv.begin() + 1, start.argv.end());
  return argv;
}

}  // namespace partita::launch
