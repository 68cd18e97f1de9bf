// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/place_group.hpp>
#include <apgas/places/call_signature.hpp>
#include <apgas/places/global_table.hpp>
#include <apgas/places/host_runs.hpp>
#include <apgas/scheduler/object_names.hpp>
#include <apgas/scheduler/place_waits.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/place_state.hpp>

// A team at one of its members: its group, the call in progress, and the messages that have arrived
// for it. team_collectives.hpp has the communication of each collective.
//
// Wire: control frames. `handler` has the bit control_team and the index of the team's name,
// `finish` has its generation. The payload is a team_envelope, followed by data.
//
// Members number their calls. Each message carries the number and the signature of its call. If its
// signature differs from the receiver's call of that number, or if the receiver has left that call,
// the members have called collectives in different orders, and the team is *broken*: all members
// are told, waiting tasks are resumed, and every call throws. Members that wait for each other
// without sending a message are detected as well, because a member that waits for long tells the
// next one which call it is in (remote_teams).
//
// The members of a run (host_runs.hpp) also have bulletin boards (bulletin_board.hpp) among
// themselves: what a collective publishes there needs no message, unless a member that waits for it
// sleeps and must be woken. Either all runs of several members have boards, or none.
namespace apgas::inline v0::remote {

class remote_teams;
class team_board;
struct board_wait;

inline constexpr std::uint64_t control_team = std::uint64_t{1} << 60;

// The generation of team::world(), which is never created.
inline constexpr std::uint64_t world_generation = ~std::uint64_t{0};

// The header of each message.
// Wire: as in memory.
struct team_envelope {
  call_signature signature{};
  std::uint32_t sequence = 0;  // number of the call
  std::uint32_t part = 0;
  std::uint16_t step = 0;
  std::uint16_t unused = 0;
  std::int32_t home = 0;  // home of the team's name
};
static_assert(sizeof(team_envelope) == 40);

// A call that place `holder` holds up: members wait in it, `holder` has not begun it, and it waits
// in a call of another team itself.
// Wire: as in memory, after the envelope of step_called.
struct held_call {
  global_id team{};
  std::uint32_t sequence = 0;
  std::int32_t holder = 0;
  call_signature waits_in{};
};
static_assert(sizeof(held_call) == 48);
using held_calls = std::vector<held_call>;
held_calls held_calls_of(const comm::inbound_frame& frame);

// A received message. Keeps its buffer until it is destroyed.
class team_arrival {
 public:
  team_arrival() = default;
  explicit team_arrival(const comm::inbound_frame& frame) noexcept
      : owner_(frame.owner), data_(frame.payload.subspan(sizeof(team_envelope))) {
    frame.keep();
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
  // Its data, aligned to 8 bytes.
  std::span<const std::byte> data() const noexcept { return data_; }
  // Where its payload lies, by which the profile of work and span knows it.
  const void* payload() const noexcept { return data_.data() - sizeof(team_envelope); }

 private:
  comm::inbound_buffer* owner_ = nullptr;
  std::span<const std::byte> data_;
};

// Unless a comment says otherwise, its functions may be called from any thread.
class team_member {
 public:
  // Step numbers that no schedule uses. Messages with step_wake and step_check have no call.
  static constexpr std::uint16_t step_wake = 0xfffc;    // what the receiver waits for is published
  static constexpr std::uint16_t step_check = 0xfffd;   // the sender has waited long for a post
  static constexpr std::uint16_t step_called = 0xfffe;  // only tells in which call the sender waits
  static constexpr std::uint16_t step_broken = 0xffff;  // the team is broken; the data says why

  // `me` is the index of this place in the group.
  team_member(sync::place_state& place, const global_id& id, place_group group, std::size_t me);
  team_member(const team_member&) = delete;
  team_member& operator=(const team_member&) = delete;
  ~team_member();

  const global_id& id() const noexcept { return id_; }
  const place_group& group() const noexcept { return group_; }
  std::size_t size() const noexcept { return group_.size(); }
  std::size_t index() const noexcept { return me_; }
  const host_runs& hosts() const noexcept { return hosts_; }
  // The members of the run of this member.
  const span_of& run() const noexcept { return run_; }

