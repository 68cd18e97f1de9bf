// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/scheduler/task_counter.hpp>

// An entry of a worker's deque: a task with its closure in place. A header of 24 bytes and a
// closure of up to 40 bytes fill one cache line.
namespace apgas::inline v0::scheduler {

class batch_source;
struct fiber;
struct slot;

enum class slot_kind : std::uintptr_t {
  task,          // an async; its counter is that of its finish
  join,          // a branch of a fork_join; its counter is a branch_counter
  continuation,  // a suspended spawner whose tasks a drain fiber runs (drain.cpp)
  member,        // a task for which a batch_source waits; its closure begins with that pointer
};

// Runs the closure of a slot on the current fiber. The memory of the slot may be reused as soon as
// user code runs.
using slot_function = void (*)(slot&, fiber&);

// The function of the slot of an observed task (task_observer.hpp). It runs the function that it
// has replaced, and tells the observer before and after that.
struct observed_task;
void run_observed(slot& s, fiber& self);

struct alignas(64) slot {
  static constexpr std::size_t closure_bytes = 40;

  slot_function run;
  std::uintptr_t tagged_counter;  // a task_counter*, with the slot_kind in its low bits
  std::source_location site;      // the spawn site
  alignas(8) std::byte closure[closure_bytes];

  // For deque<slot>. Thieves copy slots byte by byte, so a closure is trivially copyable or boxed.
  void add(std::ptrdiff_t n) {
    counter()->add(kind() == slot_kind::join ? n * task_counter::branch_count : n);
  }
  bool same_counter(const slot& other) const {
    return ((tagged_counter ^ other.tagged_counter) & ~tag_mask) == 0;
  }
  // Where g++ takes the copy of an object for rare, it uses `rep movs`, which costs 20 ns.
  void assign(const slot& other) {
    using words [[gnu::vector_size(16), gnu::may_alias]] = std::uintptr_t;
    auto* const to = reinterpret_cast<words*>(this);
    const auto* const from = reinterpret_cast<const words*>(&other);
    for (std::size_t i = 0; i < sizeof(slot) / sizeof(words); ++i) to[i] = from[i];
  }

  static constexpr std::uintptr_t kind_mask = 3;
  // Is set in a branch of an observed fork_join. So its fork does not recognise the slot on its
  // fast path, and takes the branch back where the observer is told (branch.cpp).
  static constexpr std::uintptr_t observed_branch = 4;
  static constexpr std::uintptr_t tag_mask = kind_mask | observed_branch;
  static std::uintptr_t tag(task_counter* counter, slot_kind kind) {
    return reinterpret_cast<std::uintptr_t>(counter) | static_cast<std::uintptr_t>(kind);
  }
  task_counter* counter() const {
    return reinterpret_cast<task_counter*>(tagged_counter & ~tag_mask);
  }
  slot_kind kind() const { return static_cast<slot_kind>(tagged_counter & kind_mask); }
  bool is_task() const { return kind() == slot_kind::task || kind() == slot_kind::member; }

  // For an observed task, whose slot has the address of its observed_task in the second word of the
  // closure; the first one belongs to is_member_of(). Returns null for a slot that was pushed just
  // now or is the continuation of a spawner.
  static constexpr std::size_t observed_at = 8;
  observed_task* observed() const {
    observed_task* task = nullptr;
    if (run == &run_observed) std::memcpy(&task, closure + observed_at, sizeof task);
    return task;
  }
  // Whether an observer permits that a thief takes the slot: it has been told of the spawn.
  bool may_be_stolen() const { return kind() == slot_kind::continuation || observed() != nullptr; }

  // Returns whether `source` waits for this task.
  bool is_member_of(const batch_source* source) const {
    const batch_source* first = nullptr;
    std::memcpy(&first, closure, sizeof first);
    return kind() == slot_kind::member && first == source;
  }
};
static_assert(sizeof(slot) == 64 && sizeof(std::source_location) == 8);

// Whether a closure of type F can lie in the slot itself. Other closures are boxed, which costs one
// allocation.
template <class F>
inline constexpr bool fits_slot =
    sizeof(F) <= slot::closure_bytes && alignof(F) <= 8 && std::is_trivially_copyable_v<F> &&
    std::is_trivially_destructible_v<F>;

// A closure on the heap, for one that does not fit a slot. The box is copied bytewise together with
// its slot. It must be called exactly once, by the thread that runs the slot; the call destroys the
// closure.
template <class F>
class boxed {
 public:
  template <class G>
    requires(!std::is_same_v<std::remove_cvref_t<G>, boxed>)
  explicit boxed(G&& f) : closure_(new F(std::forward<G>(f))) {}

  void operator()() {
    std::unique_ptr<F> held(closure_);
    (*held)();
  }

 private:
  F* closure_;
};

// Constructs a closure of type F in the slot.
template <class F, class G>
[[gnu::always_inline]] inline void store_closure(slot& s, G&& f) {
  static_assert(fits_slot<F>);
  ::new (static_cast<void*>(s.closure)) F(std::forward<G>(f));
}

// Moves the closure out of the slot, whose memory may then hold another task.
template <class F>
[[gnu::always_inline]] inline F take_closure(slot& s) {
  return *std::launder(reinterpret_cast<F*>(s.closure));
}

}  // namespace apgas::inline v0::scheduler
