// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>

#include <apgas/async.hpp>
#include <apgas/sleep.hpp>
#include <apgas/yield.hpp>

#include "callbacks.hpp"

namespace apgas::inline v0::launch {
namespace {

using task_function = void (*)(void*);

// The closure of a task whose block fits into a slot of the deque. A slot is not aligned as a block
// is, so the block is copied to the stack.
struct task_with_small_block {
  static constexpr std::size_t capacity = 24;

  void operator()() const {
    alignas(std::max_align_t) std::array<std::byte, capacity> copy = bytes;
    call_back([&] { f(size == 0 ? nullptr : copy.data()); });
  }

  task_function f;
  std::size_t size;
  std::array<std::byte, capacity> bytes;
};
static_assert(scheduler::fits_slot<task_with_small_block>);

// The closure of any other task. A slot is always run unless the process ends, so the closure needs
// no destructor.
struct task_with_block {
  void operator()() const {
    const std::unique_ptr<std::byte[]> own(block);
    call_back([this] { f(block); });
  }

  task_function f;
  std::byte* block;
};
static_assert(scheduler::fits_slot<task_with_block>);

void spawn(task_function f, const void* block, std::size_t bytes) {
  if (bytes <= task_with_small_block::capacity) {
    task_with_small_block task{.f = f, .size = bytes, .bytes = {}};
    if (bytes != 0) std::memcpy(task.bytes.data(), block, bytes);
    return async(task);
  }
  auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::memcpy(copy.get(), block, bytes);
  async(task_with_block{.f = f, .block = copy.get()});
  static_cast<void>(copy.release());
}

// Returns the state of the calling task, or null where it cannot have one.
c_task* state_of_caller() noexcept {
  c_task* task = nullptr;
  if (refuse_outside_task() != 0) return nullptr;
  const int code =
      call_guarded([&task] { task = &c_task::get(*scheduler::fiber_of_this_stack()); });
  return code == 0 ? task : nullptr;
}

}  // namespace
}  // namespace apgas::inline v0::launch

int apgas_spawn(void (*f)(void*), const void* arg, size_t bytes) noexcept {
  if (f == nullptr) return APGAS_EINVAL;
  if (const int refused = apgas::launch::refuse_block(arg, bytes)) return refused;
  if (const int refused = apgas::launch::refuse_outside_task()) return refused;
  return apgas::launch::call_guarded([=] { apgas::launch::spawn(f, arg, bytes); });
}

int apgas_yield() noexcept {
  if (const int refused = apgas::launch::refuse_outside_task()) return refused;
  apgas::yield();
  return 0;
}

int apgas_sleep(double seconds) noexcept {
  if (std::isnan(seconds)) return APGAS_EINVAL;
  if (const int refused = apgas::launch::refuse_outside_task()) return refused;
  return apgas::launch::call_guarded(
      [seconds] { apgas::sleep_for(std::chrono::duration<double>(seconds)); });
}

uint64_t apgas_task_id() noexcept {
  const auto* const task = apgas::launch::state_of_caller();
  return task == nullptr ? 0 : task->id;
}

void** apgas_task_pointer() noexcept {
  auto* const task = apgas::launch::state_of_caller();
  return task == nullptr ? nullptr : &task->pointer;
}
