// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <apgas/sync/branch.hpp>
#include <apgas/sync/monitor_core.hpp>
#include <apgas/sync/task.hpp>

// Critical sections of a monitor, as closures with a result.
namespace apgas::inline v0::sync {

// The condition of a critical section.
struct always {
  bool operator()() const noexcept { return true; }
};

// The queues in which a section waits. Null stands for the queue of the monitor.
template <std::size_t N>
using section_queues = std::array<section_queue*, N>;
inline constexpr section_queues<1> queue_of_monitor{nullptr};

// A waiting section together with its condition, its body and its result. It refers to condition
// and body, which live on the stack of the waiting task.
template <class C, class F, std::size_t Queues = 1>
class typed_section : public waiting_section {
 public:
  using value = value_of<std::invoke_result_t<F&>>;

  typed_section(C& c, F& f, const section_queues<Queues>& queues = queue_of_monitor) noexcept
      : condition_(c), body_(f) {
    for (std::size_t i = 0; i < Queues; ++i) places_[i].in = queues[i];
    entries = places_;
    if constexpr (!std::is_same_v<std::remove_const_t<C>, always>) {
      condition = [](waiting_section& s) {
        return static_cast<bool>(std::invoke(static_cast<typed_section&>(s).condition_));
      };
    }
    body = [](waiting_section& s) {
      auto& self = static_cast<typed_section&>(s);
      self.result_.emplace(value_from(self.body_));
    };
  }

  // Returns the result of the body. Requires: the section has been run.
  value take() { return *std::move(result_); }

 private:
  std::array<queue_entry, Queues> places_;
  C& condition_;
  F& body_;
  std::optional<value> result_;
};

// While it lives, the calling task counts as being inside a critical section.
class section_guard {
 public:
  explicit section_guard(scheduler::fiber& self) noexcept : self_(self) {
    ++self.task.rare.atomic_depth;
  }
  section_guard(const section_guard&) = delete;
  section_guard& operator=(const section_guard&) = delete;
  ~section_guard() { --self_.task.rare.atomic_depth; }

 private:
  scheduler::fiber& self_;
};

// While it lives, the calling task is inside a critical section of a monitor. Its destructor leaves
// the monitor.
class monitor_guard {
 public:
  monitor_guard(monitor_core& m, scheduler::fiber& self) noexcept : monitor_(&m), self_(self) {
    ++self.task.rare.atomic_depth;
  }
  monitor_guard(const monitor_guard&) = delete;
  monitor_guard& operator=(const monitor_guard&) = delete;
  ~monitor_guard() {
    if (monitor_ == nullptr) return;
    --self_.task.rare.atomic_depth;
    monitor_->leave(self_);
  }
  // Ends the critical section without leaving the monitor.
  void keep() noexcept {
    --self_.task.rare.atomic_depth;
    monitor_ = nullptr;
  }

 private:
  monitor_core* monitor_;
  scheduler::fiber& self_;
};

// Calls the body of a section that the task runs itself.
template <class F>
auto section_value(F& f) -> std::invoke_result_t<F&> {
  static_assert(!std::is_reference_v<std::invoke_result_t<F&>>,
                "a critical section returns by value: what it refers to may change when it ends");
  return std::invoke(f);
}

// Runs f() as a critical section of m, as apgas::atomic describes.
template <class F>
auto run_atomic(monitor_core& m, scheduler::fiber& self, F& f, const scheduler::call_site& where)
    -> std::invoke_result_t<F&> {
  if (m.held_by(self)) {
    const section_guard nested(self);
    return section_value(f);
  }
  if (m.try_enter(self)) [[likely]] {
    const monitor_guard section(m, self);
    return section_value(f);
  }
  const always condition;
  typed_section<const always, F> s(condition, f);
  m.submit(self, s, where);
  if constexpr (!std::is_void_v<std::invoke_result_t<F&>>) return s.take();
}

// Waits until c() is true and then runs f() in the same critical section of m, as apgas::when
// describes. While the task waits, it is in these queues. Requires: the task is inside no critical
// section.
template <std::size_t Queues = 1, class C, class F>
auto run_when(monitor_core& m, scheduler::fiber& self, C& c, F& f,
              const scheduler::call_site& where,
              const section_queues<Queues>& queues = queue_of_monitor) -> std::invoke_result_t<F&> {
  typed_section<C, F, Queues> s(c, f, queues);
  if (m.try_enter(self)) [[likely]] {
    monitor_guard section(m, self);
    if (std::invoke(c)) return section_value(f);
    section.keep();
    m.wait(self, s, where);
  } else {
    m.submit(self, s, where);
  }
  if constexpr (!std::is_void_v<std::invoke_result_t<F&>>) return s.take();
}

}  // namespace apgas::inline v0::sync
