// SPDX-License-Identifier: Apache-2.0

// The receiving side of an endpoint. No field of a frame is used before its header has been
// checked.

#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/task_list.hpp>

#include "endpoint_channel.hpp"

namespace apgas::inline v0::comm {

namespace {

// More than the number of references that the frames of one message can need.
constexpr std::uint32_t many_references = std::uint32_t{1} << 31;

bool known(frame_kind kind) noexcept {
  return frame_kind::task <= kind && kind <= frame_kind::tasks;
}

enum class fault : std::uint8_t { none, checksum, kind, length, handler, task_list };

// Returns why the frame cannot be accepted. `left` is the number of bytes from its header to the
// end of the message. Sets `handler` for frames of tasks; before the call it is that of an earlier
// one, or null.
fault find_fault(const frame_header& header, std::size_t left, const handler_entry*& handler) {
  if (header.check != header_check(header)) return fault::checksum;
  if (!known(header.kind)) return fault::kind;
  if (frame_bytes(header.length) > left) return fault::length;
  if (is_task_kind(header.kind)) {
    if (!handler || handler->id != header.handler ||
        handler->thunk.load(base::relaxed) == nullptr) {
      handler = find_handler(header.handler);
    }
    if (!handler) return fault::handler;
  }
  if (header.kind == frame_kind::tasks &&
      !is_task_list({reinterpret_cast<const std::byte*>(&header + 1), header.length})) {
    return fault::task_list;
  }
  return fault::none;
}

[[gnu::cold]] std::string describe(fault what, const frame_header& header, std::size_t left) {
  switch (what) {
    case fault::checksum:
      return "a header does not match its checksum";
    case fault::kind:
      return fmt::format("unknown kind {}", static_cast<int>(header.kind));
    case fault::length:
      return fmt::format("a payload of {} bytes where {} are left", header.length,
                         left - sizeof(frame_header));
    case fault::handler:
      return fmt::format(
          "no handler {:#x} in this program and the libraries that it has loaded: load the same "
          "libraries at all places before their functions are sent",
          header.handler);
    case fault::task_list:
      return fmt::format("a payload of {} bytes that is no list of tasks", header.length);
    case fault::none:
      break;
  }
  return {};
}

}  // namespace

void frame_sink::on_bad_message(rank source, const std::string& what) noexcept {
  base::fatal(fmt::format("a message from rank {} is malformed: {}", source, what));
}

bool endpoint::progress(unsigned looks) noexcept {
  const state now = state_.load(base::acquire);  // P1 of endpoint.hpp
  if (now == state::exchanging || now == state::over) return false;
  const bool received = network_.progress_watching(*this, looks);
  return (has_batch() && flush_channels(false)) || received;
}

void endpoint::on_message(rank source, buffer message) noexcept {
  channel& from = channels_[static_cast<std::size_t>(source)];
  const std::size_t size = message.size();
  // A message and its frames are counted before they have effects.
  add(from.messages_received, 1);
  const auto* const header = reinterpret_cast<const frame_header*>(message.data());
  if (size < sizeof *header || frame_bytes(header->length) != size ||
      header->kind == frame_kind::tasks || find_fault(*header, size, from.handler) != fault::none) {
    return on_frames(source, std::move(message));
  }
  // A sink that keeps the only frame of a message takes over the only reference.
  from.received[static_cast<std::size_t>(header->kind)].add(size);
  frame_sink& sink = *sink_.load(base::acquire);  // P2 of endpoint.hpp
  inbound_buffer* const owner = message.detach();
  std::uint32_t kept = 0;
  sink.on_frame({source,
                 header,
                 {reinterpret_cast<const std::byte*>(header + 1), header->length},
                 owner,
                 is_task_kind(header->kind) ? from.handler : nullptr,
                 &kept});
  sink.on_message_end();
  if (kept == 0) owner->release();
}

// Takes a message of several frames, or one that cannot be accepted as a whole.
[[gnu::noinline]] void endpoint::on_frames(rank source, buffer message) noexcept {
  inbound_buffer* const owner = message.detach();
  const std::byte* const bytes = owner->data();
  const std::size_t size = owner->size();
  channel& from = channels_[static_cast<std::size_t>(source)];
  frame_sink& sink = *sink_.load(base::acquire);  // P2 of endpoint.hpp
  owner->retain(many_references - 1);
  std::uint32_t kept = 0;
  for (std::size_t at = 0; at < size;) {
    const std::size_t left = size - at;
    if (left < sizeof(frame_header)) {
      sink.on_bad_message(source, fmt::format("{} bytes where a header should be", left));
      break;
    }
    const auto* header = reinterpret_cast<const frame_header*>(bytes + at);
    if (const fault wrong = find_fault(*header, left, from.handler); wrong != fault::none)
        [[unlikely]] {
      sink.on_bad_message(source, describe(wrong, *header, left));
      break;
    }
    const std::byte* payload = bytes + at + sizeof(frame_header);
    at += frame_bytes(header->length);
    from.received[static_cast<std::size_t>(header->kind)].add(frame_bytes(header->length));
    sink.on_frame({source,
                   header,
                   {payload, header->length},
                   owner,
                   is_task_kind(header->kind) ? from.handler : nullptr,
                   &kept});
  }
  sink.on_message_end();
  owner->release(many_references - kept);
}

std::uint64_t endpoint::frames_received_from(rank source) const noexcept {
  std::uint64_t sum = 0;
  for (const auto& kind : channels_[static_cast<std::size_t>(source)].received) {
    sum += kind.frames.load(base::relaxed);
  }
  return sum;
}

const char* to_string(flush_reason reason) noexcept {
  constexpr const char* names[flush_reasons] = {"at once", "full",    "completed",
                                                "idle",    "delayed", "unbatched"};
  return names[static_cast<std::size_t>(reason)];
}

traffic& traffic::operator+=(const traffic& other) noexcept {
  frames_sent += other.frames_sent;
  messages_sent += other.messages_sent;
  bytes_sent += other.bytes_sent;
  frames_received += other.frames_received;
  for (std::size_t i = 0; i < frame_kinds; ++i) {
    received_by_kind[i] += other.received_by_kind[i];
    bytes_by_kind[i] += other.bytes_by_kind[i];
  }
  messages_received += other.messages_received;
  bytes_received += other.bytes_received;
  for (std::size_t i = 0; i < flush_reasons; ++i) flushes[i] += other.flushes[i];
  return *this;
}

traffic endpoint::traffic_with(rank other) const noexcept {
  channel& with = channels_[static_cast<std::size_t>(other)];
  const std::scoped_lock guard(with.lock);
  traffic result = with.sent;
  // The endpoint does not see which of these frames shared a record, and counts each as a message.
  const frame_counts written = network_.written(other);
  result.frames_sent += written.frames;
  result.messages_sent += written.frames;
  result.bytes_sent += written.bytes;
  result.flushes[static_cast<std::size_t>(flush_reason::at_once)] += written.frames;
  for (std::size_t i = 0; i < frame_kinds; ++i) {
    result.received_by_kind[i] = with.received[i].frames.load(base::relaxed);
    result.frames_received += result.received_by_kind[i];
    result.bytes_by_kind[i] = with.received[i].bytes.load(base::relaxed);
    result.bytes_received += result.bytes_by_kind[i];
  }
  result.messages_received = with.messages_received.load(base::relaxed);
  return result;
}

traffic endpoint::total_traffic() const noexcept {
  traffic sum;
  for (rank r = 0; r < size(); ++r) sum += traffic_with(r);
  return sum;
}

}  // namespace apgas::inline v0::comm
