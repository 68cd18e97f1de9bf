// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <unordered_map>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/places/global_table.hpp>
#include <apgas/places/team_member.hpp>
#include <apgas/scheduler/scheduler.hpp>

// The table of the teams of which a place is a member. Tasks and arriving messages find their
// team_member in it.
//
// It also has the timer that looks for members which wait for a long time: every 100 ms it tells
// the next member of their team in which call they wait (team_member::tell_if_waiting).
namespace apgas::inline v0::remote {

// Each place has one.
class remote_teams final : public sync::place_extension {
 public:
  explicit remote_teams(sync::place_state& place);
  // Requires: stop() was called, or no team was ever used.
  ~remote_teams() override;

  // Makes this place a member of a team, and delivers the messages that arrived early.
  // Throws: std::bad_alloc.
  void add(const global_id& id, const place_group& group);
  // Ends the membership.
  void remove(const global_id& id) noexcept;
  // The membership in a team, or null. The object exists until remove().
  // Context: any thread.
  // Throws: std::bad_alloc.
  team_member* find(const global_id& id);

  // Delivers a message to its team, or keeps it if this place is not a member yet.
  // Context: handler.
  // Throws: std::bad_alloc.
  void on_message(const comm::inbound_frame& frame);

  // Starts the timer if it does not run. To be called after a task has begun to wait in a
  // collective, since a timer that expires before that finds nobody waiting, and stops.
  // Context: any thread that holds no lock of a member.
  // Cost: a load, in most cases.
  void watch() noexcept {
    if (!watching_.load(base::relaxed)) begin_watch();
  }
  // pause() stops the timer for a while, so that a place whose tasks only wait stands still, and
  // resume() starts it again. While it is stopped, no member is told anything new. pause() returns
  // false if the timer has just expired and cannot be stopped now.
  // Context: one thread, which is no worker.
  bool pause() noexcept;
  void resume() noexcept;
  // Whether the timer is set, or its task runs. Context: any thread.
  bool timer_set() noexcept;
  // What a report says of the teams of this place. Throws: std::bad_alloc. Context: any thread.
  std::vector<scheduler::place_waits::team> for_report();
  // How many messages have come that only tell in which call a member waits. Context: any thread.
  std::uint64_t heard() const noexcept { return heard_.load(base::relaxed); }

  // Stops the timer, because the workers stop.
  // Context: outside tasks.
  void stop() noexcept;

  // The bulletin boards of this place. A new team uses the first one that is free at all its
  // members: each offers those that are free, as a set of bits, and then takes the first one that
  // all have offered. While one team does so, another one is offered none, and so gets none.
  // Context: any thread.
  std::uint64_t offer_boards() noexcept;
  // Returns the board that the team gets, or -1.
  int take_board(std::uint64_t offered, std::uint64_t agreed) noexcept;

  // Changes how long a task waits until it is reported. For tests.
  void set_patience(std::chrono::microseconds time) noexcept;

  // How many messages told another member that one waits, or woke one. Their number depends on how
  // fast the members are. For tests.
  std::uint64_t told() const noexcept { return told_.load(base::relaxed); }
  void count_told() noexcept { told_.fetch_add(1, base::relaxed); }

 private:
  struct timer : scheduler::external_task {
    remote_teams* self;
  };
  struct hash {
    std::size_t operator()(const global_id& id) const noexcept {
      return std::size_t{id.generation} * 31 + static_cast<std::size_t>(id.home);
    }
  };

  std::uint64_t boards() const noexcept;
  team_member* look_up(const global_id& id);
  void begin_watch() noexcept;
  void set_timer() noexcept;
  bool looks_again(std::uint64_t calls) noexcept;
  void take_held(team_member& told, std::uint32_t sequence, held_calls held) noexcept;
  static scheduler::task_counter* look(scheduler::external_task* work,
                                       scheduler::fiber& self) noexcept;

  // The board of team::world().
  static constexpr int world_board = 0;

  sync::place_state& place_;
  base::spin_lock lock_;
  std::unordered_map<global_id, std::unique_ptr<team_member>, hash> members_;
  team_member* last_ = nullptr;  // the one found last: most lookups repeat
  std::vector<std::pair<global_id, comm::inbound_frame>>
      early_;  // messages of teams that are not known yet
  std::uint64_t used_boards_ = 1U << world_board;
  bool offering_ = false;
  base::atomic<bool> watching_{false};
  base::atomic<std::uint64_t> told_{0};
  base::atomic<std::uint64_t> heard_{0};
  bool paused_ = false;  // the timer runs in principle, but is not set
  bool stopped_ = false;
  std::uint64_t calls_ = 0;  // the numbers of the calls that waited at the last look, added up
  int looks_in_vain_ = 0;    // successive looks at the same calls
  // After this time a waiting task is reported to the next member, and then again and again.
  std::chrono::microseconds patience_{std::chrono::milliseconds(100)};
  std::chrono::steady_clock::time_point when_;
  timer timer_;
};

inline remote_teams& teams_of(const scheduler::fiber& self) noexcept {
  return *static_cast<remote_teams*>(sync::place_of(self).teams);
}

}  // namespace apgas::inline v0::remote
