// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <typeinfo>
#include <utility>
#include <vector>

#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/archive.hpp>
#include <apgas/scheduler/fiber.hpp>

// The offers of a collecting finish at one place, reduced as they come.
namespace apgas::inline v0::sync {

class offer_box {
 public:
  offer_box() = default;
  offer_box(const offer_box&) = delete;
  offer_box& operator=(const offer_box&) = delete;
  virtual ~offer_box() = default;

  virtual const std::type_info& type() const noexcept = 0;
  // What was offered here, as bytes for home; nothing if nothing was. Context: task or worker.
  virtual void save(comm::out_archive& to) = 0;
  // Adds what another place saved. Context: task.
  virtual void load(comm::in_archive& from) = 0;
};

// How another place makes its box: a registered handler.
using offer_box_maker = offer_box*(int workers);

// The box that an offer of that type goes to. Throws: illegal_operation where the innermost finish
// collects nothing, or another type. Context: task.
offer_box& box_for_offer(scheduler::fiber& self, const std::type_info& type);

// Of values of type T. Context of everything: task.
template <class T>
class typed_offer_box : public offer_box {
 public:
  const std::type_info& type() const noexcept final { return typeid(T); }
  virtual void add(int worker, T value) = 0;
};

// `Op` runs without a lock held, since it is the user's: a part that is being combined is taken
// out.
template <class T, class Op>
class reducing_offer_box final : public typed_offer_box<T> {
 public:
  reducing_offer_box(Op op, int workers)
      : op_(std::move(op)), parts_(static_cast<std::size_t>(workers)) {}

  void add(int worker, T value) override {
    put(*parts_[static_cast<std::size_t>(worker)], std::move(value));
  }

  // Everything added so far.
  std::optional<T> take() {
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      if (std::optional<T> value = get(*parts_[i])) put(*parts_[0], *std::move(value));
    }
    return get(*parts_[0]);
  }

  void save(comm::out_archive& to) override {
    std::optional<T> sum = take();
    to(sum.has_value());
    if (sum.has_value()) to(*sum);
  }

  void load(comm::in_archive& from) override {
    if (from.read<bool>()) put(*parts_[0], from.read<T>());
  }

 private:
  struct part {
    base::spin_lock lock;
    std::optional<T> value;
  };

  static std::optional<T> get(part& p) {
    std::lock_guard guard(p.lock);
    return std::exchange(p.value, std::nullopt);
  }

  void put(part& p, T value) {
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
  std::vector<base::cache_aligned<part>> parts_;
};

}  // namespace apgas::inline v0::sync
