// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sends and receives frames between ranks. An endpoint batches small frames to the same rank into
// one message, checks the header of every frame that arrives, counts the traffic, and reports
// congestion. Each place has one endpoint per run, on top of a transport.
//
// A frame to a rank with no message in flight is sent immediately. While a message to that rank is
// in flight, further frames are batched. The batch is sent when the message is full, when
// progress() notices the completion, when flush() is called (because the sender is idle), or after
// max_delay. Long frames are sent separately, after the batch before them, and without a copy if
// they come in an archive. Frames from one rank to another arrive in the order in which they were
// sent, as far as the sends are ordered.
//
// No code of users runs here: progress() passes each frame to the sink, which must not block.
//
// Pairs
//   P1  A thread that sees the endpoint ready also sees the host names, and may send.
//   P2  A thread that sees an observer or its sink sees the complete object.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/base/place_cores.hpp>
#include <apgas/comm/archive.hpp>
#include <apgas/comm/buffer.hpp>
#include <apgas/comm/handler.hpp>
#include <apgas/comm/message.hpp>
#include <apgas/comm/rank.hpp>
#include <apgas/comm/transport.hpp>
#include <apgas/comm/zero_copy.hpp>

namespace apgas::inline v0::comm {

// A received frame. The header and the payload are part of `owner` and are valid during on_frame().
// Code that keeps them for longer calls keep(), and releases the owner when done.
struct inbound_frame {
  rank source;
  const frame_header* header;
  std::span<const std::byte> payload;  // aligned to 8 bytes
  inbound_buffer* owner;
  const handler_entry* handler;  // never nullptr for frames of tasks, nullptr for others
  std::uint32_t* kept;           // the references to `owner` that the sink keeps

  // Keeps `count` references to `owner`; more than one for each frame only if its kind is tasks.
  // Context: inside frame_sink::on_frame() or on_message_end().
  void keep(std::uint32_t count = 1) const noexcept { *kept += count; }
};

// Receives frames.
// Context: the thread inside progress(); must not block, suspend or run user code.
class frame_sink {
 public:
  virtual void on_frame(const inbound_frame& frame) noexcept = 0;
  // Called after all frames of one message, which are adjacent in its buffer, have been passed on.
  virtual void on_message_end() noexcept {}
  // Called for a malformed message, which no correct peer sends. The rest of it is dropped. By
  // default this ends the job.
  virtual void on_bad_message(rank source, const std::string& what) noexcept;

 protected:
  ~frame_sink() = default;
};

struct endpoint_options {
  std::size_t batch_bytes = std::size_t{16} << 10;  // size of a message of batched frames
  // Payloads from this size on go in a message of their own.
  std::size_t unbatched_min_bytes = std::size_t{4} << 10;
  std::chrono::nanoseconds max_delay = std::chrono::microseconds{50};
  std::size_t queue_bytes = std::size_t{64} << 20;  // per rank; beyond it the rank is congested
  std::string settings;                             // on which all ranks must agree, as text
  std::uint64_t fingerprint = binary_fingerprint();
  std::uint32_t version = 0;  // version of the library; 0: APGAS_VERSION
  // Frames that are observed are batched like others: not each is told in the task that sends it,
  // but the messages are those of a run without an observer.
  bool batches_observed = false;
  bool zero_copy = true;    // other places of this host may read this process's memory
  base::place_cores cores;  // the cores of its host that this rank may use
};

// Why a message was sent.
enum class flush_reason : std::uint8_t { at_once, full, completed, idle, delayed, unbatched };
inline constexpr std::size_t flush_reasons = 6;
const char* to_string(flush_reason reason) noexcept;

// The traffic with one rank. Bytes are those of whole messages.
struct traffic {
  std::uint64_t frames_sent = 0;
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t frames_received = 0;
  std::uint64_t received_by_kind[frame_kinds] = {};  // of these frames, by frame_kind
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_by_kind[frame_kinds] = {};  // of these bytes, by frame_kind
  std::uint64_t flushes[flush_reasons] = {};      // messages sent, by flush_reason