  // Begin and end a call; there may be one at a time.
  // Context: task.
  // Throws: illegal_operation if the team is broken, or if this call breaks it.
  APGAS_API void begin(const team_call& call);
  APGAS_API void end();
  // Ends the call because of the exception being handled. This breaks the team, so that no member
  // waits for this one.
  // Context: task, in a catch block.
  APGAS_API void fail(const team_call& call) noexcept;

  // Sends data of the call in progress to a member.
  // Context: the calling task; may suspend while the connection is congested.
  void send(std::size_t to, std::uint16_t step, std::uint32_t part,
            std::span<const std::byte> data);
  // Waits for data of the call in progress from a member.
  // Throws: illegal_operation if the team breaks.
  // Context: the calling task; may suspend.
  team_arrival receive(std::size_t from, std::uint16_t step, std::uint32_t part);

  // Bulletin boards. Whether there may be some, since some runs have several members and none has
  // too many; and whether it is decided that there are, or not. All members get the same answers.
  bool may_use_boards() const noexcept;
  bool boards_decided() const noexcept { return boards_decided_; }
  // Uses the boards with this index in the shared areas of the members; none if it is negative.
  // Context: the calling task in the first call, or before the first.
  // Throws: std::bad_alloc.
  APGAS_API void decide_boards(int index);
  // The index of the board of this member, or -1.
  int board_index() const noexcept { return board_index_; }
  // Whether all runs of several members have boards; and whether this member has one.
  bool uses_boards() const noexcept { return board_index_ >= 0; }
  bool has_board() const noexcept { return board_ != nullptr; }

  // A collective on the boards of a run, within a call. Members are numbered from 0 within the run,
  // and posts of a member from 1 in each collective.
  // Context of all: the calling task; may suspend.
  // Throws of all: illegal_operation if the team breaks.
  void enter_boards();
  void leave_boards();
  // All members of the run have entered the collective that was left last, or the one that many
  // collectives before it.
  void note_all_entered(std::uint32_t before = 0) noexcept;
  // Publishes a post for all members, or for one of them.
  // Requires: it has at most post_bytes bytes.
  void publish(std::span<const std::byte> data);
  void publish_for(std::size_t reader, std::span<const std::byte> data);
  // Waits for a post, which must have that many bytes. The data may be read until take() or
  // leave_boards(). The post of this member itself must have been published.
  std::span<const std::byte> read(std::size_t from, std::uint32_t number, std::size_t bytes);
  // Refuses the size of a value if it comes from no correct member, since memory for it follows.
  void check_size(std::size_t from, std::uint64_t bytes);
  // Says that the posts of a member up to this one have been read.
  void take(std::size_t from, std::uint32_t number);
  static const std::size_t post_bytes;

  // Zero-copy posts (bulletin_board.hpp) of long data. Whether the members of the run use them,
  // since all can read each other's memory. All ask in the same call, before they enter the boards;
  // the first time they find out together.
  bool uses_zero_copy();
  // As publish_for(), or as publish() if `reader` is nobody. The data may not change, and their
  // memory must exist, until wait_until_copied() has returned, or withdraw() was called because an
  // exception leaves the call.
  void publish_address(std::size_t reader, std::span<const std::byte> data);
  void wait_until_copied();
  void withdraw() noexcept;
  // Waits for a zero-copy post, which must have that many bytes, and copies some of them, from
  // `first` on. May be called again until take().
  // Throws: serialization_error if they cannot be read.
  void copy_from(std::size_t from, std::uint32_t number, std::size_t bytes, std::size_t first,
                 std::span<std::byte> to);

  // Counts calls in which some members only send and do not wait. Returns true when so many have
  // followed each other that a barrier must keep the members together. forget_one_sided() starts
  // the count again.
  APGAS_API bool count_one_sided(std::size_t bytes) noexcept;
  void forget_one_sided() noexcept { one_sided_ = 0; }

  // Takes a message.
  // Context: handler.
  // Requires: the payload has an envelope.
  void deliver(const comm::inbound_frame& frame);
  // If a task waits, tells the next member of the team in which call, and which calls are held up
  // by that: `held` by this place, and those that were passed on to it. Returns the number of the
  // call in which a task waits; 0: none does.
  std::uint32_t tell_if_waiting(const held_calls& held) noexcept;

