// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <new>
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
// It must be at the place of the phaser.
void check_is_home(const registration& r, const char* operation);
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
    const std::int64_t s = r.signalled;
    if (!r.waits() && s - r.node->phase() > 1) [[unlikely]]
      return send_ahead(s, x);
    const inside no_suspension(self);  // this worker's cell is in use
    T& to = cells_[static_cast<std::size_t>(self.on->id)].value.of[s & 1];
    to = op_(to, x);
  }

  T result(const registration& r) {
    const std::int64_t p = r.waited - 1;
    // What is found stays while this task is in its phase.
    const outcome* const found = r.signals() ? recent_[p & 1] : kept(p);
    if (found == nullptr || found->phase != p) [[unlikely]]
      return without_result(p);
    if (found->error != nullptr) [[unlikely]]
      std::rethrow_exception(found->error);
    return *found->value;
  }

  void phase_ended(std::int64_t p, std::int64_t oldest) noexcept override {
    results gone;  // destroyed without the lock
    auto room = room_for_outcome(oldest, gone);
    if (room.empty()) {  // no memory
      recent_[p & 1] = nullptr;
      return;
    }
    outcome& made = room.mapped();
    made = {.phase = p, .value = {}, .error = {}};
    try {
      made.value = reduce(p);
    } catch (...) {
      made.error = std::current_exception();
    }
    recent_[p & 1] = &made;
    room.key() = p;
    std::lock_guard hold(lock_);
    results_.insert(std::move(room));
  }

 private:
  struct outcome {
    std::int64_t phase = -1;
    std::optional<T> value;
    std::exception_ptr error;
  };
  using results = std::map<std::int64_t, outcome>;
  struct pair {
    T of[2];
  };
  struct cell {
    explicit cell(const T& identity) : value{identity, identity} {}
    alignas(base::cache_line_bytes) pair value;
  };

  // For tasks that only signal, and are far ahead.
  [[gnu::noinline]] void send_ahead(std::int64_t s, const T& x) {
    T copy(x);
    std::lock_guard hold(lock_);
    ahead_[s].push_back(std::move(copy));
  }

  // For tasks that only wait, and may lag behind.
  [[gnu::noinline]] const outcome* kept(std::int64_t p) noexcept {
    std::lock_guard hold(lock_);
    const auto at = results_.find(p);
    return at == results_.end() ? nullptr : &at->second;
  }

  // Phases that ended with the last signaller have no reduction.
  [[gnu::noinline]] T without_result(std::int64_t p) {
    bool ended = false;
    {
      std::lock_guard hold(lock_);
      ended = !results_.empty() && p > results_.rbegin()->first;
    }
    if (!ended) throw_no_result(p);
    return identity_;
  }

  // That of a result that nobody can ask for any more, if there is one; all others of them are put
  // into `gone`. Empty when there is no memory.
  typename results::node_type room_for_outcome(std::int64_t oldest, results& gone) noexcept {
    typename results::node_type room;
    {
      std::lock_guard hold(lock_);
      while (!results_.empty() && results_.begin()->first < oldest - 1) {
        if (!room.empty()) gone.insert(std::move(room));
        room = results_.extract(results_.begin());
      }
    }
    if (!room.empty()) return room;
    try {
      results fresh;
      fresh.try_emplace(0);
      return fresh.extract(fresh.begin());
    } catch (const std::bad_alloc&) {
      return {};
    }
  }

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
  results results_;
  std::map<std::int64_t, std::vector<T>> ahead_;
};

}  // namespace apgas::inline v0::sync
