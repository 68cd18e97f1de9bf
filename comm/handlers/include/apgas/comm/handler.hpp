// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names for functions that are the same in every process of the job, with no action by the user.
//
// id_of<&thunk>() registers the thunk by the initialiser of a static object, which the compiler
// makes wherever the call is compiled, whether it is ever executed or not. So every process that
// runs the same binary knows the same thunks when main begins; a library that is loaded later adds
// its own. An id is the thunk's offset in its loaded object and 16 bits of that object's build-id;
// address randomisation and the order of loading do not change it.
//
// Invariant: lookup gives a function only for an id that was registered with that very signature.

#include <cstdint>
#include <string>
#include <typeinfo>

#include <apgas/base/atomic.hpp>

namespace apgas::inline v0::comm {

using handler_id = std::uint64_t;  // 0 names nothing
using any_function = void (*)();

// A function type without its noexcept, which is no part of a signature here.
template <class Signature>
struct plain_signature {
  using type = Signature;
};
template <class Result, class... Args>
struct plain_signature<Result(Args...) noexcept> {
  using type = Result(Args...);
};

// One registered thunk. Lives as long as the process.
struct handler_entry {
  handler_id id;
  base::atomic<any_function> thunk;  // nullptr once its library is unloaded
  const std::type_info* signature;

  // The thunk, or nullptr where it is gone or has another signature. Context: any thread.
  template <class Signature>
  Signature* as() const noexcept {
    if (*signature != typeid(typename plain_signature<Signature>::type)) return nullptr;
    return reinterpret_cast<Signature*>(thunk.load(base::acquire));  // P2 of handler.cpp
  }
};

// The entry of `id`, or nullptr for everything that is not a registered id.
// Context: any thread. Cost: a hash look-up, no lock.
const handler_entry* find_handler(handler_id id) noexcept;

template <class Signature>
Signature* lookup(handler_id id) noexcept {
  const handler_entry* entry = find_handler(id);
  return entry ? entry->as<Signature>() : nullptr;
}

// Registers in its constructor, removes in its destructor (when the library is unloaded).
class handler_registration {
 public:
  template <class Result, class... Args>
  explicit handler_registration(Result (*thunk)(Args...)) noexcept
      : handler_registration(reinterpret_cast<any_function>(thunk), typeid(Result(Args...))) {}
  template <class Result, class... Args>
  explicit handler_registration(Result (*thunk)(Args...) noexcept) noexcept
      : handler_registration(reinterpret_cast<any_function>(thunk), typeid(Result(Args...))) {}
  handler_registration(const handler_registration&) = delete;
  handler_registration& operator=(const handler_registration&) = delete;
  ~handler_registration();

  handler_id id() const noexcept { return entry_->id; }

 private:
  handler_registration(any_function thunk, const std::type_info& signature) noexcept;

  handler_entry* entry_;
};

template <auto Thunk>
struct registered_handler {
  static inline const handler_registration registration{Thunk};
};

// Requires: Thunk points to a function. Context: any thread, after static initialisation.
// Cost: a load.
template <auto Thunk>
handler_id id_of() noexcept {
  return registered_handler<Thunk>::registration.id();
}

// The same number in two processes means: the same ids name the same functions. A hash of the
// build-ids of all loaded objects that hold handlers (of the file's bytes where one has none).
std::uint64_t binary_fingerprint();

}  // namespace apgas::inline v0::comm
