// SPDX-License-Identifier: Apache-2.0
#include <linux/membarrier.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/membarrier.hpp>
#include <apgas/base/shared_barrier.hpp>

namespace apgas::inline v0::base {
namespace {

long call(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0); }

bool register_process() noexcept {
  long offered = call(MEMBARRIER_CMD_QUERY);
  if (offered < 0 || (offered & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return false;
  return call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

}  // namespace

bool membarrier_available() noexcept {
  static const bool available = register_process();
  return available;
}

void membarrier() noexcept {
  if (!membarrier_available()) {
    full_fence();
    return;
  }
  static constinit shared_barrier shared;
  shared.wait([] {
    APGAS_ASSERT(call(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0, "registered, so it cannot fail");
  });
}

}  // namespace apgas::inline v0::base