  // What a report says of this member; nothing if it has made no call.
  // Throws: std::bad_alloc.
  std::optional<scheduler::place_waits::team> for_report();
  // The name of what a task that waits in a collective waits for.
  scheduler::object_name name_for_report() const noexcept {
    return {.kind = 't',
            .first = static_cast<std::uint64_t>(place_.here),
            .second = reinterpret_cast<std::uintptr_t>(this)};
  }

  // Detection of teams that wait for each other (team_waits.cpp):
  //
  // Adds the call of this team that this place holds up, if any, and the calls held up by that.
  void add_held(held_calls& to);
  // Records that the previous member waits in a call which holds up these others.
  void pass_on(std::uint32_t sequence, held_calls held);
  // Whether this member has begun the call with this number.
  bool has_begun(std::uint32_t sequence);
  // Called when this member waits in call `mine`, while mine.holder waits, directly or through
  // others, for this place to make a call of another team. Prints a warning if that lasts.
  void crossed(const held_call& mine, const global_id& other, std::uint32_t other_sequence);

 private:
  struct key {
    std::uint32_t sequence = 0;
    std::uint32_t part = 0;
    std::uint16_t step = 0;
    comm::rank source = 0;
    bool operator==(const key&) const = default;
  };
  struct received_message {
    key where;
    call_signature signature;
    team_arrival what;
  };

  // A crossed wait: with which call of which other team, and since when.
  struct crossing {
    std::uint32_t sequence = 0;
    global_id other{};
    std::uint32_t other_sequence = 0;
    std::chrono::steady_clock::time_point first{};
    std::chrono::steady_clock::time_point last{};
    bool reported = false;
  };

  void wait_for_board(const board_wait& what);
  void wait_for_post(std::size_t from, std::uint32_t number, std::size_t bytes);
  bool poll_board(const board_wait& what);
  bool board_has(const board_wait& what) const noexcept;
  void check_call(std::size_t from, std::uint32_t number);
  void make_room(std::size_t bytes);
  void look_for_sleepers();
  void wake() noexcept;
  void check_board() noexcept;
  [[noreturn]] void refuse_board(std::size_t member);
  comm::rank rank_in_run(std::size_t member) const { return group_[run_.first + member].id(); }

  void post(comm::rank dest, team_envelope envelope, std::span<const std::byte> data);
  bool take(const key& wanted, received_message& to);
  bool expects(const key& k) const noexcept;
  bool poll_for(const key& wanted, received_message& to);
  std::string difference(comm::rank source, const call_signature& theirs,
                         const call_signature& mine, std::uint32_t sequence) const;
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
  const span_of run_;

  // Written by the calling task:
  std::size_t one_sided_ = 0;
  bool boards_decided_ = false;
  int board_index_ = -1;
  std::optional<bool> uses_zero_copy_;   // nothing: not found out yet
  std::uint64_t history_ = 0;            // a hash of the calls before the last one
  std::unique_ptr<team_board> board_;    // also read by other threads while the task is suspended
  base::atomic<bool> is_broken_{false};  // broken_ is not empty; set by any thread

  base::spin_lock lock_;  // protects everything below
  std::uint32_t sequence_ = 0;
  bool calling_ = false;
  scheduler::call_site called_at_{};  // of the present call, for reports
  std::array<call_signature, remembered>
      signatures_{};                        // of the last calls, by number modulo `remembered`
  std::vector<received_message> messages_;  // messages not taken yet
  // The call in which the previous member waits, if this one has not begun it yet.
  key ahead_;
  call_signature ahead_signature_;
  std::uint32_t passed_sequence_ = 0;  // the call in which the previous member waits
  held_calls passed_;                  // and the calls that it holds up
  crossing crossing_;
  scheduler::fiber* waiter_ = nullptr;
  key wanted_;
  const board_wait* awaited_ = nullptr;  // what the waiter waits for on a board; null: a message
  std::string broken_;                   // the reason; empty: not broken
};

}  // namespace apgas::inline v0::remote
