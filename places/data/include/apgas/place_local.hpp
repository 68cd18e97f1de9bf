// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <apgas/at.hpp>
#include <apgas/finish.hpp>
#include <apgas/place_group.hpp>
#include <apgas/places/global_table.hpp>

// One value at each place of a group, all under one name (X10's PlaceLocalHandle).
namespace apgas::inline v0 {

namespace remote {
struct place_local_access;
}

// Names a T at each place of a group. It is a handle: trivially copyable, 16 bytes, without
// pointers. Copying it registers nothing. The values live until destroy() is called, or else until
// the end of the run; after that all copies are stale, and using one throws.
//
//   auto counts = apgas::place_local<std::vector<int>>::make(
//       apgas::places(), [] { return std::vector<int>(100); });
//   apgas::finish([counts] {
//     apgas::async_at(apgas::places(), [counts] {
//       (*counts)[7]++;
//       counts->push_back(1);
//     });
//   });
//   const std::vector<int> there = counts.fetch(p);
//   counts.destroy();
//
// The values of different places are independent objects. The tasks of one place share one of them
// and must synchronise their accesses.
template <class T>
class place_local {
 public:
  // The empty handle, which names no values. Context: any thread.
  place_local() = default;

  // Makes the values and returns their handle: runs init(args...) once at each place of the group,
  // and keeps the T that it returns, which may be immovable. Returns when all have run. Called by
  // one task, at any place. `init` and `args` must be sendable (at.hpp).
  //
  // Throws: multiple_exceptions with everything that the calls of init threw; then no values
  // remain. Also illegal_operation inside `atomic` or `when`, or outside a task.
  // Context: task, not inside `atomic` or `when`; may suspend and resume on another worker.
  // Cost: one message each way for each place of the group.
  template <class Init, class... Args>
    requires std::constructible_from<T, std::invoke_result_t<Init&, Args&...>> ||
             std::same_as<T, std::invoke_result_t<Init&, Args&...>>
  static place_local make(const place_group& group, Init init, Args... args);

  // Other ways to make one do not compile; the compiler's first error shows how to call make.
  template <class... Args>
    requires(sizeof...(Args) > 0 &&
             !(std::same_as<std::remove_cvref_t<Args>, place_local> || ...) &&
             !(std::same_as<std::remove_cvref_t<Args>, remote::global_id> || ...))
  explicit place_local(Args&&...) {
    require_make<Args...>();
  }
  template <class Init, class... Args>
    requires(!std::invocable<Init&, Args&...>)
  static place_local make(const place_group&, const Init&, const Args&...) {
    return require_make<Init>(), place_local();
  }
  template <class Init>
    requires(!std::convertible_to<Init, place_group>)
  static place_local make(const Init&) {
    return require_make<Init>(), place_local();
  }

  // The value of this place.
  // Throws: bad_place if this place is not in the group; illegal_operation if the handle is empty
  // or stale, or outside a task.
  // Context: task; does not suspend.
  // Cost: four dependent loads. In a loop, keep a T& instead.
  T& operator*() const { return find("place_local"); }
  T* operator->() const { return std::addressof(**this); }

  // Returns a copy of the value at place p. T must be sendable.
  // Throws: what at throws, and what operator* would throw at p.
  // Context: task, not inside `atomic` or `when`; may suspend and resume on another worker.
  // Cost: one message each way.
  T fetch(place p) const {
    return at(p, [v = *this]() -> const T& { return *v; });
  }

  // Destroys the values at all places of the group. Called by one task, at any place.
  // Requires: no task uses the values any more.
  // Throws: illegal_operation if the handle is empty or stale, inside `atomic` or `when`, or
  // outside a task.
  // Context: task, not inside `atomic` or `when`; may suspend and resume on another worker.
  // Cost: one message each way for each place of the group.
  void destroy() const;

  // Whether both name the same values, or both none. Context: any thread.
  bool operator==(const place_local&) const = default;

 private:
  template <class... Args>
  static consteval void require_make() {
    static_assert(sizeof...(Args) == 0,
                  "apgas: a place_local is made by apgas::place_local<T>::make(group, init, "
                  "args...), which calls init(args...) at each place of the group; init returns a "
                  "T: make(apgas::places(), [] { return T(); })");
  }

  friend struct remote::place_local_access;
  explicit place_local(const remote::global_id& id) noexcept : id_(id) {}

  // Finds the value. `what` is the type of handle that the user has; error messages name it.
  T& find(const char* what) const {
    scheduler::fiber& self = sync::task_fiber(what);
    void* object = remote::global_table_of(self).find(id_);
    if (object == nullptr) [[unlikely]]
      remote::throw_no_object(self, id_, what);
    return *static_cast<T*>(object);
  }

  remote::global_id id_;
};

// For handles that contain a place_local: dist_array and dist_grid.
struct remote::place_local_access {
  template <class T>
  static T& get(const place_local<T>& v, const char* what) {
    return v.find(what);
  }
};

template <class T>
template <class Init, class... Args>
  requires std::constructible_from<T, std::invoke_result_t<Init&, Args&...>> ||
           std::same_as<T, std::invoke_result_t<Init&, Args&...>>
place_local<T> place_local<T>::make(const place_group& group, Init init, Args... args) {
  static_assert(comm::require_sendable_closure<Init>());
  sync::suspendable_fiber("place_local::make");
  const remote::global_id id = remote::global_table_here().reserve_for(group);
  std::exception_ptr failure;
  try {
    finish([&] {
      for (place p : group) {
        async_at(
            p,
            [](const remote::global_id& name, Init& make_value, Args&... values) {
              std::unique_ptr<T> object(new T(std::invoke(make_value, values...)));
              remote::global_table_here().bind(name, {object.get(), &remote::end_object<T>});
              static_cast<void>(object.release());
            },
            id, init, args...);
      }
    });
  } catch (...) {
    failure = std::current_exception();
  }
  const place_local made(id);
  if (failure != nullptr) {
    made.destroy();
    std::rethrow_exception(std::move(failure));
  }
  return made;
}

template <class T>
void place_local<T>::destroy() const {
  scheduler::fiber& self = sync::suspendable_fiber("place_local::destroy");
  if (id_.generation == 0) remote::throw_no_object(self, id_, "place_local");
  const place home = remote::trusted_place(id_.home);
  if (home != here()) {
    at(home, [v = *this] { v.destroy(); });
    return;
  }
  const place_group group = remote::global_table_here().take_group(id_);
  finish([&] {
    for (place p : group) {
      async_at(
          p,
          [](const remote::global_id& name) {
            const remote::global_object gone = remote::global_table_here().unbind(name);
            if (gone.object != nullptr) gone.end(gone.object);
          },
          id_);
    }
  });
  remote::global_table_here().give_back(id_);
}

}  // namespace apgas::inline v0
