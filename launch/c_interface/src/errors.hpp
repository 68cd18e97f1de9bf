// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include <apgas/c.h>
#include <apgas/errors.hpp>
#include <apgas/scheduler/fiber.hpp>

// How the functions of the C interface fail: their exceptions become codes, here and nowhere else.
namespace apgas::inline v0::launch {

// An error for which there is a code. It keeps its type when it crosses places.
template <int Code>
class error_with_code : public error {
 public:
  error_with_code() : error(apgas_strerror(Code)) {}
  explicit error_with_code(const std::string& text) : error(text) {}
};
using unknown_function = error_with_code<APGAS_EFUNCTION>;
using unended_finish = error_with_code<APGAS_EFINISH>;

// Returns the code of an exception. Context: any thread; does not suspend.
int error_code_of(const std::exception_ptr& failure) noexcept;

// Calls f(), which is the body of a function of the C interface; returns 0 or the code of what it
// threw. f may suspend.
template <class F>
int call_guarded(F&& f) noexcept {
  std::exception_ptr failure;
  try {
    f();
  } catch (...) {
    failure = std::current_exception();
  }
  return failure == nullptr ? 0 : error_code_of(failure);
}

// Returns 0 if the caller is a task that may suspend, otherwise the code that says why not.
inline int refuse_outside_task() noexcept {
  if (!scheduler::on_fiber()) return APGAS_ENOTASK;
  const scheduler::fiber& self = *scheduler::fiber_of_this_stack();
  return self.task.rare.atomic_depth != 0 ? APGAS_ECRITICAL : 0;
}

// Returns 0 if a task can get a copy of the block, otherwise a code.
inline int refuse_block(const void* block, std::size_t bytes) noexcept {
  if (block == nullptr && bytes != 0) return APGAS_EINVAL;
  return bytes > APGAS_MAX_BLOCK ? APGAS_ETOOBIG : 0;
}

}  // namespace apgas::inline v0::launch
