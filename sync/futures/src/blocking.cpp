// SPDX-License-Identifier: Apache-2.0
#include <apgas/blocking.hpp>

#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/handoff.hpp>

namespace apgas::inline v0::sync {

void run_blocking(scheduler::fiber& self, void (*run)(void*) noexcept, void* call,
                  const scheduler::call_site& where) {
  struct {
    void (*run)(void*) noexcept;
    void* call;
    handoff done;
  } job{run, call, {}};
  self.on->home->run_on_helper([&job] {
    job.run(job.call);
    job.done.signal();
  });
  job.done.wait({"blocking", nullptr, where});
}

}  // namespace apgas::inline v0::sync
