// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <typeinfo>
#include <utility>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/archive.hpp>
#include <apgas/scheduler/fiber.hpp>

// The values that tasks offered to a finish_reduce at one place. They are reduced as they come.
namespace apgas::inline v0::sync {

// A box whose type of value is not known.
class offer_box {
 public:
  offer_box() = default;
  offer_box(const offer_box&) = delete;
  offer_box& operator=(const offer_box&) = delete;
  virtual ~offer_box() = default;

  // The type of the values.
  virtual const std::type_info& type() const noexcept = 0;
  // Writes the reduced value to `to`, and whether there is one. Context: task or worker.
  virtual void save(comm::out_archive& to) = 0;
  // Adds what the box of another place wrote. Context: task.
  virtual void load(comm::in_archive& from) = 0;
};

// The handler that makes the box of another place.
using offer_box_maker = offer_box*(int workers);

// Returns the box for an offer of that type. Throws: illegal_operation if the innermost finish
// collects nothing or values of another type. Context: task.
APGAS_API offer_box& box_for_offer(scheduler::fiber& self, const std::type_info& type);

// A box for values of type T. Context of all members: task.
template <class T>
class typed_offer_box : public offer_box {
 public:
  const std::type_info& type() const noexcept final { return typeid(T); }
  // Adds a value that was offered on that worker.
  virtual void add(int worker, T value) = 0;
};

// Reduces the values by Op, with one partial result for each worker. Op is user code and runs
// without a lock, so a partial result is taken out while it is being combined.
template <class T, class Op>
class reducing_offer_box final : public typed_offer_box<T> {
 public:
  reducing_offer_box(Op op, int workers)
      : op_(std::move(op)), partials_(static_cast<std::size_t>(workers)) {}

  // Combines the value with the partial result of the worker.
  void add(int worker, T value) override {
    put(*partials_[static_cast<std::size_t>(worker)], std::move(value));
  }

  // Returns everything added so far as one value, or nullopt, and leaves the box empty.
  std::optional<T> take() {
    for (std::size_t i = 1; i < partials_.size(); ++i) {
      if (std::optional<T> value = get(*partials_[i])) put(*partials_[0], *std::move(value));
    }
    return get(*partials_[0]);
  }

  void save(comm::out_archive& to) override {
    std::optional<T> sum = take();
    to(sum.has_value());
    if (sum.has_value()) to(*sum);
  }

  void load(comm::in_archive& from) override {
    if (from.read<bool>()) put(*partials_[0], from.read<T>());
  }

 private:
  struct partial {
    base::spin_lock lock;
    std::optional<T> value;
  };

  static std::optional<T> get(partial& p) {
    std::lock_guard guard(p.lock);
    return std::exchange(p.value, std::nullopt);
  }

  void put(partial& p, T value) {
    for (;;) {
      std::optional<T> other = get(p);
      if (other.has_value()) value = op_(*std::move(other), std::move(value));
      std::lock_guard guard(p.lock);
      if (!p.value.has_value()) {
        p.value = std::move(value);
        return;
      }
    }
  }

  Op op_;
  std::vector<base::cache_aligned<partial>> partials_;
};

}  // namespace apgas::inline v0::sync
