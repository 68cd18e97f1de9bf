// SPDX-License-Identifier: Apache-2.0
#pragma once

// Frames between ranks: puts small ones to the same rank into one message, checks every header that
// comes in, counts, and says when too much is waiting. One for each place and run, above a
// transport.
//
// A frame to a rank with nothing in flight goes at once. While a message to that rank is in flight
// frames gather; they go when the message is full, when progress notices the completion, when flush
// is called (the sender idles), or when they waited max_delay. Long frames go alone, after what
// gathered before them, and without a copy when they come in an archive.
// Frames of one rank to another arrive in the order of their sends, where the sends are ordered.
//
// No user code runs here: progress hands each frame to the sink, which must not block either.
//
// Pairs
//   P1  ready publishes the hosts and the right to send to the threads that progress.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <apgas/base/place_cores.hpp>
#include <apgas/comm/archive.hpp>
#include <apgas/comm/buffer.hpp>
#include <apgas/comm/handler.hpp>
#include <apgas/comm/lent_memory.hpp>
#include <apgas/comm/message.hpp>
#include <apgas/comm/rank.hpp>
#include <apgas/comm/transport.hpp>

namespace apgas::inline v0::comm {

// A frame that came in. Header and payload lie in `owner` and are valid during on_frame; to keep
// them, retain the owner, and release it when done.
struct inbound_frame {
  rank source;
  const frame_header* header;
  std::span<const std::byte> payload;  // begins at a multiple of 8
  inbound_buffer* owner;
  const handler_entry* handler;  // of a task frame: never nullptr; of others: nullptr
};

// Takes frames. Context: the thread in progress; must not block, suspend or run user code.
class frame_sink {
 public:
  virtual void on_frame(const inbound_frame& frame) noexcept = 0;
  // The frames of one message, which lie in its owner one after the other, have all been handed on.
  virtual void on_message_end() noexcept {}
  // A message that no correct peer sends; the rest of it is dropped. Ends the job by default.
  virtual void on_bad_message(rank source, const std::string& what) noexcept;

 protected:
  ~frame_sink() = default;
};

struct endpoint_options {
  std::size_t batch_bytes = std::size_t{16} << 10;  // a message of gathered frames
  std::size_t alone_bytes = std::size_t{4} << 10;   // a payload from here on goes alone
  std::chrono::nanoseconds max_delay = std::chrono::microseconds{50};
  std::size_t queue_bytes = std::size_t{64} << 20;  // per rank: more is congested
  std::string settings;                             // what all ranks must agree on, as text
  std::uint64_t fingerprint = binary_fingerprint();
  std::uint32_t version = 0;  // of the library; 0: APGAS_VERSION
  bool lends = true;          // memory of this process may be read by others of its node
  base::place_cores cores;    // what this rank may use of its host
};

enum class flush_reason : std::uint8_t { at_once, full, completed, idle, delayed, alone };
inline constexpr std::size_t flush_reasons = 6;
const char* to_string(flush_reason reason) noexcept;

// What went to and came from one rank. Bytes are those of messages.
struct traffic {
  std::uint64_t frames_sent = 0;
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t frames_received = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t flushes[flush_reasons] = {};  // messages sent, by reason

  traffic& operator+=(const traffic& other) noexcept;
};

// By rank, none null. Ranks that may use the same share one object.
using cores_by_rank = std::vector<std::shared_ptr<const base::place_cores>>;

class endpoint final : private message_sink {
 public:
  // Begins the start-up exchange; nothing may be sent before ready().
  // Requires: the transport has no other endpoint. Throws: std::invalid_argument for settings of
  // more than 383 bytes.
  endpoint(transport& network, frame_sink& sink, endpoint_options options = {});
  // Requires: the end protocol is through (or nothing was ever sent).
  ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  rank here() const noexcept { return network_.here(); }
  int size() const noexcept { return network_.size(); }
  transport& network() noexcept { return network_; }

