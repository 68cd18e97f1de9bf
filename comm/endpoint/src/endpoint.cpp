// SPDX-License-Identifier: Apache-2.0

// The sending side of an endpoint: batching, and when a batch is sent. The receiving side is in
// endpoint_receive.cpp.
//
//                 written by                               read by
//   a channel     holder of its lock                       holder of its lock
//   has_batch_    holder of the channel's lock, its bit    any thread
//
// Invariants
//   I1  A bit of has_batch_ is set exactly while the channel of that rank has a batch, as seen by
//       the holder of its lock.
//   I2  Messages of a channel are posted under its lock, and therefore in the order of their
//       frames.

#include <apgas/comm/endpoint.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/comm/out_of_memory.hpp>
#include <apgas/errors.hpp>
#include <apgas/version.hpp>

#include "endpoint_channel.hpp"
#include "rank_names.hpp"
#include "start_record.hpp"

namespace apgas::inline v0::comm {

namespace {

constexpr std::size_t word_bits = 64;

std::size_t words_for(int size) {
  return (static_cast<std::size_t>(size) + word_bits - 1) / word_bits;
}

// A message that was sent longer ago than this fraction of max_delay is considered to have arrived
// even if no thread has noticed its completion. Otherwise frames would wait for a poll where no
// thread polls.
constexpr int stale_fraction = 8;

// The clock is read once per this many batched frames.
constexpr std::uint32_t frames_per_clock_read = 8;

// A frame that may be batched must fit into a message, and one that may be written into a record.
endpoint_options consistent(endpoint_options options) {
  options.batch_bytes = std::max(options.batch_bytes, 4 * sizeof(frame_header));
  options.unbatched_min_bytes =
      std::min({options.unbatched_min_bytes, options.batch_bytes - 2 * sizeof(frame_header),
                transport::written_frame_max - sizeof(frame_header)});
  return options;
}

[[noreturn]] void too_long(std::size_t bytes) {
  throw serialization_error(
      fmt::format("a payload of {} bytes was to be sent, but the limit is {} bytes. Send the data "
                  "in several messages",
                  bytes, max_payload_bytes));
}

cores_by_rank unpack_cores_of(const std::vector<start_record>& records) {
  std::map<std::string_view, std::shared_ptr<const base::place_cores>> known;  // by the bytes
  cores_by_rank cores;
  cores.reserve(records.size());
  for (const start_record& record : records) {
    const auto* const bytes = reinterpret_cast<const char*>(&record.cores);
    auto& same = known[std::string_view(bytes, sizeof record.cores)];
    if (same == nullptr)
      same = std::make_shared<const base::place_cores>(unpack_cores(record.cores));
    cores.push_back(same);
  }
  return cores;
}

}  // namespace

endpoint::endpoint(transport& network, frame_sink& sink, endpoint_options options)
    : network_(network),
      sink_(&sink),
      options_(consistent(std::move(options))),
      channels_(std::make_unique<channel[]>(static_cast<std::size_t>(network.size()))),
      batch_words_(words_for(network.size())),
      has_batch_(std::make_unique<base::atomic<std::uint64_t>[]>(batch_words_)) {
  keep_memory_for_exit_reason();
  const std::uint32_t version = options_.version ? options_.version : APGAS_VERSION;
  start_record mine = make_start_record(version, options_.fingerprint, options_.settings);
  write_host_name_of(here(), size(), mine.host, sizeof mine.host);
  if (options_.zero_copy) mine.memory = this_cma_process();
  mine.cores = pack_cores(options_.cores);
  mine.epoch = network_.attach();
  network_.begin_exchange(std::as_bytes(std::span(&mine, 1)));
}

endpoint::~endpoint() {
  APGAS_ASSERT(!has_batch(), "a run ended with frames that were not sent");
  network_.detach();
}

bool endpoint::ready() {
  if (state_.load(base::acquire) != state::exchanging) return true;  // P1
  std::vector<std::byte> all;
  if (!network_.exchange_done(all)) return false;
  const std::vector<start_record> records = compare_start_records(all);
  cma_peers_ = std::make_unique<cma_peer[]>(records.size());
  std::map<std::string, std::size_t> first_of;
  for (const start_record& record : records) {
    hosts_.push_back(host_of(record));
    first_on_host_.push_back(
        first_of.try_emplace(hosts_.back(), first_on_host_.size()).first->second);
  }
  cores_ = unpack_cores_of(records);
  for (rank r = 0; r < size(); ++r) {
    const auto i = static_cast<std::size_t>(r);
    if (same_node(r, here())) cma_peers_[i].set_process(records[i].memory);
    channels_[i].may_write = network_.writes_frames(r);
    channels_[i].writes_frames.store(channels_[i].may_write, base::relaxed);
  }
  state_.store(state::running, base::release);  // P1
  return true;
}

void endpoint::wait_ready() {
  while (!ready()) std::this_thread::yield();
}

const std::string& endpoint::host(rank place) const noexcept {
  return hosts_[static_cast<std::size_t>(place)];
}

std::size_t endpoint::zero_copy_from(rank dest) const noexcept {
  const bool read = options_.zero_copy && cma_peers_[static_cast<std::size_t>(dest)].readable();
  return read ? zero_copy_min_bytes : no_zero_copy;
}

void endpoint::send(rank dest, const frame_header& header, std::span<const std::byte> payload) {
  APGAS_ASSERT(0 <= dest && dest < size() && state_.load(base::relaxed) == state::running);
  const channel& to = channels_[static_cast<std::size_t>(dest)];
  if (to.writes_frames.load(base::relaxed) && payload.size() < options_.unbatched_min_bytes) {
    return network_.write(dest, header, payload);
  }
  send_in_message(dest, header, payload);
}

// Sends a frame in a message, alone or as a part of a batch.
[[gnu::noinline]] void endpoint::send_in_message(rank dest, const frame_header& header,
                                                 std::span<const std::byte> payload) {
  const std::size_t bytes = frame_bytes(payload.size());
  if (payload.size() >= options_.unbatched_min_bytes) {
    if (payload.size() > max_payload_bytes) too_long(payload.size());
    buffer message = network_.pool().get(bytes);
    write_frame(message.data(), header, payload);
    message.resize(bytes);
    send_unbatched(dest, std::move(message));
    return;
  }
  channel& to = channels_[static_cast<std::size_t>(dest)];
  if (to.may_write || observer_.load(base::relaxed) != nullptr) {
    if (!options_.batches_observed) return send_alone(dest, header, payload);
    tell_observer_of_small(to, dest, header, payload.size());
  }
  bool posted = false;
  {
    const std::scoped_lock guard(to.lock);
    if (to.frames != 0 && to.bytes() + bytes > options_.batch_bytes) {
      network_.post(dest, close_message(to, dest, flush_reason::full));
      posted = true;
    }
    if (to.frames == 0 && network_.queued_bytes(dest) == 0) {
      buffer message = network_.pool().get(bytes);
      write_frame(message.data(), header, payload);
      message.resize(bytes);
      to.count_message(1, bytes, flush_reason::at_once);
      network_.send(dest, std::move(message));
    } else {
      add_to_batch(to, header, payload);
      if (waited_too_long(to, dest, posted)) {
        network_.post(dest, close_message(to, dest, flush_reason::delayed));
        posted = true;
      } else if (!posted) {
        return;
      }
    }
  }
  if (posted) network_.push();
  to.last_post.store(clock::now(), base::relaxed);
}

// Adds a frame to the batch.
// Requires: the channel's lock; the frame fits into the message.
void endpoint::add_to_batch(channel& to, const frame_header& header,
                            std::span<const std::byte> payload) {
  const std::size_t bytes = frame_bytes(payload.size());
  to.last.end();
  if (bytes > sizeof(to.staged) - to.staged_bytes) {
    if (!to.message) to.message = network_.pool().get(options_.batch_bytes);
    to.unstage();
  }
  if (bytes > sizeof(to.staged)) {
    const std::size_t end = to.message.size();
    write_frame(to.message.data() + end, header, payload);
    to.message.resize(end + bytes);
  } else {
    std::byte* const frame = to.staged + to.staged_bytes;
    write_frame(frame, header, payload);
    to.last.begin(frame, header, payload.size());
    to.staged_bytes += bytes;
  }
  ++to.frames;
}

bool endpoint::add_task(rank dest, const frame_header& header, std::span<const std::byte> payload,
                        base::atomic<std::uint64_t>& bytes) noexcept {
  channel& to = channels_[static_cast<std::size_t>(dest)];
  if (to.writes_frames.load(base::relaxed)) return network_.add_task(dest, header, payload, bytes);
  if (!to.last.may_take(header)) return false;
  {
    const std::scoped_lock guard(to.lock);
    const std::size_t room =
        std::min(sizeof to.staged - to.staged_bytes, options_.batch_bytes - to.bytes());
    const std::size_t grown = to.last.add(header, payload, room);
    if (grown == 0) return false;
    to.staged_bytes += grown;
    bytes.store(bytes.load(base::relaxed) + grown, base::relaxed);
    const bool looks = ++to.added % frames_per_clock_read == 0;
    if (!looks || clock::now() - to.oldest <= options_.max_delay) return true;
    or_end_job(to.bytes(), {"to", dest, nullptr},
               [&] { network_.post(dest, close_message(to, dest, flush_reason::delayed)); });
  }
  network_.push();
  to.last_post.store(clock::now(), base::relaxed);
  return true;
}

void endpoint::send(rank dest, const frame_header& header, out_archive&& payload) {
  if (!payload.in_block() || payload.size() < options_.unbatched_min_bytes) {
    return send(dest, header, payload.bytes());
  }
  send_block(dest, header, std::move(payload));
}

[[gnu::noinline]] void endpoint::send_block(rank dest, const frame_header& header,
                                            out_archive&& payload) {
  APGAS_ASSERT(0 <= dest && dest < size() && state_.load(base::relaxed) == state::running);
  const std::size_t bytes = payload.size();
  buffer message = payload.take();
  write_header(message.data(), header, bytes);
  network_.pool().adopt(message);
  send_unbatched(dest, std::move(message));
}

void endpoint::send(rank dest, const frame_header& header, std::span<const std::byte> head,
                    std::span<const std::byte> body) {
  const std::size_t bytes = head.size() + body.size();
  if (std::byte together[out_bytes::inline_bytes]; bytes <= sizeof together) {
    std::memcpy(together, head.data(), head.size());
    if (!body.empty()) std::memcpy(together + head.size(), body.data(), body.size());
    return send(dest, header, std::span(together, bytes));
  }
  if (bytes > max_payload_bytes) too_long(bytes);
  buffer message = network_.pool().get(frame_bytes(bytes));
  std::byte* const payload = message.data() + sizeof(frame_header);
  std::memcpy(payload, head.data(), head.size());
  if (!body.empty()) std::memcpy(payload + head.size(), body.data(), body.size());
  if (bytes < options_.unbatched_min_bytes) return send(dest, header, std::span(payload, bytes));
  std::memset(payload + bytes, 0, padded(bytes) - bytes);
  write_header(message.data(), header, bytes);
  message.resize(frame_bytes(bytes));
  send_unbatched(dest, std::move(message));
}

void endpoint::send_unbatched(rank dest, buffer message) {
  channel& to = channels_[static_cast<std::size_t>(dest)];
  {
    const std::scoped_lock guard(to.lock);
    if (to.frames != 0) network_.post(dest, close_message(to, dest, flush_reason::full));
    if (observer_.load(base::relaxed) != nullptr) [[unlikely]] {
      frame_header header;
      std::memcpy(&header, message.data(), sizeof header);
      tell_observer(to, dest, header);
    }
    to.count_message(1, message.size(), flush_reason::unbatched);
    network_.post(dest, std::move(message));
  }
  network_.push();
  to.last_post.store(clock::now(), base::relaxed);
}

// Whether the batch must be sent without waiting for a poll. `posted`: a message was posted just
// before.
// Requires: the channel's lock.
bool endpoint::waited_too_long(channel& to, rank dest, bool posted) noexcept {
  if (to.frames == 1) {
    const auto now = clock::now();
    if (!posted && now - to.last_post.load(base::relaxed) > options_.max_delay / stale_fraction)
      return true;
    to.oldest = now;
    set_has_batch(dest, true);
    return false;
  }
  return to.frames % frames_per_clock_read == 0 && clock::now() - to.oldest > options_.max_delay;
}

void endpoint::set_has_batch(rank dest, bool has) noexcept {
  const auto index = static_cast<std::size_t>(dest);
  const std::uint64_t bit = std::uint64_t{1} << index % word_bits;
  base::atomic<std::uint64_t>& word = has_batch_[index / word_bits];
  if (has) {
    word.fetch_or(bit, base::relaxed);
  } else if (word.load(base::relaxed) & bit) {
    word.fetch_and(~bit, base::relaxed);
  }
}

// Takes the batch as a message to be posted.
// Requires: the channel's lock; the batch is not empty.
buffer endpoint::close_message(channel& to, rank dest, flush_reason reason) {
  if (!to.message) to.message = network_.pool().get(to.staged_bytes);
  to.unstage();
  to.count_message(to.frames, to.message.size(), reason);
  to.frames = 0;
  set_has_batch(dest, false);
  return std::exchange(to.message, buffer{});
}

bool endpoint::flush_channels(bool all) noexcept {
  bool any = false;
  clock::time_point now{};
  for (std::size_t w = 0; w < batch_words_; ++w) {
    std::uint64_t bits = has_batch_[w].load(base::relaxed);
    if (bits != 0 && now == clock::time_point{}) now = clock::now();
    for (; bits != 0; bits &= bits - 1) {
      const auto index = w * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
      const auto dest = static_cast<rank>(index);
      channel& to = channels_[index];
      const std::scoped_lock guard(to.lock);
      if (to.frames == 0) continue;
      flush_reason reason = flush_reason::idle;
      if (network_.queued_bytes(dest) == 0) {
        reason = flush_reason::completed;
      } else if (now - to.oldest > options_.max_delay) {
        reason = flush_reason::delayed;
      } else if (!all) {
        continue;
      }
      network_.post(dest, close_message(to, dest, reason));
      to.last_post.store(now, base::relaxed);
      any = true;
    }
  }
  if (any) network_.push();
  return any;
}

void endpoint::flush() noexcept { flush_channels(true); }

void endpoint::begin_end() noexcept {
  flush();
  APGAS_ASSERT(state_.load(base::relaxed) == state::running);
  state_.store(state::ending, base::relaxed);
  network_.begin_barrier();
}

bool endpoint::end_done() {
  if (state_.load(base::relaxed) == state::over) return true;
  APGAS_ASSERT(state_.load(base::relaxed) == state::ending, "begin_end comes first");
  if (!network_.barrier_done()) return false;
  state_.store(state::over, base::relaxed);
  return true;
}

}  // namespace apgas::inline v0::comm