  traffic& operator+=(const traffic& other) noexcept;
};

// Is told of each frame that is sent, for a trace.
class frame_observer {
 public:
  frame_observer() = default;
  frame_observer(const frame_observer&) = delete;
  frame_observer& operator=(const frame_observer&) = delete;

  // The frame with this header is sent next. `number` counts the frames to this rank. It is that of
  // endpoint::frames_received_from() at the receiver; a frame that was sent while the observation
  // began may have taken it. Context: any thread; with a lock held.
  virtual void sent(rank dest, std::uint64_t number, const frame_header& header) noexcept = 0;

 protected:
  ~frame_observer() = default;
};

// The cores that each rank may use, by rank; no element is null. Ranks that may use the same cores
// share one object.
using cores_by_rank = std::vector<std::shared_ptr<const base::place_cores>>;

class endpoint final : private message_sink {
 public:
  // Starts the start-up exchange. Nothing may be sent before ready().
  // Requires: the transport has no other endpoint.
  // Throws: std::invalid_argument if the text of the settings is too long for the start record.
  endpoint(transport& network, frame_sink& sink, endpoint_options options = {});
  // Requires: end_done(), or nothing was ever sent.
  ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  rank here() const noexcept { return network_.here(); }
  int size() const noexcept { return network_.size(); }
  transport& network() noexcept { return network_; }

  // Returns true once all ranks have exchanged their records and agree. Does not block.
  // Throws: launch_error at every rank if they do not agree. It names ranks, hosts and both values.
  bool ready();
  void wait_ready();  // waits until ready(). Context: outside tasks
  // The name of the host of a rank, and whether two ranks are on the same host.
  // Requires: ready().
  const std::string& host(rank place) const noexcept;
  bool same_node(rank a, rank b) const noexcept {
    return first_on_host_[static_cast<std::size_t>(a)] ==
           first_on_host_[static_cast<std::size_t>(b)];
  }

  // Hands over the cores that each rank may use, as that rank announced them; a second call returns
  // nothing.
  // Requires: ready().
  // Context: one thread.
  cores_by_rank take_cores() noexcept { return std::exchange(cores_, {}); }

  // The size in bytes from which a range is sent to `dest` as a zero-copy range, or no_zero_copy if
  // `dest` cannot read this process's memory. That is assumed to be so exactly if this process can
  // read the memory of `dest`: both have the same user and program, and see each other.
  // Requires: ready().
  // Context: any thread.
  APGAS_API std::size_t zero_copy_from(rank dest) const noexcept;
  // The process whose memory holds zero-copy ranges sent by `source`.
  // Requires: ready().
  const cma_process& cma_process_of(rank source) const noexcept {
    return cma_peers_[static_cast<std::size_t>(source)].process();
  }

  // Sends a frame. `length` and `check` of the header are filled in. The payload is copied, except
  // that an archive which is long enough to be sent separately is handed over.
  // Throws: serialization_error if the payload exceeds max_payload_bytes; std::bad_alloc.
  // Context: any thread; never blocks, even if the rank is congested.
  // Cost: for a small frame one short lock and a copy, no allocation in steady state.
  APGAS_API void send(rank dest, const frame_header& header, std::span<const std::byte> payload);
  APGAS_API void send(rank dest, const frame_header& header, out_archive&& payload);
  // Sends `head` followed by `body` as one payload. Each byte of a long payload is copied once.
  APGAS_API void send(rank dest, const frame_header& header, std::span<const std::byte> head,
                      std::span<const std::byte> body);

  // Adds a task to the last frame to `dest`, if that waits to be sent and is a frame of tasks that
  // differ from this one only behind the first eight bytes of the payload (task_list.hpp). Returns
  // false if it is not; then the task must be sent. Adds the bytes by which the frame has grown to
  // `bytes`, which only these calls for the same `dest` write.
  // Context: any thread; never blocks.
  // Cost: one short lock and a copy; two loads if the last frame is of another task.
  APGAS_API bool add_task(rank dest, const frame_header& header, std::span<const std::byte> payload,
                          base::atomic<std::uint64_t>& bytes) noexcept;

