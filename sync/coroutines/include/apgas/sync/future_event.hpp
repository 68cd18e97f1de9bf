// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/future.hpp>
#include <apgas/sync/coroutine_runner.hpp>

// Awaiting a future: by a task<T>, and by coroutines of other libraries.
namespace apgas::inline v0 {
namespace sync {

// The event that a future is ready, without its type.
class APGAS_API future_core_event : public awaited_event, future_waiter {
 public:
  bool notify(coroutine_runner& waiting) noexcept override;
  scheduler::wait_record waits() const noexcept override {
    return core_.record("co_await of a future", where_);
  }

 protected:
  future_core_event(future_core& core, const scheduler::call_site& where) noexcept
      : core_(core), where_(where) {}
  ~future_core_event() = default;

 private:
  future_core& core_;
  const scheduler::call_site where_;
  coroutine_runner* runner_ = nullptr;
};

template <class T>
class future_event final : public future_core_event {
 public:
  // Throws: illegal_operation for an empty handle.
  future_event(const future<T>& awaited, const scheduler::call_site& where)
      : future_core_event(future_access::state(awaited, "co_await of a future"), where),
        future_(awaited) {}

  bool ready() const { return future_.ready(); }
  future_result<T> result() const { return future_.get(); }

 private:
  const future<T> future_;
};

// Resumes the coroutine at `address` in a task of the caller's finish, once the future is ready.
// Throws: illegal_operation outside a task and inside a critical section; std::bad_alloc.
APGAS_API void resume_foreign_coroutine(future_core& awaited, void* address);

template <class T>
class foreign_awaiter {
 public:
  explicit foreign_awaiter(future<T> awaited) noexcept : future_(std::move(awaited)) {}

  bool await_ready() const {
    suspendable_fiber("co_await of a future");
    return future_.ready();
  }
  void await_suspend(std::coroutine_handle<> self) const {
    resume_foreign_coroutine(future_access::state(future_, "co_await of a future"), self.address());
  }
  future_result<T> await_resume() const { return future_.get(); }

 private:
  const future<T> future_;
};

}  // namespace sync

// Lets coroutines of any type, also of other libraries, await a future while they run in a task of
// this runtime. When the future is ready, the coroutine is resumed in a new task of the caller's
// finish, as by async_await; that task has no name, no registrations and no values of task_local
// objects of the caller. Returns what get() returns. A task<T> awaits a future without this
// operator, and remains the same task.
// Throws: as future::get; illegal_operation outside a task.
// Context: task. Cost: two allocations and a short lock if the future is not ready.
template <class T>
sync::foreign_awaiter<T> operator co_await(const future<T>& awaited) {
  return sync::foreign_awaiter<T>(awaited);
}

}  // namespace apgas::inline v0
