// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/sync/credit.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/tree_return.hpp>

// The finishes of a place that reach other places, and those of other places that reach this one:
// drives the machines of finish_protocol.hpp and sends what they ask for.
namespace apgas::inline v0::sync {

struct place_state;
struct remote_finish;
struct finish_details;

// How frames name a finish: its home in the upper 20 bits, a number that home never uses again in
// the others. Number 0 of place 0 is no finish; number 1 of place 0 is the root.
using finish_id = std::uint64_t;
inline constexpr int finish_number_bits = 44;
inline constexpr finish_id root_finish = 1;
constexpr comm::rank home_of(finish_id id) noexcept {
  return static_cast<comm::rank>(id >> finish_number_bits);
}

// frame_header::flags of task and reply frames. The bits above say of a task frame at which level
// it is tied (tree_return.hpp).
enum frame_flags : std::uint8_t {
  flag_collecting = 1,  // task: the payload ends with the id of the finish's reducer
  flag_zero_copy = 1,    // reply: the value is lent, and the payload ends with a call (remote_call.hpp)
  flag_failed = 2,  // reply: the payload is an exception
  flag_spawn = 2,   // task: an async, which nobody waits for but its finish
  flag_registered = 4,  // both: the payload ends with registrations (registration_transfer.hpp)
};
inline constexpr std::uint8_t flag_all = 7;
inline constexpr int link_level_shift = 3;
constexpr std::uint8_t link_level_of(const comm::frame_header& header) noexcept {
  return header.flags >> link_level_shift;
}

// Task frames of one finish that came in one message, as the machines see them.
struct arrived_frames {
  explicit arrived_frames(const comm::inbound_frame& frame) noexcept
      : finish(frame.header->finish),
        source(frame.source),
        credit(frame.header->credit),
        level(link_level_of(*frame.header)),
        linked(level != 0 ? 1 : 0) {}

  // False: this frame is tied at another level.
  bool add(const comm::frame_header& header) noexcept {
    const std::uint8_t its_level = link_level_of(header);
    if (its_level != 0 && level != 0 && its_level != level) return false;
    ++count;
    credit += header.credit;
    level |= its_level;
    linked = static_cast<std::uint8_t>(linked + (its_level != 0 ? 1 : 0));
    return true;
  }

  finish_id finish;
  comm::rank source;
  std::uint64_t count = 1;
  credit_sum credit;
  std::uint8_t level;
  std::uint8_t linked;  // of them; at most tree_return::links_max
};

class remote_finishes {
 public:
  explicit remote_finishes(place_state& place);
  remote_finishes(const remote_finishes&) = delete;
  remote_finishes& operator=(const remote_finishes&) = delete;
  // Requires: no finish reaches another place any more.
  ~remote_finishes();

  // Sends a task frame to another place; the finish of the running task waits for its task, or the
  // root finish alone. Context: task. Throws: serialization_error, std::bad_alloc.
  void send_task(finish_core& finish, comm::rank dest, comm::frame_header header,
                 comm::out_archive& payload);
  void send_uncounted(finish_core& running, comm::rank dest, comm::frame_header header,
                      comm::out_archive& payload);

  // Makes `core` the root finish, at place 0, before any task runs.
  void open_root(finish_core& core);
  // Forgets the id of an ended finish. Context: the task that waited.
  void close(finish_details& details);

  // A task frame arrived: its task is counted in the finish that is returned.
  // Context: handler. `reducer`: of a collecting finish, else 0. The tasks of several frames will
  // be children of one that is counted.
  // Throws: std::bad_alloc.
  finish_core& on_tasks(const arrived_frames& frames, comm::handler_id reducer = 0);
  // A frame of kind finish. Context: handler. Throws: std::bad_alloc.
  void on_message(const comm::inbound_frame& frame);

  // The body of an `at` ended and holds a unit of `finish`. If nothing else of the finish is here,
  // what this place holds is returned and goes with the reply, else nothing (credit 0); what a
  // reply has no room for goes home in a message of its own. Context: task.
  returned_credit give_back_with_reply(finish_core& finish) noexcept;
  // Such a reply arrived for a task of `finish`. Context: handler.
  void on_reply(finish_core& finish, const returned_credit& returned) noexcept;

  // The last task here ended. Context: worker.
  void remote_idle(remote_finish& remote) noexcept;
  // Gives back for the replicas that are still idle. True if there were any. Context: poll.
  bool send_returns() noexcept;

  // To `parent`, whose ties it releases, or home.
  void send_return(finish_id id, tree_return::target to, comm::out_archive& payload) noexcept;

  // Frames of kind finish sent by this place, and returns that came to it; for tests.
  struct counts {
    std::uint64_t returns = 0, requests = 0, grants = 0, releases = 0, returns_in = 0;
  };
  counts count() const noexcept;

 private:
  void send_from_home(finish_core& finish, comm::rank dest, comm::frame_header header,
                      comm::out_archive& payload);
  void send_from_remote(remote_finish* own, finish_core* escapes_from, comm::rank dest,
                         comm::frame_header header, comm::out_archive& payload);
  void send_waiting(remote_finish& remote);
  std::unique_ptr<remote_finish> take_out(remote_finish& remote);
  void send_message(comm::rank dest, std::uint64_t operation, finish_id id, std::uint64_t credit,
                    comm::out_archive* payload);
  // `sender`: who says that there is such a finish here, or such a replica; it ends the job if not.
  finish_core& finish_at_home(finish_id id, comm::rank sender) noexcept;
  remote_finish& known_remote(finish_id id, comm::rank sender) noexcept;
  remote_finish& remote_of(finish_id id);
  void list(remote_finish& remote);
  void on_request(const comm::inbound_frame& frame);
  void on_return(const comm::inbound_frame& frame);
  void on_return_of_child(const comm::inbound_frame& frame);
  void on_release(const comm::inbound_frame& frame);
  void on_grant(const comm::inbound_frame& frame);
  void release_when_returned(finish_core& finish, bool all_returned) noexcept;

  place_state& place_;
  mutable base::spin_lock lock_;  // of everything below
  std::unordered_map<finish_id, finish_core*> at_home_;
  std::unordered_map<finish_id, std::unique_ptr<remote_finish>> remotes_;
  std::vector<remote_finish*> maybe_quiescent_;
  base::atomic<bool> quiescence_possible_{false};  // a hint, read without the lock
  finish_id next_id_;
  counts count_;
};

}  // namespace apgas::inline v0::sync