  // From now on each frame is told to `observer` and sent at once (unless
  // endpoint_options::batches_observed), and received frames go to `sink`. Both must outlive the
  // endpoint. With null, frames are sent as usual. Requires: ready(). Context: any thread; one at a
  // time.
  void observe(frame_observer* observer, frame_sink& sink) noexcept;
  // How many frames have arrived from a rank. The one that is in the sink counts.
  // Context: the sink.
  std::uint64_t frames_received_from(rank source) const noexcept;

  // Receives frames into the sink and sends batches that must wait no longer. Returns true if it
  // did anything. `looks` is as in transport::progress_watching(). Context: any thread, one at a
  // time; other threads get false immediately.
  bool progress(unsigned looks = 0) noexcept;
  // Sends all batches.
  // Context: any thread.
  void flush() noexcept;
  // Whether any batch has not been posted yet, so that flush() is necessary before all workers
  // sleep.
  bool has_batch() const noexcept {
    for (std::size_t w = 0; w < batch_words_; ++w) {
      if (has_batch_[w].load(base::relaxed) != 0) return true;
    }
    return false;
  }

  // The bytes posted to `dest` and not completed. Up to one more message may be waiting as a batch.
  std::size_t queued_bytes(rank dest) const noexcept { return network_.queued_bytes(dest); }
  bool congested(rank dest) const noexcept { return queued_bytes(dest) > options_.queue_bytes; }

  // Ends the run in an orderly way; no send may follow. After begin_end(), the caller repeats
  // progress() until end_done() returns true. Then no frame of this run is in flight anywhere. Does
  // not block.
  void begin_end() noexcept;
  bool end_done();

  // The traffic with one rank, and with all ranks.
  // Context: any thread. Messages that are being received may be counted partially.
  traffic traffic_with(rank other) const noexcept;
  traffic total_traffic() const noexcept;

 private:
  struct channel;
  using clock = std::chrono::steady_clock;
  enum class state { exchanging, running, ending, over };

  void on_message(rank source, buffer message) noexcept override;
  void on_frames(rank source, buffer message) noexcept;
  void send_in_message(rank dest, const frame_header& header, std::span<const std::byte> payload);
  void send_alone(rank dest, const frame_header& header, std::span<const std::byte> payload);
  void tell_observer(const channel& to, rank dest, const frame_header& header) noexcept;
  void tell_observer_of_small(channel& to, rank dest, frame_header header,
                              std::size_t length) noexcept;
  void send_block(rank dest, const frame_header& header, out_archive&& payload);
  void send_unbatched(rank dest, buffer message);
  bool waited_too_long(channel& to, rank dest, bool posted) noexcept;
  void set_has_batch(rank dest, bool has) noexcept;
  void add_to_batch(channel& to, const frame_header& header, std::span<const std::byte> payload);
  buffer close_message(channel& to, rank dest, flush_reason reason);
  bool flush_channels(bool all) noexcept;

  transport& network_;
  base::atomic<frame_sink*> sink_;
  base::atomic<frame_observer*> observer_{nullptr};
  const endpoint_options options_;
  std::unique_ptr<channel[]> channels_;  // one per rank
  const std::size_t batch_words_;
  std::unique_ptr<base::atomic<std::uint64_t>[]> has_batch_;  // one bit per rank
  base::atomic<state> state_{state::exchanging};
  std::vector<std::string> hosts_;
  std::vector<std::size_t> first_on_host_;  // by rank: the lowest rank of its host
  cores_by_rank cores_;                     // until take_cores()
  std::unique_ptr<cma_peer[]> cma_peers_;   // by rank; set for ranks of this host
};

}  // namespace apgas::inline v0::comm
