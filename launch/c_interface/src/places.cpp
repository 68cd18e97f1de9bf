// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <apgas/at.hpp>
#include <apgas/at_into.hpp>
#include <apgas/uninitialized_vector.hpp>

#include "callbacks.hpp"
#include "functions.hpp"
#include "program.hpp"

namespace apgas::inline v0::launch {
namespace {

using sent_block = uninitialized_vector<std::byte>;
using async_function = void (*)(const void*, std::size_t);
using call_function = void (*)(const void*, std::size_t, void*, std::size_t);

const void* data_of(const sent_block& of) noexcept { return of.empty() ? nullptr : of.data(); }

sent_block copy_of(const void* arg, std::size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(arg);
  return bytes == 0 ? sent_block() : sent_block(first, first + bytes);
}

// A function that is sent to a place. Within a place it is its address, so that code which was made
// at run time can be called as well; object is 0 then.
template <class F>
sent_function name_for(int place_id, F function) {
  if (place_id == here().id()) {
    return {.object = 0, .offset = reinterpret_cast<std::uintptr_t>(function)};
  }
  const auto name = find_name(reinterpret_cast<any_function>(function));
  if (!name) throw unknown_function();
  return *name;
}

template <class F>
F function_of(const sent_function& name) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): see name_for()
  if (name.object == 0) return reinterpret_cast<F>(static_cast<std::uintptr_t>(name.offset));
  const any_function found = find_function(name);
  if (found == nullptr) throw unknown_function();
  return reinterpret_cast<F>(found);
}

void spawn_at(int place_id, async_function function, const void* arg, std::size_t bytes) {
  async_at(
      place(place_id),
      [](const sent_function& name, const sent_block& copy) {
        const auto f = function_of<async_function>(name);
        call_back([&] { f(data_of(copy), copy.size()); });
      },
      name_for(place_id, function), copy_of(arg, bytes));
}

void call_at(int place_id, call_function function, const void* arg, std::size_t bytes,
             std::span<std::byte> result) {
  at_into(
      place(place_id), result,
      [](const sent_function& name, const sent_block& copy, std::uint64_t result_bytes) {
        const auto f = function_of<call_function>(name);
        sent_block made(result_bytes);
        std::ranges::fill(made, std::byte{0});
        void* const to = made.empty() ? nullptr : made.data();
        call_back([&] { f(data_of(copy), copy.size(), to, made.size()); });
        return made;
      },
      name_for(place_id, function), copy_of(arg, bytes), std::uint64_t{result.size()});
}

// Returns 0 if a task can send the block to the place, otherwise a code.
int refuse_call(int place_id, const void* arg, std::size_t bytes) noexcept {
  if (const int refused = refuse_block(arg, bytes)) return refused;
  if (const int refused = refuse_outside_task()) return refused;
  return place_id < 0 || place_id >= num_places() ? APGAS_EPLACE : 0;
}

}  // namespace
}  // namespace apgas::inline v0::launch

int apgas_workers() noexcept {
  if (apgas::scheduler::on_fiber()) return apgas::num_workers();
  const auto program = apgas::launch::active_c_program();
  return program == nullptr || program->workers == 0 ? APGAS_ENOTASK : program->workers;
}

int apgas_worker() noexcept {
  return apgas::scheduler::on_fiber() ? apgas::worker_id() : APGAS_ENOTASK;
}

int apgas_here() noexcept {
  if (apgas::scheduler::on_fiber()) return apgas::here().id();
  const auto program = apgas::launch::active_c_program();
  return program == nullptr ? APGAS_ENOTSTARTED : program->own.place_id();
}

int apgas_places() noexcept {
  if (apgas::scheduler::on_fiber()) return apgas::num_places();
  const auto program = apgas::launch::active_c_program();
  return program == nullptr ? APGAS_ENOTSTARTED : program->own.num_places();
}

int apgas_async_at(int place, void (*f)(const void*, size_t), const void* arg,
                   size_t bytes) noexcept {
  if (f == nullptr) return APGAS_EINVAL;
  if (const int refused = apgas::launch::refuse_call(place, arg, bytes)) return refused;
  return apgas::launch::call_guarded([=] { apgas::launch::spawn_at(place, f, arg, bytes); });
}

int apgas_at(int place, void (*f)(const void*, size_t, void*, size_t), const void* arg,
             size_t bytes, void* result, size_t result_bytes) noexcept {
  if (f == nullptr) return APGAS_EINVAL;
  if (const int refused = apgas::launch::refuse_block(result, result_bytes)) return refused;
  if (const int refused = apgas::launch::refuse_call(place, arg, bytes)) return refused;
  const std::span to(static_cast<std::byte*>(result), result_bytes);
  return apgas::launch::call_guarded([=] { apgas::launch::call_at(place, f, arg, bytes, to); });
}
