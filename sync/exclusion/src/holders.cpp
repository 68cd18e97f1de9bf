// SPDX-License-Identifier: Apache-2.0
#include <apgas/mutex.hpp>
#include <apgas/shared_mutex.hpp>

// What the watchdog learns of mutexes: which task has locked them.
namespace apgas::inline v0 {

void mutex::explain(const scheduler::wait_record& waits_for, scheduler::wait_explainer& to) {
  const auto& m = *static_cast<const mutex*>(waits_for.object);
  if (m.free_.load(base::relaxed) || m.holder_ == nullptr) return;
  to.needs({.address = &m, .kind = "mutex"}, *m.holder_, "has locked it",
           scheduler::releaser::perhaps_another);
}

// Of the readers only the number is known.
void shared_mutex::explain(const scheduler::wait_record& waits_for, scheduler::wait_explainer& to) {
  const auto& m = *static_cast<const shared_mutex*>(waits_for.object);
  if (m.holders_ != exclusive || m.writer_ == nullptr) return;
  to.needs({.address = &m, .kind = "shared_mutex"}, *m.writer_, "has locked it",
           scheduler::releaser::perhaps_another);
}

}  // namespace apgas::inline v0
