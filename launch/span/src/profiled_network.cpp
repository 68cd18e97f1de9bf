// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/comm/out_of_memory.hpp>
#include <apgas/sync/remote_call.hpp>
#include <apgas/sync/remote_finish.hpp>
#include <apgas/sync/remote_phases.hpp>
#include <apgas/sync/remote_task.hpp>

#include "profiled_network.hpp"

namespace apgas::inline v0::launch {
namespace {

using comm::frame_kind;

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

bool is_of_phase(const comm::frame_header& header) noexcept {
  return header.kind == frame_kind::control && header.handler != sync::control_flow &&
         (header.handler & sync::control_phase) != 0;
}

// Writes the payload of a frame and what is appended to it.
void write_payload(std::byte* to, std::span<const std::byte> payload,
                   std::span<const std::uint64_t> words) noexcept {
  if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
  to += payload.size();
  std::memcpy(to, words.data(), words.size_bytes());
}

}  // namespace

// Returns what is appended to a frame. A report of started tasks lets tasks go on that must wait
// only because memory is limited, so it carries no path.
std::vector<std::uint64_t> profiled_transport::words_of(const comm::frame_header& header) noexcept {
  std::vector<std::uint64_t> words;
  if (header.kind != frame_kind::control || header.handler != sync::control_flow) {
    const bool returns = header.kind == frame_kind::finish ||
                         (header.kind == frame_kind::reply && header.credit != 0);
    const void* const phase =
        is_of_phase(header) ? place_.phases->object_of(header.finish) : nullptr;
    words = profile_->departs(
        {.phase = phase,
         .from_home = phase != nullptr && sync::phase_core::home_of(header.finish) == place_.here,
         .number = header.credit,
         .returns_credit = returns});
  }
  words.push_back(words.size());
  return words;
}

// The message holds one large frame.
void profiled_transport::post(comm::rank dest, comm::buffer message) noexcept {
  comm::frame_header header;
  std::memcpy(&header, message.data(), sizeof header);
  const std::vector<std::uint64_t> words = words_of(header);
  const std::size_t length = header.length + words.size() * word_bytes;
  const std::size_t bytes = comm::frame_bytes(length);
  comm::or_end_job(bytes, {"to", dest, nullptr}, [&] {
    comm::buffer whole = pool().get(bytes);
    std::memset(whole.data() + bytes - word_bytes, 0, word_bytes);  // the padding
    comm::write_header(whole.data(), header, length);
    write_payload(whole.data() + sizeof header, {message.data() + sizeof header, header.length},
                  words);
    whole.resize(bytes);
    inside().post(dest, std::move(whole));
  });
}

void profiled_transport::write(comm::rank dest, const comm::frame_header& header,
                               std::span<const std::byte> payload) noexcept {
  const std::vector<std::uint64_t> words = words_of(header);
  std::vector<std::byte> whole(payload.size() + words.size() * word_bytes);
  write_payload(whole.data(), payload, words);
  if (pass_on(dest, header, whole)) push();
}

// A message of a collective is found by the address of its payload when its member takes it.
scheduler::arriving_frame profiled_sink::describe(const comm::frame_header& header,
                                                  const void* payload) const noexcept {
  scheduler::arriving_frame frame;
  if (is_of_phase(header)) {
    frame.is_of_phase = true;
    frame.phase = place_.phases->object_of(header.finish);
  } else if (header.kind == frame_kind::finish) {
    frame.finish = place_.finishes->find(header.finish);
  } else if (header.kind == frame_kind::reply) {
    place_.calls->with(header.handler, [&](const sync::pending_call& call) {
      frame.call = call.awaited();
      if (header.credit != 0) frame.finish = &call.finish();
    });
  } else if (header.kind == frame_kind::control && header.handler != sync::control_flow) {
    frame.call = payload;
  }
  return frame;
}

void profiled_sink::on_frame(const comm::inbound_frame& frame) noexcept {
  const std::size_t bytes = frame.payload.size();
  std::uint64_t n = bytes;  // too many, unless the frame says how many
  if (bytes >= word_bytes) {
    std::memcpy(&n, frame.payload.data() + bytes - word_bytes, word_bytes);
  }
  bool good = n < bytes / word_bytes;
  comm::inbound_frame plain = frame;
  std::vector<std::uint64_t> words;
  if (good) {
    plain.payload = frame.payload.first(bytes - (n + 1) * word_bytes);
    words.resize(n);
    if (n != 0)
      std::memcpy(words.data(), plain.payload.data() + plain.payload.size(), n * word_bytes);
    good = profile_->arrives(describe(*frame.header, frame.payload.data()), words);
  }
  if (!good) {
    base::fatal(fmt::format(
        "place {} sent a frame without the path of the profile of work and span", frame.source));
  }
  inside_.on_frame(plain);
  inside_.on_message_end();
  profile_->handled();
}

}  // namespace apgas::inline v0::launch
