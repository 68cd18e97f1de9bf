// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/place_group.hpp>
#include <apgas/places/global_table.hpp>
#include <apgas/places/host_runs.hpp>
#include <apgas/places/call_signature.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/place_state.hpp>

// A team as one of its members sees it: who the members are, which call is under way, and what has
// come for it. How the members talk to each other is in team_collectives.hpp.
//
// Wire: control frames. `handler` has the bit control_team and the index of the team's name,
// `finish` the generation; the payload is a team_envelope, and the data.
//
// The members number their calls, and say with each message what they called. A message that
// belongs to another call than the receiver's under that number, or to one that the receiver has
// left, shows that the members called in different order: the team is broken then. All members are
// told, whoever waits is woken, and every call throws. To see also those that wait for each other
// without a message, who waits for long tells the next member what it has called (remote_teams).
namespace apgas::inline v0::remote {

class remote_teams;

inline constexpr std::uint64_t control_team = std::uint64_t{1} << 60;

// The generation of the team of all places, which nobody makes.
inline constexpr std::uint64_t world_generation = ~std::uint64_t{0};

// Wire: as it is in memory.
struct team_envelope {
  call_signature signature{};
  std::uint32_t sequence = 0;  // of the call
  std::uint32_t part = 0;
  std::uint16_t step = 0;
  std::uint16_t unused = 0;
  std::int32_t home = 0;  // of the name
};
static_assert(sizeof(team_envelope) == 40);

// A call that others wait in, and that place `holder` has not begun since it waits in another team
// itself. Wire: as it is in memory, behind the envelope of step_called.
struct held_call {
  global_id team{};
  std::uint32_t sequence = 0;
  std::int32_t holder = 0;
  call_signature waits_in{};
};
static_assert(sizeof(held_call) == 48);
using held_calls = std::vector<held_call>;
held_calls held_calls_of(const comm::inbound_frame& frame);

// A message that came, with the block it lies in.
class team_arrival {
 public:
  team_arrival() = default;
  explicit team_arrival(const comm::inbound_frame& frame) noexcept
      : owner_(frame.owner), data_(frame.payload.subspan(sizeof(team_envelope))) {
    owner_->retain();
  }
  team_arrival(team_arrival&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)), data_(other.data_) {}
  team_arrival& operator=(team_arrival&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~team_arrival() {
    if (owner_ != nullptr) owner_->release();
  }
  // Begins at a multiple of 8.
  std::span<const std::byte> data() const noexcept { return data_; }

 private:
  comm::inbound_buffer* owner_ = nullptr;
  std::span<const std::byte> data_;
};

class team_member {
 public:
  // Step numbers that no schedule has.
  static constexpr std::uint16_t step_called = 0xfffe;  // only says what was called
  static constexpr std::uint16_t step_broken = 0xffff;  // the data is the reason

  // `me`: the index of this place.
  team_member(sync::place_state& place, const global_id& id, place_group group, std::size_t me);
  team_member(const team_member&) = delete;
  team_member& operator=(const team_member&) = delete;

  const global_id& id() const noexcept { return id_; }
  const place_group& group() const noexcept { return group_; }
  std::size_t size() const noexcept { return group_.size(); }
  std::size_t index() const noexcept { return me_; }
  const host_runs& hosts() const noexcept { return hosts_; }

  // A call begins, and is over. One at a time. Context: task.
  // Throws: illegal_operation when the team is broken, or breaks now.
  void begin(const team_call& call);
  void end();
  // The call ends with the exception being handled: breaks the team, so that nobody waits for this
  // member. Context: task, in a catch block.
  void fail(const team_call& call) noexcept;

  // Sends data to a member, for the call under way. Context: task.
  void send(std::size_t to, std::uint16_t step, std::uint32_t part,
            std::span<const std::byte> data);
  // Waits for it. Throws: illegal_operation when the team breaks. Context: task; may suspend.
  team_arrival receive(std::size_t from, std::uint16_t step, std::uint32_t part);

  // So many calls that only the root waits in, or nobody but the others, may follow each other;
  // then a barrier keeps the members together. True: it is time for one.
  bool count_one_sided(std::size_t bytes) noexcept;
  void forget_one_sided() noexcept { one_sided_ = 0; }

  // Context: handler. Requires: the payload has an envelope.
  void deliver(const comm::inbound_frame& frame);
  // Tells the next member which call somebody waits in, and what that call holds up: `held` of this
  // place, and what was passed on. False: nobody waits. Context: any thread.
  bool tell_if_waiting(const held_calls& held) noexcept;

  // Teams that wait for each other (team_waits.cpp). Context of all: any thread.
  // Adds the call of this team that this place holds up, and what that holds up.
  void add_held(held_calls& to);
  // The member before this one waits in a call, which holds up these.
  void pass_on(std::uint32_t sequence, held_calls held);
  bool has_begun(std::uint32_t sequence);
  // This member waits in `mine`, and `mine.holder` waits in the end for this place to make a call
  // of another team. Says so when that lasts.
  void crossed(const held_call& mine, const global_id& other, std::uint32_t other_sequence);

 private:
  struct key {
    std::uint32_t sequence = 0;
    std::uint32_t part = 0;
    std::uint16_t step = 0;
    comm::rank source = 0;
    bool operator==(const key&) const = default;
  };
  struct letter {
    key where;
    call_signature signature;
    team_arrival what;
  };

  // How long what has been crossed, with which call of which other team.
  struct crossing {
    std::uint32_t sequence = 0;
    global_id other{};
    std::uint32_t other_sequence = 0;
    std::chrono::steady_clock::time_point first{};
    std::chrono::steady_clock::time_point last{};
    bool reported = false;
  };

  void post(comm::rank dest, team_envelope envelope, std::span<const std::byte> data);
  bool take(const key& wanted, letter& to);
  bool expects(const key& k) const noexcept;
  bool poll_for(const key& wanted, letter& to);
  std::string difference(comm::rank source, const call_signature& theirs, const call_signature& mine,
                         std::uint32_t sequence) const;
  void compare(comm::rank source, const call_signature& theirs, std::uint32_t sequence) noexcept;
  void mark_broken(std::string why) noexcept;
  void break_all(const std::string& why) noexcept;
  [[noreturn]] void throw_broken();

  static constexpr std::size_t remembered = 16;

  sync::place_state& place_;
  const global_id id_;
  const place_group group_;
  const host_runs hosts_;
  const std::size_t me_;

  // By the calling task.
  std::size_t one_sided_ = 0;

  base::spin_lock lock_;  // for all below
  std::uint32_t sequence_ = 0;
  bool calling_ = false;
  std::array<call_signature, remembered> signatures_{};  // of the last calls, by number
  std::vector<letter> letters_;                  // that nobody has taken
  // What the member before this one waits in, where this one has not come to yet.
  key ahead_;
  call_signature ahead_signature_;
  std::uint32_t passed_sequence_ = 0;  // the call that the member before this one waits in
  held_calls passed_;                  // and holds up
  crossing crossing_;
  scheduler::fiber* waiter_ = nullptr;
  key wanted_;
  std::string broken_;  // why; empty: it is not
};

}  // namespace apgas::inline v0::remote
