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

// A value at each of several places under one name.
namespace apgas::inline v0 {

namespace remote {
struct place_local_access;
}

// A handle: trivially copyable, 16 bytes; copying registers nothing, and all copies are stale after
// destroy(). The values last until then, or until the end of the run.
//
//   auto counts = place_local<std::vector<int>>::make(places(), [] { return std::vector<int>(100);
//   }); finish([counts] { for (place p : places()) async_at(p, [counts] { (*counts)[7]++; }); });
//
// Values at different places are different objects; tasks of one place share one, and must
// synchronise.
template <class T>
class place_local {
 public:
  // Names nothing.
  place_local() = default;

  // Makes the values: init(args...) runs once at each place of the group and returns T (which may
  // be immovable), and the call returns when all have run. Called by one task, at any place.
  //
  // Throws: multiple_exceptions with what any init threw; then there are no values.
  // Context: task; not inside an atomic section. May suspend. Cost: a message to each place.
  template <class Init, class... Args>
    requires std::constructible_from<T, std::invoke_result_t<Init&, Args&...>> ||
             std::same_as<T, std::invoke_result_t<Init&, Args&...>>
  static place_local make(const place_group& group, Init init, Args... args);

  // The value here. Throws: bad_place where the group does not contain this place;
  // illegal_operation after destroy(). Context: task. Cost: a few loads; keep it in a loop.
  T& operator*() const { return find("place_local"); }
  T* operator->() const { return std::addressof(**this); }

  // A copy of the value at p. Throws: as operator*. Context: task; may suspend.
  T fetch(place p) const {
    return at(p, [v = *this]() -> const T& { return *v; });
  }

  // Ends the values at all places of the group. Called by one task, at any place; nobody uses them.
  // Throws: illegal_operation when that has been done. Context: task; may suspend.
  void destroy() const;

  bool operator==(const place_local&) const = default;

 private:
  friend struct remote::place_local_access;
  explicit place_local(const remote::global_id& id) noexcept : id_(id) {}

  // `what` is the handle that the user has.
  T& find(const char* what) const {
    scheduler::fiber& self = sync::task_fiber(what);
    void* object = remote::global_table_of(self).find(id_);
    if (object == nullptr) [[unlikely]]
      remote::throw_no_object(self, id_, what);
    return *static_cast<T*>(object);
  }

  remote::global_id id_;
};

// For handles that are made of one.
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
