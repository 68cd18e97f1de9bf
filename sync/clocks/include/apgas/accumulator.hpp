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

// Phaser accumulators: a reduction over the tasks of a phaser in every phase (J. Shirako, D.
// Peixotto, V. Sarkar and W. Scherer: "Phaser accumulators: a new reduction construct for dynamic
// parallelism", IPDPS 2009; over a tree: Shirako and Sarkar, IPDPS 2010).
//
//   const apgas::phaser ph;
//   const apgas::accumulator<int> total(ph);
//   for (int i = 0; i < 4; ++i) {
//     apgas::async(apgas::phased(ph, apgas::phaser_mode::signal_wait), [=] {
//       total.send(1);
//       ph.next();
//       assert(total.result() == 4);  // what all tasks sent before next()
//     });
//   }
//   ph.next();
namespace apgas::inline v0 {

// An operation that knows its identity for T: op(x, Op::identity<T>()) == x.
template <class Op, class T>
concept operation_with_identity = requires {
  { Op::template identity<T>() } -> std::convertible_to<T>;
};

namespace sync {

// How a replica obtains the operation and the identity of an accumulator from its handle. If both
// can be sent as bytes, the handle carries them; otherwise they are recreated as Op() and
// Op::identity<T>().
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

// The usual operations. Their identities are for arithmetic types.
//
//   const double least = apgas::parallel::reduce(x, apgas::minimum::identity<double>(),
//                                                apgas::minimum());
//   assert(apgas::sum()(2, 3) == 5 && apgas::sum::identity<int>() == 0);
//   assert(apgas::product()(2, 3) == 6 && apgas::product::identity<int>() == 1);
//   assert(apgas::maximum()(2, 3) == 3 && apgas::maximum::identity<double>() < -1e300);
//
// a + b. The identity is T{}.
// Throws: what the operators of T throw. Context: any thread.
struct sum {
  // The result for two values; then the value that changes no other.
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a + b;
  }
  template <class T>
  static constexpr T identity() {
    return T{};
  }
};
// a * b. The identity is T{1}.
// Throws: what the operators of T throw. Context: any thread.
struct product {
  // The result for two values; then the value that changes no other.
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a * b;
  }
  template <class T>
  static constexpr T identity() {
    return T{1};
  }
};
// The lesser of a and b. The identity is infinity if T has it, otherwise the greatest value of T.
// Throws: what the operators of T throw. Context: any thread.
struct minimum {
  // The result for two values; then the value that changes no other.
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
// The greater of a and b. The identity is minus infinity if T has it, otherwise the least value of
// T.
// Throws: what the operators of T throw. Context: any thread.
struct maximum {
  // The result for two values; then the value that changes no other.
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

// A handle of an accumulator. In every phase of the phaser, the accumulator reduces all values that
// tasks send in that phase. A phaser may have several accumulators. An accumulator exists as long
// as its phaser.
//
// Handles are values without pointers: they may be copied, captured by a task and sent to other
// places. T must be copyable. `op` must be associative and commutative, since values are reduced in
// the order in which they arrive. `op` runs inside a critical section: if it spawns or waits, it
// throws illegal_operation.
//
// Other places. A task at another place uses the handle like a task at the phaser's home. What
// tasks send is reduced at their place first; the partial result is sent together with the arrival
// of that place, and the result together with the release of the phase. This requires that T can be
// sent and that the other place can recreate `op` and the identity: either both can be sent as
// bytes, and the handle carries them, or they are Op() and Op::identity<T>(). Otherwise send() and
// result() throw phaser_use_error there.
//
// Cost: in each phase one application of `op` for each value sent and for each worker, by the
// worker that completes the phase. Between places, one message in each direction for every place
// with registered tasks; it shares a transport message with the arrival or the release.
template <class T, std::invocable<const T&, const T&> Op = sum>
class accumulator {
 public:
  // Makes an accumulator on `ph`. Its first reduction is that of the phase the calling task is in.
  // `identity` must be neutral for `op`; it is the initial value of every reduction.
  // Throws: phaser_use_error if the calling task is not registered on `ph`, may not signal, has
  // already signalled its phase, or is not at the phaser's home place; illegal_operation outside a
  // task; std::bad_alloc; what copying op or identity throws.
  // Context: task; does not suspend. Cost: an allocation of two values of T for each worker.
  accumulator(const phaser& ph, Op op, T identity)
      : id_(phaser_access::id(ph)), made_with_(op, identity) {
    const scheduler::fiber& self = sync::task_fiber("accumulator");
    const sync::registration& r = mine(self, "accumulator");
    sync::check_may_send(r, "accumulator");
    sync::check_is_home(r, "accumulator");
    index_ = r.node->core().add_action(
        std::make_unique<core>(std::move(op), std::move(identity), sync::workers_of(self)));
  }
  // The same with Op() and its identity for T. Throws, Context: as above.
  explicit accumulator(const phaser& ph)
    requires operation_with_identity<Op, T> && std::default_initializable<Op>
      : accumulator(ph, Op(), Op::template identity<T>()) {}
  // An operation without an identity does not compile here.
  explicit accumulator(const phaser& ph)
    requires(!operation_with_identity<Op, T> || !std::default_initializable<Op>)
      : accumulator(ph, Op(), T()) {
    static_assert(
        operation_with_identity<Op, T>,
        "apgas: this operation has no identity<T>(); pass the operation and the identity: "
        "accumulator(ph, op, identity)");
  }

  // Adds `x` to the reduction of the phase that the calling task is in. The task may send any
  // number of values before it signals.
  // Throws: phaser_use_error if the task is not registered, may not signal, or has already
  // signalled its phase; illegal_operation outside a task; whatever `op` throws. Nothing was added
  // then.
  // Context: task, also inside `atomic` and `when`; does not suspend. Cost: a few nanoseconds,
  // without an atomic read-modify-write.
  void send(const T& x) const {
    scheduler::fiber& self = sync::task_fiber("accumulator::send");
    const sync::registration& r = mine(self, "accumulator::send");
    sync::check_may_send(r, "accumulator::send");
    core_of(r, "accumulator::send").send(self, r, x);
  }

  // Returns the reduction of the phase before the one that the calling task is in, or the identity
  // if no value was sent in that phase.
  // Throws: phaser_use_error if the task is not registered, may not wait, or has not completed its
  // first phase; whatever `op` threw during the reduction.
  // Context: task; not inside `atomic` or `when` if the task came from another place. Suspends, and
  // may resume on another worker, only where the result has not arrived yet because the task came
  // to this place after the phase was over. Cost: a few nanoseconds for a task that signals and
  // waits; one lock for a wait-only task and at other places.
  T result(scheduler::call_site where = scheduler::call_site::current()) const {
    const sync::registration& r =
        mine(sync::task_fiber("accumulator::result"), "accumulator::result");
    sync::check_may_read(r, "accumulator::result");
    return core_of(r, "accumulator::result").result(r, where);
  }

 private:
  using core = sync::accumulator_core<T, Op>;
  // The constexpr constructor lets the compiler see that a handle contains no pointer, so that it
  // may be sent.
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
  // The accumulator's state at this place, made by the first task here that uses it.
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

// Deduces T and Op from a phaser, an operation and its identity.
template <class T, class Op>
accumulator(phaser, Op, T) -> accumulator<T, Op>;

}  // namespace apgas::inline v0
