// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include <apgas/mutex.hpp>
#include <apgas/shared_mutex.hpp>

// What the watchdog learns of mutexes: which task has locked them.
namespace apgas::inline v0 {

void mutex::explain(const scheduler::wait_record& waits_for, scheduler::wait_explainer& to) {
  auto& m = *const_cast<mutex*>(static_cast<const mutex*>(waits_for.object));
  const scheduler::fiber* holder = nullptr;
  {
    const std::lock_guard hold(m.guard_);
    if (!m.free_.load(base::relaxed)) holder = m.holder_;
  }
  if (holder == nullptr) return;
  to.needs({.address = &m, .kind = "mutex"}, *holder, "has locked it",
           scheduler::releaser::perhaps_another);
}

// Of the readers only the number is known.
void shared_mutex::explain(const scheduler::wait_record& waits_for, scheduler::wait_explainer& to) {
  auto& m = *const_cast<shared_mutex*>(static_cast<const shared_mutex*>(waits_for.object));
  const scheduler::fiber* writer = nullptr;
  {
    const std::lock_guard hold(m.guard_);
    if (m.holders_ == exclusive) writer = m.writer_;
  }
  if (writer == nullptr) return;
  to.needs({.address = &m, .kind = "shared_mutex"}, *writer, "has locked it",
           scheduler::releaser::perhaps_another);
}

}  // namespace apgas::inline v0
