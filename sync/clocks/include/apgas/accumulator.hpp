// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <apgas/phaser.hpp>
#include <apgas/sync/accumulator_core.hpp>

// Reductions over the tasks of a phaser, phase by phase ("Phaser accumulators", Shirako et al.,
// IPDPS'09).
namespace apgas::inline v0 {

template <class Op, class T>
concept operation_with_identity = requires {
  { Op::template identity<T>() } -> std::convertible_to<T>;
};

namespace sync {

// The operation and identity of an accumulator in its handle, for other places: as values if they
// can be, or as they can be made anew.
template <class T, class Op>
struct made_with {
  static constexpr bool known = operation_with_identity<Op, T> && std::default_initializable<Op>;
  constexpr made_with(const Op&, const T&) noexcept {}
  constexpr made_with() noexcept = default;
  static Op op() { return Op(); }
  static T identity() { return Op::template identity<T>(); }
};
template <comm::byte_copyable T, comm::byte_copyable Op>
struct made_with<T, Op> {
  static constexpr bool known = true;
  constexpr made_with(const Op& op, const T& identity) noexcept : op_(op), identity_(identity) {}
  const Op& op() const noexcept { return op_; }
  const T& identity() const noexcept { return identity_; }

  [[no_unique_address]] Op op_;
  T identity_;
};

}  // namespace sync

// The usual operations, with their identities for arithmetic types.
struct sum {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a + b;
  }
  template <class T>
  static constexpr T identity() {
    return T{};
  }
};
struct product {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a * b;
  }
  template <class T>
  static constexpr T identity() {
    return T{1};
  }
};
struct minimum {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
  template <class T>
  static constexpr T identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
  }
};
struct maximum {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
  template <class T>
  static constexpr T identity() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
};

// A handle of a reduction: every phase of the phaser has one, of all values that tasks sent in it.
// `op` is associative and commutative, since the order of what tasks send is open, and neither
// spawns nor waits. A phaser may have several. Ends with the phaser.
//
// Tasks at other places use the handle as those at the phaser's own do: what they send is reduced
// at their place first, and goes along with the place's arrival, as results do with the release.
// For that T can be sent, and so can op and the identity, which the handle then carries; or they
// are Op() and Op::identity<T>().
template <class T, std::invocable<const T&, const T&> Op = sum>
class accumulator {
 public:
  // From the phase on that the calling task is in.
  // Throws: phaser_use_error when it is not registered on ph or may not signal.
  // Context: task.
  accumulator(const phaser& ph, Op op, T identity)
      : id_(phaser_access::id(ph)), made_with_(op, identity) {
    const scheduler::fiber& self = sync::task_fiber("accumulator");
    const sync::registration& r = mine(self, "accumulator");
    sync::check_may_send(r, "accumulator");
    sync::check_is_home(r, "accumulator");
    index_ = r.node->core().add_action(
        std::make_unique<core>(std::move(op), std::move(identity), sync::workers_of(self)));
  }
  explicit accumulator(const phaser& ph)
    requires operation_with_identity<Op, T> && std::default_initializable<Op>
      : accumulator(ph, Op(), Op::template identity<T>()) {}

  // Adds x to the reduction of the phase that the calling task is in. As often as it likes, before
  // it signals. Throws: phaser_use_error when it may not signal, or has signalled this phase; what
  // op throws. Context: task; does not suspend. Cost: a few ns, no atomic read-modify-write.
  void send(const T& x) const {
    scheduler::fiber& self = sync::task_fiber("accumulator::send");
    const sync::registration& r = mine(self, "accumulator::send");
    sync::check_may_send(r, "accumulator::send");
    core_of(r, "accumulator::send").send(self, r, x);
  }

  // The reduction of the phase before the one that the calling task is in: the identity if nobody
  // sent anything. Throws: phaser_use_error in the first phase, or when the task does not wait;
  // what op threw in the reduction. Context: task; suspends only after the task has come from
  // another place, until the result has come too.
  T result() const {
    const sync::registration& r =
        mine(sync::task_fiber("accumulator::result"), "accumulator::result");
    sync::check_may_read(r, "accumulator::result");
    return core_of(r, "accumulator::result").result(r);
  }

 private:
  using core = sync::accumulator_core<T, Op>;
  // Lets the compiler see that a handle is a value, which may be sent.
  constexpr accumulator(const sync::phase_id& id, std::uint32_t index,
                        const sync::made_with<T, Op>& with) noexcept
      : id_(id), index_(index), made_with_(with) {}

  [[gnu::always_inline]] const sync::registration& mine(const scheduler::fiber& self,
                                                        const char* operation) const {
    return sync::registration_of(self, id_, sync::phase_kind::phaser, operation);
  }
  core& core_of(const sync::registration& r, const char* operation) const {
    sync::phase_core& phases = r.node->core();
    if (phases.is_replica()) [[unlikely]]
      return part_of(phases, r, operation);
    return static_cast<core&>(phases.action(index_));
  }
  // What this place has of it, made by the first task here that uses it.
  [[gnu::noinline]] core& part_of(sync::phase_core& phases, const sync::registration& r,
                                  const char* operation) const {
    if (sync::phase_action* found = phases.find_action(index_)) return static_cast<core&>(*found);
    if constexpr (core::travels && sync::made_with<T, Op>::known) {
      return static_cast<core&>(phases.add_action(
          index_, std::make_unique<core>(made_with_.op(), made_with_.identity(),
                                         sync::workers_of(*scheduler::current_fiber()), true)));
    } else {
      sync::throw_not_sendable(r, operation);
    }
  }

  sync::phase_id id_;
  std::uint32_t index_ = 0;
  [[no_unique_address]] sync::made_with<T, Op> made_with_;
};

template <class T, class Op>
accumulator(phaser, Op, T) -> accumulator<T, Op>;

}  // namespace apgas::inline v0
