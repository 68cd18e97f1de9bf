// SPDX-License-Identifier: Apache-2.0
#pragma once

// A transport that sends to the places of its host through shared memory, and to all others through
// another transport, whose collectives it uses. Each pair of places uses one of the two for a whole
// run, so messages stay in order.
//
//                    written by                       read by
//   a sender         holders of its own lock          holders of its own lock
//   a receiver       holder of progress_lock_         holder of progress_lock_
//   all else         holder of progress_lock_         holder of progress_lock_
//
// Invariants
//   I1  A rank begins the end of a run at the inner transport only when the receivers have taken
//       everything that it sent through rings. So when the end is complete, all of it has been
//       delivered.
//   I2  A record carries the number of its run, and a receiver takes only those of its own run. A
//       faster rank may begin the next run, but its records wait. It can do so only when this rank
//       has called begin_barrier(), too; before that, a record of the next run is an error.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/transport.hpp>

#include "host_segment.hpp"
#include "ring_receiver.hpp"
#include "ring_sender.hpp"

namespace apgas::inline v0::comm {

// What a rank knows of the others when the transport starts.
struct shm_peers {
  std::vector<rank> of_host;             // the ranks of this host, in order
  std::size_t own_index = 0;             // of this rank in of_host
  std::vector<mapped_segment> segments;  // by index; empty where this rank uses the inner transport
  bool all_by_rings = false;             // no rank sends anything through the inner transport
  bool all_mapped = false;               // each rank of the job has mapped all segments of its host
};

class shm_transport final : public transport {
 public:
  // `inside` must outlive this object.
  shm_transport(transport& inside, std::unique_ptr<own_segment> segment, shm_peers peers);
  ~shm_transport() override;

  std::string_view name() const noexcept override { return name_; }
  bool wakes_on_arrival() const noexcept override { return false; }
  int descriptor() const noexcept override;
  bool arm() noexcept override;
  void set_wake(wake_function function, void* context) noexcept override;
  void post(rank dest, buffer message) noexcept override;
  void push() noexcept override;
  void send(rank dest, buffer message) noexcept override;
  bool writes_frames(rank dest) const noexcept override { return sender_to(dest) != nullptr; }
  void write(rank dest, const frame_header& header,
             std::span<const std::byte> payload) noexcept override;
  bool add_task(rank dest, const frame_header& header, std::span<const std::byte> payload,
                base::atomic<std::uint64_t>& bytes) noexcept override;
  frame_counts written(rank dest) noexcept override;
  bool progress(message_sink& sink) noexcept override { return progress_watching(sink, 0); }
  bool progress_watching(message_sink& sink, unsigned looks) noexcept override;
  void begin_exchange(std::span<const std::byte> mine) override { inside_.begin_exchange(mine); }
  bool exchange_done(std::vector<std::byte>& all) override { return inside_.exchange_done(all); }
  void begin_barrier() override;
  bool barrier_done() override;
  std::span<std::byte> shared_area(rank owner) const noexcept override {
    return areas_[static_cast<std::size_t>(owner)];
  }
  bool shares_areas() const noexcept override { return all_mapped_; }
  remote_memory* memory() noexcept override { return inside_.memory(); }
  [[noreturn]] void abort(int code) noexcept override;

 private:
  ring_sender* sender_to(rank dest) const noexcept {
    return senders_[static_cast<std::size_t>(dest)].get();
  }
  // Where a task or an idle worker waits for messages, a poll in which a ring has delivered one
  // leaves out the inner transport, because a look at that takes as long as a call within the host.
  // But every so many of these polls have such a look.
  static constexpr unsigned deliveries_before_inside = 16;

  void note_new_sources() noexcept;
  void add_sources(std::size_t word, std::uint64_t senders) noexcept;
  bool advance() noexcept;
  bool receive(message_sink& sink) noexcept;
  ring_receiver* first_filled() noexcept;
  ring_receiver* filled_within(unsigned looks) noexcept;

  transport& inside_;
  const std::string name_;
  const std::unique_ptr<own_segment> segment_;
  const bool all_by_rings_;
  const bool all_mapped_;
  base::atomic<int> unfinished_senders_{0};
  std::vector<std::unique_ptr<ring_sender>> senders_;  // by rank; null: by the inner transport
  std::vector<ring_sender*> ring_senders_;             // those that are not null
  std::vector<std::span<std::byte>> areas_;  // by rank, in the mappings that the senders hold
  std::vector<std::unique_ptr<ring_receiver>> receivers_;  // by index on the host
  // The bits of segment_header::senders that have been seen, and their receivers. They stay if the
  // memory is overwritten.
  std::vector<std::uint64_t> seen_;
  std::vector<ring_receiver*> sources_;
  int both_ = -1;  // a descriptor that is readable when either transport's is

  base::spin_lock progress_lock_;
  unsigned delivered_ = 0;        // polls in which a ring has delivered what was waited for
  bool end_asked_ = false;        // but not yet begun at the inner transport
  std::uint64_t latest_run_ = 0;  // since begin_barrier(), the run after the one that ended
};

// The transport over `inside` that uses shared memory between the ranks of each host; null if there
// are no two ranks that can. If some ranks cannot share memory with others of their host, which
// then use the inner transport, the reason is in `why_not`.
struct shared_memory_start {
  std::unique_ptr<transport> network;
  std::string why_not;
};
// Context: collective; blocks.
shared_memory_start share_memory(transport& inside);

}  // namespace apgas::inline v0::comm
