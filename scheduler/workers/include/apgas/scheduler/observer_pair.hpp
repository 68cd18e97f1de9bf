// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/scheduler/task_observer.hpp>

// Two observers of one run. The cause of a resumption is that of the first one.
namespace apgas::inline v0::scheduler {

class observer_pair final : public task_observer {
 public:
  // The two observers must outlive this object.
  observer_pair(task_observer& first, task_observer& second) noexcept
      : first_(first), second_(second) {}

  void spawned(fiber& parent, observed_task& child) noexcept override {
    first_.spawned(parent, child);
    second_.spawned(parent, child);
  }
  void begins(fiber& self, observed_task& task) noexcept override {
    first_.begins(self, task);
    second_.begins(self, task);
  }
  void ends(fiber& self, observed_task& task) noexcept override {
    second_.ends(self, task);
    first_.ends(self, task);
  }
  void described(fiber& self) noexcept override {
    first_.described(self);
    second_.described(self);
  }
  void suspends(fiber& self, const wait_record& why) noexcept override {
    second_.suspends(self, why);
    first_.suspends(self, why);
  }
  void resumes(fiber& self, std::uint64_t cause) noexcept override {
    first_.resumes(self, cause);
    second_.resumes(self, cause);
  }
  std::uint64_t makes_ready(const fiber& f) noexcept override {
    static_cast<void>(second_.makes_ready(f));
    return first_.makes_ready(f);
  }
  std::uint64_t submits() noexcept override {
    static_cast<void>(second_.submits());
    return first_.submits();
  }
  void joined(fiber& self, const task_counter& counter, const call_site& where) noexcept override {
    first_.joined(self, counter, where);
    second_.joined(self, counter, where);
  }
  void reaches_places(const task_counter& finish) noexcept override {
    first_.reaches_places(finish);
    second_.reaches_places(finish);
  }
  void replies(const task_counter& finish) noexcept override {
    first_.replies(finish);
    second_.replies(finish);
  }
  void returns(const task_counter& finish, bool with_reply) noexcept override {
    first_.returns(finish, with_reply);
    second_.returns(finish, with_reply);
  }
  void published(const void* event) noexcept override {
    first_.published(event);
    second_.published(event);
  }
  void awaited(fiber& self, const void* event) noexcept override {
    first_.awaited(self, event);
    second_.awaited(self, event);
  }
  void phase_ends(const void* node, const wait_record* of) noexcept override {
    first_.phase_ends(node, of);
    second_.phase_ends(node, of);
  }
  void worker_begins(worker& w, worker_activity what) noexcept override {
    first_.worker_begins(w, what);
    second_.worker_begins(w, what);
  }
  void worker_did(worker& w, worker_activity what, std::uint64_t begun,
                  std::uint64_t detail) noexcept override {
    first_.worker_did(w, what, begun, detail);
    second_.worker_did(w, what, begun, detail);
  }

 private:
  task_observer& first_;
  task_observer& second_;
};

}  // namespace apgas::inline v0::scheduler
