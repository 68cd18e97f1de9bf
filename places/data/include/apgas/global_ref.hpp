// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <apgas/at.hpp>
#include <apgas/place.hpp>
#include <apgas/places/global_table.hpp>
#include <apgas/sync/task.hpp>

// References that may be sent.
namespace apgas::inline v0 {

template <class T>
class global_ref;

namespace detail {

// make_global<T>(...) makes a T, make_global(x) a copy of x.
template <class T, class... Args>
struct made_type {
  using type = T;
};
template <class Arg>
struct made_type<void, Arg> {
  using type = std::decay_t<Arg>;
};

}  // namespace detail

// Makes a T here, from the arguments, that lives until forget(), or until the end of the run.
//
//   auto sum = make_global<std::atomic<long>>(0);
//   finish([sum] { for (place p : places()) async_at(p, [sum] {
//     const long mine = count();
//     at(sum.home(), [sum, mine] { *sum += mine; });
//   }); });
//
// Throws: what the constructor throws. Context: task. Cost: an allocation, a short lock.
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

// Names an object of one place, its home, at all places. A handle: trivially copyable, 16 bytes;
// copying registers nothing, and all copies are stale after forget().
template <class T>
class global_ref {
 public:
  // Refers to nothing; home is place 0.
  global_ref() = default;

  place home() const noexcept { return remote::trusted_place(id_.home); }

  // The object. Throws: bad_place elsewhere than at home; illegal_operation when it is gone.
  // Context: task. Cost: a few loads; keep the reference in a loop.
  T& operator*() const {
    scheduler::fiber& self = sync::task_fiber("global_ref");
    void* object = nullptr;
    if (sync::place_of(self).here == id_.home) object = remote::global_table_of(self).find(id_);
    if (object == nullptr) [[unlikely]]
      remote::throw_no_object(self, id_, "global_ref");
    return *static_cast<T*>(object);
  }
  T* operator->() const { return std::addressof(**this); }

  // Ends the object; at another place it goes home for that. Requires: nobody uses it.
  // Throws: illegal_operation when it is gone. Context: task; may suspend at another place.
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

  // The same object, or both none.
  bool operator==(const global_ref&) const = default;

 private:
  template <class U, class... Args>
  friend auto make_global(Args&&... args)
      -> global_ref<typename detail::made_type<U, Args...>::type>;
  explicit global_ref(const remote::global_id& id) noexcept : id_(id) {}

  remote::global_id id_;
};

}  // namespace apgas::inline v0
