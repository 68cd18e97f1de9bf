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

template <class Op, class T>
concept operation_with_identity = requires {
  { Op::template identity<T>() } -> std::convertible_to<T>;
};

// A handle of a reduction: every phase of the phaser has one, of all values that tasks sent in it.
// `op` is associative and commutative, since the order of what tasks send is open, and neither
// spawns nor waits. A phaser may have several. Ends with the phaser.
template <class T, std::invocable<const T&, const T&> Op = sum>
class accumulator {
 public:
  // From the phase on that the calling task is in.
  // Throws: phaser_use_error when it is not registered on ph or may not signal.
  // Context: task.
  accumulator(const phaser& ph, Op op, T identity) : id_(phaser_access::id(ph)) {
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
  // what op threw in the reduction. Context: task; does not suspend.
  T result() const {
    const sync::registration& r =
        mine(sync::task_fiber("accumulator::result"), "accumulator::result");
    sync::check_may_read(r, "accumulator::result");
    return core_of(r, "accumulator::result").result(r);
  }

 private:
  using core = sync::accumulator_core<T, Op>;
  // Lets the compiler see that a handle is a value, which may be sent.
  constexpr accumulator(const sync::phase_id& id, std::uint32_t index) noexcept
      : id_(id), index_(index) {}

  [[gnu::always_inline]] const sync::registration& mine(const scheduler::fiber& self,
                                                        const char* operation) const {
    return sync::registration_of(self, id_, sync::phase_kind::phaser, operation);
  }
  core& core_of(const sync::registration& r, const char* operation) const {
    if (r.node->core().is_replica()) [[unlikely]]
      sync::check_is_home(r, operation);
    return static_cast<core&>(r.node->core().action(index_));
  }

  sync::phase_id id_;
  std::uint32_t index_ = 0;
};

template <class T, class Op>
accumulator(phaser, Op, T) -> accumulator<T, Op>;

}  // namespace apgas::inline v0
