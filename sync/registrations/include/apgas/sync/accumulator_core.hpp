// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>
#include <apgas/sync/critical_section.hpp>
#include <apgas/sync/handoff.hpp>
#include <apgas/sync/registration.hpp>

// The reductions of an accumulator at one place. There is one value per worker for the current
// phase and one for the next, and the results of the phases that are over. At a replica the values
// form a partial result, which is sent to the phaser's home; the results come back from there.
//
//            written by                                      read by
//   cells_    the worker's tasks, for phase() and             the same
//             phase() + 1; the worker that completes the
//             phase, or at a replica reports its position
//   recent_   the worker that completes a phase;              tasks that signal and wait
//             not used at a replica
//   others    holder of lock_                                 holder of lock_
//
// Pairs
//   P1  The worker that completes a phase sees every value in its cells. A task that uses a cell
//       two phases later sees it reset. A task of the next phase sees the result. All three hold
//       because of the locks of the tree nodes, which every signal takes.
namespace apgas::inline v0::sync {

// The next two throw the phaser_use_error that says why the call is not allowed.
APGAS_API void refuse_send(const registration& r, const char* operation);
APGAS_API void refuse_read(const registration& r, const char* operation);
// Throws illegal_operation if the task may not suspend to wait for a result from the phaser's home.
APGAS_API void check_may_await_result();
// Asks the home for the result; it is delivered by set_result().
APGAS_API void ask_for_result(const registration& r, std::uint32_t index, std::int64_t p);
// Throws phaser_use_error if the task is not at the phaser's home.
APGAS_API void check_is_home(const registration& r, const char* operation);
inline void check_may_send(const registration& r, const char* operation) {
  if (!r.signals() || r.in_single || r.has_signalled()) [[unlikely]]
    refuse_send(r, operation);
}
inline void check_may_read(const registration& r, const char* operation) {
  if (!r.waits() || r.in_single || r.waited == 0) [[unlikely]]
    refuse_read(r, operation);
}
APGAS_API [[noreturn]] void throw_no_result(std::int64_t phase);
APGAS_API [[noreturn]] void throw_not_sendable(const registration& r, const char* operation);
APGAS_API std::size_t workers_of(const scheduler::fiber& self) noexcept;

// A task that waits for a result from the phaser's home.
struct awaited_result {
  std::int64_t phase;
  handoff come;
  awaited_result* next = nullptr;
};

template <class T, class Op>
class accumulator_core final : public phase_action {
 public:
  // Whether tasks at other places may use the accumulator.
  static constexpr bool travels =
      comm::sendable_value<T> && (comm::byte_copyable<T> || std::default_initializable<T>);

  accumulator_core(Op op, T identity, std::size_t workers, bool replica = false)
      : op_(std::move(op)),
        identity_(std::move(identity)),
        replica_(replica),
        cells_(workers, cell(identity_)) {}

  void send(scheduler::fiber& self, const registration& r, const T& x) {
    const std::int64_t s = r.signalled;
    if (!r.waits() && s - r.node->phase() > 1) [[unlikely]]
      return send_ahead(s, x);
    const section_guard no_suspension(self);  // while this worker's cell is in use
    cell& mine = cells_[static_cast<std::size_t>(self.on->id)];
    T& to = mine.value.of[s & 1];
    to = op_(to, x);
    if (replica_) [[unlikely]]
      mine.value.used[s & 1] = true;
  }

  T result(const registration& r, const scheduler::call_site& where) {
    const std::int64_t p = r.waited - 1;
    // The result stays valid while this task is in its phase.
    const outcome* found = r.signals() && !replica_ ? recent_[p & 1] : kept(p);
    if (replica_ && found == nullptr) [[unlikely]]
      found = asked_for(r, p, where);
    if (found == nullptr || found->phase != p) [[unlikely]]
      return without_result(p);
    if (found->error != nullptr) [[unlikely]]
      std::rethrow_exception(found->error);
    return *found->value;
  }

  void phase_ended(std::int64_t p, std::int64_t oldest) noexcept override {
    results gone;  // destroyed after the lock is released
    auto room = room_for_outcome(oldest, gone);
    if (room.empty()) {  // out of memory
      recent_[p & 1] = nullptr;
      return;
    }
    outcome& made = room.mapped();
    made = {.phase = p, .value = {}, .error = {}};
    try {
      made.value = reduce(p, true);
    } catch (...) {
      made.error = std::current_exception();
    }
    recent_[p & 1] = &made;
    room.key() = p;
    std::lock_guard hold(lock_);
    results_.insert(std::move(room));
  }

  void last_phases_ended(std::int64_t p, std::int64_t oldest) noexcept override {
    std::int64_t last = p;
    {
      std::lock_guard hold(lock_);
      if (!ahead_.empty()) last = std::max(last, ahead_.rbegin()->first);
    }
    for (; p <= last; ++p) phase_ended(p, oldest);
  }

  void add_part(std::int64_t p, const phase_value& v) noexcept override {
    parts added = unpack(v);
    std::lock_guard hold(lock_);
    parts& all = ahead_[p];
    if (added.error != nullptr) all.error = std::move(added.error);
    for (T& x : added.values) all.values.push_back(std::move(x));
  }

  phase_value result_of(std::int64_t p) noexcept override {
    const outcome* const found = kept(p);
    if (found == nullptr) return ended_before(p) ? pack(identity_) : phase_value{};
    return found->error != nullptr ? pack_error(found->error) : pack(*found->value);
  }

