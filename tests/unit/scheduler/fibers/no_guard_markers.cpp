// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstddef>

#include <sys/syscall.h>
#include <unistd.h>

// A library to be preloaded: its madvise behaves as in a kernel without MADV_GUARD_INSTALL.
extern "C" int madvise(void* address, std::size_t bytes, int advice) {
  constexpr int guard_install = 102;
  if (advice != guard_install)
    return static_cast<int>(syscall(SYS_madvise, address, bytes, advice));
  errno = EINVAL;
  return -1;
}
