// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstddef>

#include <sys/syscall.h>
#include <unistd.h>

// The madvise of a kernel without MADV_GUARD_INSTALL, to be preloaded.
extern "C" int madvise(void* address, std::size_t bytes, int advice) {
  constexpr int guard_install = 102;
  if (advice != guard_install)
    return static_cast<int>(syscall(SYS_madvise, address, bytes, advice));
  errno = EINVAL;
  return -1;
}
