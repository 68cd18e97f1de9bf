// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/sync/registration.hpp>
#include <apgas/sync/section.hpp>

// The reductions of an accumulator: a value per worker for the phase that is open and the next, and
// the results of those that are over.
//
//   cells_     the worker's tasks, for the phases phase() and phase() + 1; who completes the phase
//   recent_    who completes a phase                 tasks that signal and wait
//   others     lock_ holder
//
// Pairs
//   P1  A cell is complete for who completes its phase, and empty again for those who use it two
//       phases later; a result is complete for the tasks of the next phase: all by the locks of
//       the nodes, which every signal goes through.
namespace apgas::inline v0::sync {

// What is wrong with a call; phaser_use_error.
void refuse_send(const registration& r, const char* operation);
void refuse_read(const registration& r, const char* operation);
inline void check_may_send(const registration& r, const char* operation) {
  if (!r.signals() || r.in_single || r.has_signalled()) [[unlikely]]
    refuse_send(r, operation);
}
inline void check_may_read(const registration& r, const char* operation) {
  if (!r.waits() || r.in_single || r.waited == 0) [[unlikely]]
    refuse_read(r, operation);
}
[[noreturn]] void throw_no_result(std::int64_t phase);
std::size_t workers_of(const scheduler::fiber& self) noexcept;

template <class T, class Op>
class accumulator_core final : public phase_action {
 public:
  accumulator_core(Op op, T identity, std::size_t workers)
      : op_(std::move(op)), identity_(std::move(identity)), cells_(workers, cell(identity_)) {}

  void send(scheduler::fiber& self, const registration& r, const T& x) {
    const inside no_suspension(self);  // this worker's cell is in use
    const std::int64_t s = r.signalled;
    if (s - r.node->phase() <= 1) [[likely]] {
      T& to = cells_[static_cast<std::size_t>(self.on->id)].value.of[s & 1];
      to = op_(to, x);
    } else {  // a task that only signals, far ahead
      T copy(x);
      std::lock_guard hold(lock_);
      ahead_[s].push_back(std::move(copy));
    }
  }

  T result(const registration& r) {
    const std::int64_t p = r.waited - 1;
    const outcome* found = nullptr;
    if (r.signals()) {
      found = recent_[p & 1];
      if (found != nullptr && found->phase != p) found = nullptr;
    } else {
      std::lock_guard hold(lock_);
      const auto at = results_.find(p);
      if (at != results_.end()) found = at->second.get();  // stays while this task is in its phase
      if (found == nullptr && !results_.empty() && p > results_.rbegin()->first) return identity_;
    }
    if (found == nullptr) throw_no_result(p);
    if (found->error != nullptr) std::rethrow_exception(found->error);
    return *found->value;
  }

  void phase_ended(std::int64_t p, std::int64_t oldest) noexcept override {
    auto made = std::make_unique<outcome>();
    made->phase = p;
    try {
      made->value = reduce(p);
    } catch (...) {
      made->error = std::current_exception();
    }
    std::map<std::int64_t, std::unique_ptr<outcome>> gone;
    recent_[p & 1] = made.get();
    std::lock_guard hold(lock_);
    results_.emplace(p, std::move(made));
    while (results_.begin()->first < oldest - 1) gone.insert(results_.extract(results_.begin()));
  }

 private:
  struct outcome {
    std::int64_t phase = 0;
    std::optional<T> value;
    std::exception_ptr error;
  };
  struct pair {
    T of[2];
  };
  struct cell {
    explicit cell(const T& identity) : value{identity, identity} {}
    alignas(base::cache_line_bytes) pair value;
  };

  T reduce(std::int64_t p) {
    T total = identity_;
    std::exception_ptr error;
    for (cell& c : cells_) {
      try {
        const T part = std::exchange(c.value.of[p & 1], identity_);
        if (error == nullptr) total = op_(total, part);
      } catch (...) {
        error = std::current_exception();  // the cells of the others must be emptied too
      }
    }
    if (error != nullptr) std::rethrow_exception(error);
    std::vector<T> sent_ahead;
    {
      std::lock_guard hold(lock_);
      const auto at = ahead_.find(p);
      if (at != ahead_.end()) {
        sent_ahead = std::move(at->second);
        ahead_.erase(at);
      }
    }
    for (const T& x : sent_ahead) total = op_(total, x);
    return total;
  }

  const Op op_;
  const T identity_;
  std::vector<cell> cells_;
  const outcome* recent_[2] = {nullptr, nullptr};
  base::spin_lock lock_;
  std::map<std::int64_t, std::unique_ptr<outcome>> results_;
  std::map<std::int64_t, std::vector<T>> ahead_;
};

}  // namespace apgas::inline v0::sync
