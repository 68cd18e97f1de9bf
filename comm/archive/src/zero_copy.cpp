// SPDX-License-Identifier: Apache-2.0

#include <apgas/comm/zero_copy.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <apgas/base/exit_reason.hpp>
#include <apgas/errors.hpp>

namespace apgas::inline v0::comm {

namespace {

// Returns 0 or an errno value.
int read_process(const cma_process& from, std::uint64_t address, std::span<std::byte> to) noexcept {
  while (!to.empty()) {
    const iovec here{to.data(), to.size()};
    const iovec there{reinterpret_cast<void*>(address), to.size()};
    const ssize_t bytes =
        process_vm_readv(static_cast<pid_t>(from.process), &here, 1, &there, 1, 0);
    if (bytes <= 0) return bytes == 0 ? EFAULT : errno;
    address += static_cast<std::uint64_t>(bytes);
    to = to.subspan(static_cast<std::size_t>(bytes));
  }
  return 0;
}

bool is_here(const cma_process& from) noexcept {
  const cma_process& here = this_cma_process();
  return from.nonce_address == here.nonce_address && std::ranges::equal(from.nonce, here.nonce);
}

// Whether a read has failed because the process has ended. If the kernel has killed it for lack of
// memory, parts of its memory may be lost before that, and with them the nonce.
bool has_ended(const cma_process& from, int error) noexcept {
  return error == ESRCH || (error == EFAULT && !can_read(from));
}

// The end of that process ends the job. Another thread or place reports it and ends this process,
// so the program must not see an error that follows from it. Returns if that does not happen, for
// example because there is no failure detector.
void wait_for_end_of_job() noexcept {
  constexpr std::chrono::seconds patience{5};
  while (base::others_print_exit_reason_within(patience)) pause();
}

}  // namespace

const cma_process& this_cma_process() noexcept {
  static const struct here : cma_process {
    here() noexcept {
      if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce) return;
      process = static_cast<std::uint32_t>(getpid());
      struct stat file{};
      if (stat("/proc/self/ns/user", &file) == 0) {
        user_namespace = static_cast<std::uint32_t>(file.st_ino);
      }
      nonce_address = reinterpret_cast<std::uintptr_t>(&nonce);
    }
  } here;
  return here;
}

bool can_read(const cma_process& from) noexcept {
  if (from.process == 0) return false;
  if (is_here(from)) return true;
  if (from.user_namespace != this_cma_process().user_namespace) return false;
  std::uint64_t found[2] = {};
  return read_process(from, from.nonce_address, std::as_writable_bytes(std::span(found))) == 0 &&
         std::ranges::equal(found, from.nonce);
}

const std::byte* address_here(const cma_process& from, std::uint64_t address) noexcept {
  return is_here(from) ? reinterpret_cast<const std::byte*>(address) : nullptr;
}

void read_remote_process(const cma_process& from, std::uint64_t address, std::span<std::byte> to) {
  const int error = read_process(from, address, to);
  if (error == 0) return;
  if (has_ended(from, error)) {
    wait_for_end_of_job();
    throw serialization_error(fmt::format(
        "process {} on this host ended before {} bytes of its memory were read; the message about "
        "that process says why",
        from.process, to.size()));
  }
  throw serialization_error(
      fmt::format("cannot read {} bytes of the memory of process {} on this host ({}). Remedy: "
                  "APGAS_ONE_SIDED=messages",
                  to.size(), from.process, std::system_category().message(error)));
}

bool cma_peer::readable() noexcept {
  answer known = readable_.load(base::relaxed);
  if (known == answer::unknown) {
    known = can_read(process_) ? answer::yes : answer::no;
    readable_.store(known, base::relaxed);
  }
  return known == answer::yes;
}

}  // namespace apgas::inline v0::comm
