// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/types.h>

#include <apgas/base/atomic.hpp>
#include <apgas/base/choices.hpp>
#include <apgas/base/random.hpp>
#include <apgas/scheduler/seeded_schedule.hpp>

#include "parker.hpp"

// The turns of a seeded schedule. The threads that run tasks, which are the workers of all places
// and the helper threads, take turns: only the thread that has the turn runs. It passes the turn at
// points that the scheduling loop chooses, and a random number from the seed decides which one is
// next.
//
// A thread that waits for its turn is *ready* or *asleep*. An asleep worker becomes ready when its
// parker gets a token or when the time comes until which it sleeps. As only the thread that has
// the turn leaves tokens, the set of ready threads is the same in each run with this seed.
//
// Time is virtual: it advances by a microsecond with each turn. When no thread is ready it jumps to
// the next timer, and sometimes it does so although a thread is ready, as if that were slow.
//
// Two things are outside the schedule, and make it depend on more than the seed: threads of the
// program that make tasks ready, and a thread that has the turn and blocks in the kernel while
// others are ready. In the second case a monitor thread takes the turn away from it, so that the
// program goes on. That thread is *astray* until it reaches its next point.
//
//   time_       written by any thread (read_time()), and under mutex_; read by any thread
//   ended_      written under mutex_, read by any thread
//   all else    guarded by mutex_
//
// Invariants
//   I1  At most one participant has the state `running`. All others wait for their turn, are astray
//       or gone.
//   I2  No thread takes a lock of the scheduler while it holds mutex_. So mutex_ may be taken
//   inside
//       any critical section.
//   I3  A thread passes its turn only where it holds no lock of the library.
//
// Pairs
//   P1  A thread that reads ended_ == true sees ended_at_.
namespace apgas::inline v0::scheduler {

class turns final : public base::choice_source, public wake_observer {
 public:
  using clock = std::chrono::steady_clock;
  using time = clock::time_point;

  using explain_function = seeded_schedule::explain_function;

  // What the schedule asks of the scheduler of a place.
  class place {
   public:
    place() = default;
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    // Returns when the next timer expires; max() if there is none. Takes no lock.
    virtual time next_timer() const noexcept = 0;
    // Whether no task of the place can run again, unless another place or a thread of the program
    // makes one ready. Context: the monitor thread, while nobody has the turn.
    virtual bool is_stuck() noexcept = 0;
    // Sets the function that describes what the tasks of the place wait for.
    virtual void explain_with(explain_function f) noexcept = 0;
    // Called at the first place: reports what the tasks of all places wait for, and ends the
    // process if that is what to do about a deadlock. Context: the same.
    virtual void report_deadlock(std::span<place* const> all) noexcept = 0;

   protected:
    ~place() = default;
  };

  struct participant;

  turns(std::uint64_t seed, int places);
  turns(const turns&) = delete;
  turns& operator=(const turns&) = delete;
  virtual ~turns();

  std::uint64_t seed() const noexcept { return seed_; }
  std::string description() const;

  // ---- before the first turn --------------------------------------------------------------------
  // Adds the workers of place `number`. Context: any thread, once for each place.
  void add_place(int number, int workers, place& of);
  void explain_with(int number, explain_function f) noexcept;
  // The scheduler of this place is about to be destroyed. Requires: the schedule has ended.
  void remove_place(int number) noexcept;
  participant& worker(int number, int id) noexcept;
  // Says that a place is complete; the first turn begins when all are, and all workers wait.
  void place_is_ready() noexcept;

  // ---- a participant ----------------------------------------------------------------------------
  // Passes the turn to a ready participant, which may be the calling one again, and returns when
  // the caller has the turn. Returns at once if the schedule has ended.
  void pass(participant& self) noexcept;
  // Passes the turn and sleeps until `token` has a token, which it takes, or until the virtual time
  // `until`, or until the schedule has ended. Returns whether it has taken the token.
  [[nodiscard]] bool sleep(participant& self, parker& token, time until) noexcept;

  // A call on a helper thread takes part, too: add_call() when the call is submitted, await_turn()
  // on its thread before it begins, leave() when it has ended.
  participant& add_call();
  void await_turn(participant& self) noexcept;
  void leave(participant& self) noexcept;

  // ---- any thread -------------------------------------------------------------------------------
  std::uint32_t below(std::uint32_t bound) noexcept override;
  // The virtual time. When the schedule has ended, it runs on as the clock does.
  time now() const noexcept;
  // The same for a task that computes a deadline: no two calls return the same time.
  time read_time() noexcept;
  bool ended() const noexcept { return ended_.load(base::acquire); }  // P1
  void end() noexcept;
  // A sleeping worker has got a token.
  void woken() noexcept override;
  // A task has become ready. If the caller does not have the turn, that depends on more than the
  // seed.
  void note_ready() noexcept;

 private:
  enum class state : std::uint8_t { absent, ready, running, asleep, astray, gone };

  bool has_turn() const noexcept;  // the calling thread
  bool is_ready(const participant& p) const noexcept;
  std::uint32_t draw(std::uint32_t bound) noexcept;
  void note(std::uint64_t decision) noexcept;
  void deviate(const char* why) noexcept;
  void pass_time(std::chrono::nanoseconds by) noexcept;
  void jump_to(time to) noexcept;
  time next_timer() const noexcept;
  participant* dispatch() noexcept;
  participant* begin_if_complete() noexcept;
  static void arrive(participant& self) noexcept;
  static void hand_over(participant& self, participant* next) noexcept;

  // Of the monitor thread (turns_monitor.cpp).
  void monitor();
  bool is_deadlock(std::unique_lock<std::mutex>& lock);
  void report_deadlock(std::unique_lock<std::mutex>& lock);
  void take_turn_away(std::unique_lock<std::mutex>& lock, bool blocked);

  const std::uint64_t seed_;
  const time begun_at_ = clock::now();
  mutable std::mutex mutex_;
  base::random_engine random_;
  std::uint32_t continues_ = 1;  // a thread passes its turn on in one of so many cases
  std::uint64_t fingerprint_;
  std::uint64_t decisions_ = 0;
  std::uint64_t turns_taken_ = 0;
  const char* deviation_ = nullptr;  // why the seed may not reproduce the schedule

  std::vector<place*> places_;
  std::size_t places_ready_ = 0;
  std::vector<std::vector<std::unique_ptr<participant>>> workers_;  // by place
  std::vector<std::unique_ptr<participant>> calls_;
  std::vector<participant*> everyone_;  // workers in the order of places, and then calls
  bool begun_ = false;
  participant* running_ = nullptr;
  base::atomic<std::int64_t> time_{0};  // in ns, since begun_at_
  base::atomic<bool> ended_{false};
  time ended_at_{};

  std::condition_variable monitor_wake_;
  std::condition_variable monitor_looked_;
  bool monitor_looks_ = false;  // at the places, without the lock
  bool stopping_ = false;
  std::thread monitor_;  // last
};

struct turns::participant {
  parker turn;  // has a token when the participant has the turn, or the schedule has ended
  state now = state::absent;
  bool is_call = false;
  pthread_t id{};
  pid_t thread = 0;         // the same thread as the kernel knows it; 0: not known yet
  parker* token = nullptr;  // while it is asleep
  time until{};             // the same
};

}  // namespace apgas::inline v0::scheduler
