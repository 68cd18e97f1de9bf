// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/sync/task.hpp>

// The closure of a task whose type has been erased, for tasks that are made now and start later.
namespace apgas::inline v0::sync {

// Owns a closure, which is run once or discarded.
class task_body {
 public:
  // run(object) must call the closure and destroy it; discard(object) must destroy it.
  task_body(void (*run)(void*), void (*discard)(void*) noexcept, void* object) noexcept
      : run_(run), discard_(discard), object_(object) {}

  template <std::invocable F>
    requires(!std::same_as<std::remove_cvref_t<F>, task_body>)
  task_body(F&& f)  // NOLINT(*-explicit-*): async_await takes any closure
      : task_body(&run_closure<std::decay_t<F>>, &discard_closure<std::decay_t<F>>,
                  new std::decay_t<F>(std::forward<F>(f))) {}

  task_body(task_body&& other) noexcept
      : run_(other.run_),
        discard_(other.discard_),
        object_(std::exchange(other.object_, nullptr)) {}
  task_body& operator=(task_body&&) = delete;
  ~task_body() {
    if (object_ != nullptr) discard_(object_);
  }

  // Runs the closure. Requires: it has been neither run nor spawned.
  void operator()() { run_(std::exchange(object_, nullptr)); }

  // Spawns a child task of the running one that runs the closure. Context: task that may suspend.
  void spawn(scheduler::fiber& self, const char* name, std::source_location site) && {
    sync::spawn(self, slot_closure{run_, object_, name}, site);
    object_ = nullptr;
  }

 private:
  // What lies in the slot. It needs no destructor, because a slot is always run unless the process
  // ends.
  struct slot_closure {
    void (*run)(void*);
    void* object;
    const char* name;

    void operator()() const {
      scheduler::fiber& self = *scheduler::current_fiber();
      self.task.name = name;
      run(object);
      self.task.name = nullptr;
    }
  };
  static_assert(scheduler::fits_slot<slot_closure>);

  template <class F>
  static void run_closure(void* object) {
    const std::unique_ptr<F> f(static_cast<F*>(object));
    (*f)();
  }
  template <class F>
  static void discard_closure(void* object) noexcept {
    delete static_cast<F*>(object);
  }

  void (*run_)(void*);
  void (*discard_)(void*) noexcept;
  void* object_;
};

}  // namespace apgas::inline v0::sync
