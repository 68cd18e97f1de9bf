// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <apgas/base/biased_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/sync/credit.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/tree_return.hpp>

// Drives the remote finish protocol at one place: for the finishes of this place that reach other
// places, and for the remote finish states of finishes whose home is elsewhere. It feeds the state
// machines of finish_protocol.hpp with events and sends the messages that they ask for.
namespace apgas::inline v0::sync {

struct place_state;
struct remote_finish;
struct finish_details;

// The name of a finish in frames. The upper 20 bits are its home, the lower ones a number that the
// home place never uses twice. Number 0 of place 0 is no finish, number 1 of place 0 the root
// finish.
using finish_id = std::uint64_t;
inline constexpr int finish_number_bits = 44;
inline constexpr finish_id root_finish = 1;
// Returns the home place of a finish.
constexpr comm::rank home_of(finish_id id) noexcept {
  return static_cast<comm::rank>(id >> finish_number_bits);
}

// frame_header::flags of task and reply frames. In the frame of an async_at the bits above the
// first three are the level of a linked frame (tree_return.hpp).
enum frame_flags : std::uint8_t {
  flag_collecting = 1,  // task: the payload ends with the handler id of the finish's reducer
  flag_zero_copy = 1,   // reply: the value stays in the sender's memory (remote_call.hpp)
  flag_failed = 2,      // reply: the payload is an exception
  flag_spawn = 2,       // task: an async_at, for which only the finish waits
  flag_registered = 4,  // both: the payload ends with registrations (registration_transfer.hpp)
  flag_unlimited = 8,   // task, unless flag_spawn: flow control does not count it
};
inline constexpr std::uint8_t flag_all = comm::payload_flags;
inline constexpr int link_level_shift = 3;
// Returns the level of a linked frame; 0 if the frame is not linked.
constexpr std::uint8_t link_level_of(const comm::frame_header& header) noexcept {
  return (header.flags & flag_spawn) != 0 ? header.flags >> link_level_shift : 0;
}

// Whether flow control does not count a task frame.
constexpr bool is_unlimited(const comm::frame_header& header) noexcept {
  return (header.flags & (flag_spawn | flag_unlimited)) == flag_unlimited;
}

// Task frames of one finish that arrived in one message, as one event of the state machines.
struct arrived_frames {
  explicit arrived_frames(const comm::inbound_frame& frame) noexcept
      : finish(frame.header->finish),
        source(frame.source),
        credit(frame.header->credit),
        level(link_level_of(*frame.header)),
        linked(level != 0 ? 1 : 0) {}

  // Adds a frame. Returns false, and adds nothing, if it is linked at a different level.
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
  std::uint8_t level;   // of the linked frames
  std::uint8_t linked;  // how many frames are linked; at most tree_return::links_max
};

// The finishes of one place that span places.
class remote_finishes {
 public:
  explicit remote_finishes(place_state& place);
  remote_finishes(const remote_finishes&) = delete;
  remote_finishes& operator=(const remote_finishes&) = delete;
  // Requires: no finish reaches another place any more.
  ~remote_finishes();

  // Appends the reducer of a finish_reduce to the payload of a task frame, which all its tasks
  // carry. Context: task. Throws: std::bad_alloc.
  static void add_reducer(const finish_core& finish, comm::frame_header& header,
                          comm::out_archive& payload);
  // Sends a task frame to another place, after add_reducer(). The finish waits for the task; with
  // send_uncounted, only the root finish does, and `running` is the finish of the calling task. The
  // header is completed by the finish and the credit. Context: task. Throws: serialization_error,
  // std::bad_alloc.
  void send_task(finish_core& finish, comm::rank dest, comm::frame_header& header,
                 comm::out_archive& payload);
  void send_uncounted(finish_core& running, comm::rank dest, comm::frame_header& header,
                      comm::out_archive& payload);
  // Adds a task to the last frame to `dest`, whose credit then covers it as well, if that frame
  // waits to be sent and is of the same finish and the same kind of task. Returns false if it is
  // not; then the task must be sent. `bytes` is as in endpoint::add_task(). Context: task.
  // The header is completed by the finish.
  bool add_task(const finish_core& finish, comm::rank dest, comm::frame_header& header,
                std::span<const std::byte> payload, base::atomic<std::uint64_t>& bytes) noexcept;

