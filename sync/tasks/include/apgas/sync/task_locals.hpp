// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/scheduler/fiber.hpp>

// The values of task_local objects that a task has: a list in the state of the task, which begins
// empty and ends with the task. A child that inherits starts with copies, which are made when it is
// spawned. Only the task itself uses its list.
namespace apgas::inline v0::sync {

// One value. The first one of a list is the extension of the task.
class APGAS_API local_value : public scheduler::task_extension {
 public:
  explicit local_value(std::uint64_t of) noexcept : key(of) {}
  virtual ~local_value() = default;
  // A copy for a child that is spawned; null if children do not inherit the value.
  // Throws: what copying the value throws.
  virtual local_value* copy() const { return nullptr; }
  void task_ended(scheduler::fiber& self) noexcept final;

  const std::uint64_t key;  // of the task_local object
  local_value* next = nullptr;
};

// Returns a key that no other task_local object of the process has. Context: any thread.
APGAS_API std::uint64_t new_local_key() noexcept;

// Returns the running task, for the use of a task_local object.
// Throws: illegal_operation outside a task and in a critical section, which may be executed by
// another task than the one that called it.
APGAS_API scheduler::fiber& user_of_locals();

// Returns the value of a task; null if it has none.
inline local_value* find_local(const scheduler::fiber& self, std::uint64_t key) noexcept {
  auto* value = static_cast<local_value*>(self.task.locals);
  while (value != nullptr && value->key != key) value = value->next;
  return value;
}
// Adds a value, which then belongs to the task.
APGAS_API void add_local(scheduler::fiber& self, local_value* value, bool inherited) noexcept;

inline bool children_inherit(const scheduler::fiber& self) noexcept {
  return (self.task.rare.has_attributes & scheduler::has_inherited_locals) != 0;
}

// Values for a child that is about to be spawned.
class inherited_locals {
 public:
  inherited_locals() = default;  // no values
  // Copies the values of the running task that children inherit. Throws: what copying throws.
  APGAS_API explicit inherited_locals(const scheduler::fiber& parent);
  inherited_locals(inherited_locals&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)) {}
  inherited_locals& operator=(inherited_locals&&) = delete;
  APGAS_API ~inherited_locals();
  // Gives the values to the running task. Context: the child, when it starts.
  APGAS_API void adopt() noexcept;

 private:
  local_value* first_ = nullptr;
};

// The closure of a child that inherits.
template <class F>
class inheriting {
 public:
  template <class G>
  inheriting(const scheduler::fiber& parent, G&& f) : values_(parent), f_(std::forward<G>(f)) {}

  decltype(auto) operator()() {
    values_.adopt();
    return f_();
  }

 private:
  inherited_locals values_;
  F f_;
};

// Hides the values of the calling task while it runs the body of a loop or of a call to its own
// place, which see their own; with `inherit`, these begin as copies. The destructor ends them and
// restores the values of the task.
// Context: task. Throws: what copying the values throws.
class own_locals {
 public:
  APGAS_API own_locals(scheduler::fiber& self, bool inherit);
  own_locals(const own_locals&) = delete;
  own_locals& operator=(const own_locals&) = delete;
  APGAS_API ~own_locals();

 private:
  scheduler::task_extension* const locals_;
  const std::uint32_t attributes_;
};

}  // namespace apgas::inline v0::sync
