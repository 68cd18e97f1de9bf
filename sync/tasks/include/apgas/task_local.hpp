// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <apgas/sync/task_locals.hpp>

// A variable of which each task has its own. It takes the place of thread_local, which tasks must
// not use because they may move between threads.
namespace apgas::inline v0 {

// For the implementation: the type of `inherit`.
struct inherit_t {
  explicit inherit_t() = default;
};

// The argument of a task_local whose values children inherit.
inline constexpr inherit_t inherit{};

// Holds one T for each task of this place that asks for it. The value begins as T{}, follows the
// task when it is suspended and when it moves to another worker, and is destroyed when the body of
// the task has ended. Only the task itself can reach it.
//
//   apgas::task_local<std::mt19937> engine;
//   apgas::coforall(0, 100, [&](int i) {
//     engine->seed(i);
//     use((*engine)());
//   });
//   apgas::task_local<std::string> user;
//   user.set("alice");
//   assert(user.get() == "alice");
//
// task_local<T> x(inherit) gives each child a copy of the value that its parent had at the spawn,
// if it had one:
//
//   const apgas::task_local<int> depth(apgas::inherit);
//   const std::function<void(const tree&)> visit = [&](const tree& t) {
//     ++*depth;
//     for (const tree& child : t.children) apgas::async([&] { visit(child); });
//   };
//   const tree root{{tree{}, tree{}}};
//   apgas::finish([&] { visit(root); });
//
// Tasks are: what async, async_future and clocked_async spawn, also with a name or a registration;
// the branches of fork_join; and the iterations of coforall. The iterations of a forall and a
// parallel_reduce may share a task, and then its value; it begins as for a child of the task that
// called the loop. A body of a finish, and the conditions and bodies that a task passes to other
// functions, belong to the task. A function that runs at another place, or by `at` at this place,
// begins with T{}, also with `inherit`.
//
// Values outlive the task_local object that they belong to, until their tasks end.
//
// Context: making and destroying it: any thread. get(), set(), * and -> : a task, not inside
// `atomic`, `when` or a monitor, because another task may execute such a section. Nothing suspends.
// The destructor of T must neither throw nor suspend. Source: the task-private data of Chapel's
// tasking layers.
template <class T>
class task_local {
 public:
  // Makes an object whose values begin as T{}, or with `inherit` as that of the parent. Throws
  // nothing.
  task_local()
    requires std::default_initializable<T>
      : task_local(false) {}
  explicit task_local(inherit_t)
    requires std::default_initializable<T> && std::copy_constructible<T>
      : task_local(true) {}
  task_local(const task_local&) = delete;
  task_local& operator=(const task_local&) = delete;

  // Returns the value of the running task. The reference is valid until the task ends.
  // Throws: illegal_operation outside a task and in a critical section; std::bad_alloc and what T{}
  // throws at the first use in a task, which then has no value.
  // Cost: a few ns; at the first use in a task an allocation. Proportional to the number of
  // task_local objects that the task uses.
  T& get() const {
    scheduler::fiber& self = sync::user_of_locals();
    if (sync::local_value* const found = sync::find_local(self, key_)) return value_of(found);
    return add(self);
  }
  T& operator*() const { return get(); }
  T* operator->() const { return std::addressof(get()); }

  // Replaces the value of the running task. Throws: illegal_operation as get(); std::bad_alloc;
  // what moving T throws. Cost: as get().
  void set(T value) const
    requires std::movable<T>
  {
    scheduler::fiber& self = sync::user_of_locals();
    if (sync::local_value* const found = sync::find_local(self, key_)) {
      value_of(found) = std::move(value);
    } else {
      add(self, std::move(value));
    }
  }

 private:
  struct own_value : sync::local_value {
    template <class... Args>
    explicit own_value(std::uint64_t of, Args&&... args)
        : local_value(of), value{std::forward<Args>(args)...} {}
    T value;
  };
  struct inherited_value final : own_value {
    using own_value::own_value;
    sync::local_value* copy() const override { return new inherited_value(this->key, this->value); }
  };

  explicit task_local(bool inherits) noexcept : inherits_(inherits) {}

  static T& value_of(sync::local_value* found) noexcept {
    return static_cast<own_value*>(found)->value;
  }

  template <class... Args>
  T& add(scheduler::fiber& self, Args&&... args) const {
    own_value* made = nullptr;
    if constexpr (std::copy_constructible<T>) {
      if (inherits_) made = new inherited_value(key_, std::forward<Args>(args)...);
    }
    if (made == nullptr) made = new own_value(key_, std::forward<Args>(args)...);
    sync::add_local(self, made, inherits_);
    return made->value;
  }

  const std::uint64_t key_ = sync::new_local_key();
  const bool inherits_;
};

}  // namespace apgas::inline v0