  // True once all ranks have met and agree. Does not block.
  // Throws: launch_error, at every rank, when they do not: it names ranks, hosts and both values.
  bool ready();
  void wait_ready();  // the same, waiting. Context: outside tasks.
  // Requires: ready().
  const std::string& host(rank place) const noexcept;
  bool same_node(rank a, rank b) const noexcept {
    return nodes_[static_cast<std::size_t>(a)] == nodes_[static_cast<std::size_t>(b)];
  }

  // Hands over what each rank may use of the cores of its host, as that rank told it; a second call
  // returns nothing. Requires: ready(). Context: one thread.
  cores_by_rank take_cores() noexcept { return std::exchange(cores_, {}); }

  // From how many bytes on a range is lent to that rank rather than sent: when it can read this
  // process's memory. Taken for granted where this process can read its: they have the same user,
  // the same program and see each other. Requires: ready(). Context: any thread.
  std::size_t lends_from(rank dest) const noexcept;
  // For reading what that rank lent. Requires: ready().
  const lender& lender_at(rank source) const noexcept {
    return lenders_[static_cast<std::size_t>(source)].who();
  }

  // Sends a frame; of the header, `length` and `check` are filled in here. The payload is copied;
  // an archive that is long enough to go alone is handed over instead.
  // Throws: serialization_error over max_payload_bytes; std::bad_alloc.
  // Context: any thread; never blocks, also when congested.
  // Cost:    small frames: one short lock, a copy, no allocation in steady state.
  void send(rank dest, const frame_header& header, std::span<const std::byte> payload);
  void send(rank dest, const frame_header& header, out_archive&& payload);
  // The payload is `head` and then `body`; of a long one each byte is copied once.
  void send(rank dest, const frame_header& header, std::span<const std::byte> head,
            std::span<const std::byte> body);

  // Receives frames into the sink and moves what is waiting. True if it did anything.
  // Context: any thread, one at a time (another one gets false at once).
  bool progress() noexcept;
  // Sends everything that gathered, in flight or not. Context: any thread.
  void flush() noexcept;
  // Whether anything gathered is not yet posted (so that somebody must flush before all sleep).
  bool gathering() const noexcept;

  // Posted to that rank and not yet on its way; up to one message more may be gathering.
  std::size_t queued_bytes(rank dest) const noexcept { return network_.queued_bytes(dest); }
  bool congested(rank dest) const noexcept { return queued_bytes(dest) > options_.queue_bytes; }

  // The orderly end, after flush: no send may follow. progress() until end_done() is true; then
  // no frame of this run is in flight anywhere. Does not block.
  void begin_end() noexcept;
  bool end_done();

  // Context: any thread; what is received meanwhile may be counted in part.
  traffic traffic_with(rank other) const noexcept;
  traffic total_traffic() const noexcept;

 private:
  struct channel;
  using clock = std::chrono::steady_clock;
  enum class state { meeting, running, ending, over };

  void on_message(rank source, buffer message) noexcept override;
  void send_alone(rank dest, buffer message);
  bool waited_too_long(channel& to, rank dest, bool posted) noexcept;
  void mark(rank dest, bool gathers) noexcept;
  void gather(channel& to, const frame_header& header, std::span<const std::byte> payload);
  buffer close_message(channel& to, rank dest, flush_reason reason);
  bool flush_channels(bool all) noexcept;

  transport& network_;
  frame_sink& sink_;
  const endpoint_options options_;
  std::unique_ptr<channel[]> channels_;                       // one for each rank
  std::unique_ptr<base::atomic<std::uint64_t>[]> gathering_;  // a bit for each rank
  base::atomic<state> state_{state::meeting};
  std::vector<std::string> hosts_;
  std::vector<std::size_t> nodes_;  // the lowest rank of the same host, by rank
  cores_by_rank cores_;
  std::unique_ptr<known_lender[]> lenders_;  // by rank; of this node
};

}  // namespace apgas::inline v0::comm
