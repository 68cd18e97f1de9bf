// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <apgas/at.hpp>
#include <apgas/place.hpp>
#include <apgas/places/global_table.hpp>
#include <apgas/sync/task.hpp>

// References to objects that live at one place, usable as names at all places (X10's GlobalRef).
namespace apgas::inline v0 {

template <class T>
class global_ref;

namespace detail {

// The type of the object: T for make_global<T>(args...), the type of x for make_global(x).
template <class T, class... Args>
struct made_type {
  using type = T;
};
template <class Arg>
struct made_type<void, Arg> {
  using type = std::decay_t<Arg>;
};

}  // namespace detail

// Makes an object at this place and returns a reference to it that may be sent:
// make_global<T>(args...) makes a T from the arguments, make_global(x) a copy of x. The object
// lives until forget() is called, or else until the end of the run.
//
//   const apgas::global_ref<std::atomic<long>> sum = apgas::make_global<std::atomic<long>>(0);
//   apgas::finish([sum] {
//     for (apgas::place each : apgas::places()) {
//       apgas::async_at(each, [sum] {
//         const long mine = count();
//         apgas::at(sum.home(), [sum, mine] { *sum += mine; });
//       });
//     }
//   });
//   std::cout << sum->load() << '\n';
//   sum.forget();
//
// Throws: what the constructor throws; std::bad_alloc; illegal_operation outside a task.
// Context: task; does not suspend.
// Cost: an allocation and a short lock.
template <class T = void, class... Args>
auto make_global(Args&&... args) -> global_ref<typename detail::made_type<T, Args...>::type> {
  using made = typename detail::made_type<T, Args...>::type;
  remote::global_table& table = remote::global_table_of(sync::task_fiber("make_global"));
  auto object = std::make_unique<made>(std::forward<Args>(args)...);
  const remote::global_id id = table.reserve();
  table.bind(id, {object.get(), &remote::end_object<made>});
  static_cast<void>(object.release());
  return global_ref<made>(id);
}

// A reference to an object of one place, its *home*. It is a handle: trivially copyable, 16 bytes,
// without pointers. Copying it registers nothing. After forget() all copies are stale, and using
// one throws. Tasks at the home share the object and must synchronise their accesses.
template <class T>
class global_ref {
 public:
  // The empty reference. It refers to no object; its home() is place 0. Context: any thread.
  global_ref() = default;

  // The place that has the object.
  // Context: any thread.
  place home() const noexcept { return remote::trusted_place(id_.home); }

  // The object.
  // Throws: bad_place if called at a place other than the home; illegal_operation if the reference
  // is empty or stale, or outside a task.
  // Context: task, at the home; does not suspend.
  // Cost: four dependent loads. In a loop, keep a T& instead.
  T& operator*() const {
    scheduler::fiber& self = sync::task_fiber("global_ref");
    void* object = nullptr;
    if (sync::place_of(self).here == id_.home) object = remote::global_table_of(self).find(id_);
    if (object == nullptr) [[unlikely]]
      remote::throw_no_object(self, id_, "global_ref");
    return *static_cast<T*>(object);
  }
  T* operator->() const { return std::addressof(**this); }

  // Destroys the object. May be called at any place: at another one than the home it runs there by
  // at.
  // Requires: no task uses the object any more.
  // Throws: illegal_operation if the reference is empty or stale, or outside a task.
  // Context: task. At other places than the home it may suspend and resume on another worker, and
  // throws illegal_operation inside `atomic` or `when`.
  // Cost: a short lock; at other places also a message each way.
  void forget() const {
    scheduler::fiber& self = sync::task_fiber("global_ref::forget");
    if (id_.generation != 0 && sync::place_of(self).here != id_.home) {
      at(home(), [ref = *this] { ref.forget(); });
      return;
    }
    remote::global_table& table = remote::global_table_of(self);
    const remote::global_object gone = table.unbind(id_);
    if (gone.object == nullptr) remote::throw_no_object(self, id_, "global_ref");
    table.give_back(id_);
    gone.end(gone.object);
  }

  // Whether both refer to the same object, or both to none. Context: any thread.
  bool operator==(const global_ref&) const = default;

 private:
  template <class U, class... Args>
  friend auto make_global(Args&&... args)
      -> global_ref<typename detail::made_type<U, Args...>::type>;
  explicit global_ref(const remote::global_id& id) noexcept : id_(id) {}

  remote::global_id id_;
};

}  // namespace apgas::inline v0
