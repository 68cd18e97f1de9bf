// SPDX-License-Identifier: Apache-2.0
#pragma once

// Identifiers of functions that are the same in every process of the job. Users do not have to
// register anything.
//
// Each call of id_of<&thunk>() in the program registers the thunk through the initialiser of a
// static object. The compiler emits that object wherever the call is compiled, even if it is never
// executed, so all processes that run the same binary know the same thunks when main begins. A
// library that is loaded later adds its own thunks. An id consists of the thunk's offset in its
// loaded object (the program or a shared library) and 16 bits of that object's build-id. Address
// randomisation and the order of loading do not change it.
//
// Invariant: lookup() returns a function only for an id that was registered with exactly the
// requested signature.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <typeinfo>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>

namespace apgas::inline v0::comm {

using handler_id = std::uint64_t;  // 0 is never a valid id
using any_function = void (*)();

// A function type without noexcept, which is not part of a signature here.
template <class Signature>
struct plain_signature {
  using type = Signature;
};
template <class Result, class... Args>
struct plain_signature<Result(Args...) noexcept> {
  using type = Result(Args...);
};

// Identifies a signature by its name. The program and a library each have a std::type_info of it,
// since the library hides its own. libstdc++ hashes the name of a type, but libc++ the address of
// the name, so hash_code() would differ between the two.
template <class Signature>
std::size_t signature_hash() noexcept {
  static const std::size_t hash = std::hash<std::string_view>()(typeid(Signature).name());
  return hash;
}

// A registered thunk. Entries live until the process ends.
struct handler_entry {
  handler_id id;
  base::atomic<any_function> thunk;  // nullptr after its library was unloaded
  std::size_t signature;             // its hash

  // Returns the thunk, or nullptr if it was unloaded or has another signature.
  // Context: any thread.
  template <class Signature>
  Signature* as() const noexcept {
    if (signature != signature_hash<typename plain_signature<Signature>::type>()) return nullptr;
    return reinterpret_cast<Signature*>(thunk.load(base::acquire));  // P2 of handler.cpp
  }
};

// Returns the entry of `id`, or nullptr if `id` is not a registered id.
// Context: any thread.
// Cost: a hash look-up without a lock.
APGAS_API const handler_entry* find_handler(handler_id id) noexcept;

template <class Signature>
Signature* lookup(handler_id id) noexcept {
  const handler_entry* entry = find_handler(id);
  return entry ? entry->as<Signature>() : nullptr;
}

// Registers a thunk in its constructor and removes it in its destructor, which runs when the
// library is unloaded.
class handler_registration {
 public:
  template <class Result, class... Args>
  explicit handler_registration(Result (*thunk)(Args...)) noexcept
      : handler_registration(reinterpret_cast<any_function>(thunk),
                             signature_hash<Result(Args...)>()) {}
  template <class Result, class... Args>
  explicit handler_registration(Result (*thunk)(Args...) noexcept) noexcept
      : handler_registration(reinterpret_cast<any_function>(thunk),
                             signature_hash<Result(Args...)>()) {}
  handler_registration(const handler_registration&) = delete;
  handler_registration& operator=(const handler_registration&) = delete;
  APGAS_API ~handler_registration();

  handler_id id() const noexcept { return entry_->id; }

 private:
  APGAS_API handler_registration(any_function thunk, std::size_t signature) noexcept;

  handler_entry* entry_;
};

template <auto Thunk>
struct registered_handler {
  static inline const handler_registration registration{Thunk};
};

// Returns the id of a thunk.
// Requires: Thunk points to a function.
// Context: any thread, after static initialisation.
// Cost: one load.
template <auto Thunk>
handler_id id_of() noexcept {
  return registered_handler<Thunk>::registration.id();
}

// A hash of the build-ids of all loaded objects that contain handlers; objects without a build-id
// contribute the contents of their file. If two processes have the same fingerprint, the same id
// names the same function in both.
std::uint64_t binary_fingerprint();

}  // namespace apgas::inline v0::comm