  std::optional<part> take_part(std::int64_t now, std::int64_t first) noexcept override {
    std::int64_t p = now;
    while (p < first && p <= now + 1 && !any_used(p)) ++p;
    if (p >= first || p > now + 1) {
      std::lock_guard hold(lock_);
      if (ahead_.empty() || ahead_.begin()->first >= first) return std::nullopt;
      p = ahead_.begin()->first;
    }
    try {
      return part{p, pack(reduce(p, p <= now + 1))};
    } catch (...) {
      return part{p, pack_error(std::current_exception())};
    }
  }

  void set_result(std::int64_t p, std::int64_t oldest, const phase_value& v) noexcept override {
    parts come = unpack(v);
    results gone;  // destroyed after the lock is released
    awaited_result* asked = nullptr;
    {
      std::lock_guard hold(lock_);
      while (!results_.empty() && results_.begin()->first < oldest - 1) {
        gone.insert(results_.extract(results_.begin()));
      }
      if (v.is != phase_value::kind::nothing) {
        outcome& made = results_[p];
        made = {.phase = p, .value = {}, .error = std::move(come.error)};
        if (made.error == nullptr) made.value = std::move(come.values.front());
      }
      for (awaited_result** at = &asked_; *at != nullptr;) {
        if ((*at)->phase != p) {
          at = &(*at)->next;
          continue;
        }
        awaited_result* const one = *at;
        *at = one->next;
        one->next = std::exchange(asked, one);
      }
    }
    while (asked != nullptr) std::exchange(asked, asked->next)->come.signal();
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
    bool used[2] = {};  // at a replica: whether a task has sent anything
  };
  struct parts {  // the values for a phase that were not sent through a cell
    std::vector<T> values;
    std::exception_ptr error;
  };
  struct cell {
    explicit cell(const T& identity) : value{{identity, identity}} {}
    alignas(base::cache_line_bytes) pair value;
  };

  // For signal-only tasks that are more than one phase ahead.
  [[gnu::noinline]] void send_ahead(std::int64_t s, const T& x) {
    T copy(x);
    std::lock_guard hold(lock_);
    ahead_[s].values.push_back(std::move(copy));
  }

  static phase_value pack(const T& x) {
    if constexpr (travels) {
      try {
        comm::out_archive to;
        to(x);
        return {phase_value::kind::value, {to.bytes().begin(), to.bytes().end()}};
      } catch (...) {
        return pack_error(std::current_exception());
      }
    } else {
      return {};  // no replica has an accumulator of this type
    }
  }
  static parts unpack(const phase_value& v) noexcept {
    if (v.is == phase_value::kind::nothing) return {};
    try {
      if (v.is == phase_value::kind::error) return {{}, unpack_error(v)};
      if constexpr (travels) {
        comm::in_archive from(v.bytes);
        parts one;
        one.values.push_back(from.read<T>());
        return one;
      }
    } catch (...) {
      return {{}, std::current_exception()};
    }
    return {};
  }

  bool any_used(std::int64_t p) noexcept {
    bool any = false;
    for (cell& c : cells_) any |= std::exchange(c.value.used[p & 1], false);
    return any;
  }

  // At a replica: waits for a result that did not come by itself, since the task came from another
  // place after that phase was over. Null if the home has no such result either.
  [[gnu::noinline]] const outcome* asked_for(const registration& r, std::int64_t p,
                                             const scheduler::call_site& where) {
    check_may_await_result();
    awaited_result me{.phase = p, .come = {}};
    bool first = true;
    {
      std::lock_guard hold(lock_);
      if (const auto at = results_.find(p); at != results_.end()) return &at->second;
      for (const awaited_result* a = asked_; a != nullptr; a = a->next) first &= a->phase != p;
      me.next = std::exchange(asked_, &me);
    }
    if (first) ask_for_result(r, index(), p);
    me.come.wait({"accumulator::result", nullptr, where});
    return kept(p);
  }

  // For wait-only tasks, which may lag behind.
  [[gnu::noinline]] const outcome* kept(std::int64_t p) noexcept {
    std::lock_guard hold(lock_);
    const auto at = results_.find(p);
    return at == results_.end() ? nullptr : &at->second;
  }

  // Phases that ended because the last signaller left have no reduction.
  [[gnu::noinline]] T without_result(std::int64_t p) {
    if (!ended_before(p)) throw_no_result(p);
    return identity_;
  }
  bool ended_before(std::int64_t p) noexcept {
    std::lock_guard hold(lock_);
    return !results_.empty() && p > results_.rbegin()->first;
  }

  // Returns the map entry of a result that no task can ask for any more, or else a new entry. Moves
  // all other outdated results into `gone`. Empty if there is no memory.
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

  T reduce(std::int64_t p, bool with_cells) {
    T total = identity_;
    std::exception_ptr error;
    for (cell& c : std::span(cells_).first(with_cells ? cells_.size() : 0)) {
      try {
        const T mine = std::exchange(c.value.of[p & 1], identity_);
        if (error == nullptr) total = op_(total, mine);
      } catch (...) {
        error = std::current_exception();  // go on: the remaining cells must be reset, too
      }
    }
    if (error != nullptr) std::rethrow_exception(error);
    parts others;
    {
      std::lock_guard hold(lock_);
      const auto at = ahead_.find(p);
      if (at != ahead_.end()) {
        others = std::move(at->second);
        ahead_.erase(at);
      }
    }
    if (others.error != nullptr) std::rethrow_exception(others.error);
    for (const T& x : others.values) total = op_(total, x);
    return total;
  }

  const Op op_;
  const T identity_;
  const bool replica_;
  std::vector<cell> cells_;
  const outcome* recent_[2] = {nullptr, nullptr};
  base::spin_lock lock_;
  results results_;
  std::map<std::int64_t, parts> ahead_;  // by phase
  awaited_result* asked_ = nullptr;
};

}  // namespace apgas::inline v0::sync