  const place_state& place() const noexcept { return place_; }

  // Makes `core` the root finish. Context: place 0, before any task runs.
  void open_root(finish_core& core);
  // Forgets the name of a finish that has ended. Context: the task that waited for it.
  void close(finish_details& details);

  // Task frames arrived. Counts one task for all of them and returns the finish in which it counts;
  // the tasks of the single frames will be its children. `reducer` is that of a finish_reduce,
  // otherwise 0. Context: handler. Throws: std::bad_alloc.
  finish_core& on_tasks(const arrived_frames& frames, comm::handler_id reducer = 0);
  // Handles a frame of kind finish. Context: handler. Throws: std::bad_alloc.
  void on_message(const comm::inbound_frame& frame);

  // Called when the body of an `at` has ended; it releases the count of that task in `finish`. If
  // nothing else of the finish is left at this place, returns all credit of the place, to go with
  // the reply. Otherwise returns credit 0. What a reply has no room for goes in a return message.
  // Context: task.
  returned_credit give_back_with_reply(finish_core& finish) noexcept;
  // A reply with such credit arrived for a task of `finish`. Context: handler.
  void on_reply(finish_core& finish, const returned_credit& returned) noexcept;

  // The last task of a remote finish ended at this place. Context: worker.
  void remote_idle(remote_finish& remote) noexcept;
  // Sends the credit of all remote finishes that have become quiescent and still are. Returns
  // whether there were any. Context: poll.
  bool send_returns() noexcept {
    return quiescence_possible_.load(base::relaxed) && send_all_returns();
  }

  // Sends a return message to the parent, whose links it releases, or to the home place.
  void send_return(finish_id id, tree_return::target to, comm::out_archive& payload) noexcept;

  // Returns the counter of a finish at this place; null if there is none. Context: any thread.
  const scheduler::task_counter* find(finish_id id) const noexcept;

  // The finishes that have had a task at another place, with their names; for reports.
  // Throws: std::bad_alloc. Context: any thread.
  std::unordered_map<const scheduler::task_counter*, finish_id> names() const;

  // How many frames of kind finish this place has sent, and how many returns it has received; for
  // tests.
  struct counts {
    std::uint64_t returns = 0, requests = 0, grants = 0, releases = 0, returns_in = 0;
  };
  counts count() const noexcept;

 private:
  bool send_all_returns() noexcept;
  void enter_at_home(finish_id id, finish_core& finish);
  void send_from_home(finish_core& finish, comm::rank dest, comm::frame_header& header,
                      comm::out_archive& payload);
  void send_from_remote(remote_finish* own, finish_core* escapes_from, comm::rank dest,
                        comm::frame_header& header, comm::out_archive& payload);
  void send_waiting(remote_finish& remote);
  using home_table = std::unordered_map<finish_id, finish_core*>;
  using remote_table = std::unordered_map<finish_id, std::unique_ptr<remote_finish>>;

  remote_table::node_type extract(remote_finish& remote) noexcept;
  void retire(remote_finish& remote) noexcept;
  remote_finish& find_or_create(finish_id id);
  void send_message(comm::rank dest, std::uint64_t operation, finish_id id, std::uint64_t credit,
                    comm::out_archive* payload);
  // These end the job if the finish does not exist, naming `sender`, the place that referred to it.
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
  mutable base::biased_lock lock_;  // guards everything below, and the states of remote finishes
  home_table at_home_;
  std::vector<home_table::node_type> spare_home_nodes_;
  remote_table remotes_;
  remote_finish* last_ = nullptr;               // the one asked for last; it stays when it is over
  std::vector<remote_table::node_type> spare_;  // for the next remote finishes
  std::vector<remote_finish*> quiescence_candidates_;
  base::atomic<bool> quiescence_possible_{false};  // a hint, also read without the lock
  finish_id next_id_;
  counts count_;
};

}  // namespace apgas::inline v0::sync
