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

// The teams that a place is a member of: finds them for tasks and for messages.
namespace apgas::inline v0::remote {

class remote_teams final : public sync::place_extension {
 public:
  explicit remote_teams(sync::place_state& place);
  // Requires: stop(), or no team was ever used.
  ~remote_teams() override;

  // This place becomes a member. What came before is delivered. Throws: std::bad_alloc.
  void add(const global_id& id, const place_group& group);
  // It is none any more.
  void remove(const global_id& id) noexcept;
  // Null: it is none. The member stays until remove(). Throws: std::bad_alloc. Context: any thread.
  team_member* find(const global_id& id);

  // Context: handler. Throws: std::bad_alloc.
  void on_message(const comm::inbound_frame& frame);

  // A task has begun to wait. Cost: a load, in most cases.
  void watch() noexcept {
    if (!watching_.load(base::relaxed)) begin_watch();
  }
  // The workers stop. Context: outside tasks.
  void stop() noexcept;

  // Messages that said what somebody waits in: for tests.
  std::uint64_t told() const noexcept { return told_.load(base::relaxed); }

 private:
  struct timer : scheduler::external_task {
    remote_teams* self;
  };
  struct hash {
    std::size_t operator()(const global_id& id) const noexcept {
      return std::size_t{id.generation} * 31 + static_cast<std::size_t>(id.home);
    }
  };

  team_member* look_up(const global_id& id);
  void begin_watch() noexcept;
  void take_held(team_member& told, std::uint32_t sequence, held_calls held) noexcept;
  static scheduler::task_counter* look(scheduler::external_task* work, scheduler::fiber& self) noexcept;

  // How long a task waits before the next member is told what it waits in.
  static constexpr std::chrono::milliseconds patience{100};

  sync::place_state& place_;
  base::spin_lock lock_;
  std::unordered_map<global_id, std::unique_ptr<team_member>, hash> members_;
  team_member* last_ = nullptr;  // that was looked up: most are looked up again and again
  std::vector<std::pair<global_id, comm::inbound_frame>> early_;  // for teams not known yet
  base::atomic<bool> watching_{false};
  base::atomic<std::uint64_t> told_{0};
  bool stopped_ = false;
  std::chrono::steady_clock::time_point when_;
  timer timer_;
};

inline remote_teams& teams_of(const scheduler::fiber& self) noexcept {
  return *static_cast<remote_teams*>(sync::place_of(self).teams);
}

}  // namespace apgas::inline v0::remote
