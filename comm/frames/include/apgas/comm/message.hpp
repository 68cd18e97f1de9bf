// SPDX-License-Identifier: Apache-2.0
#pragma once

// The format of messages. A transport carries whole messages; a message is a batch of frames; a
// frame is a header of 32 bytes and its payload, and each header starts at a multiple of 8 bytes.
// All processes of a job have the same architecture, which the start-up exchange verifies, so
// numbers are in native byte order.
//
// Invariants
//   - No field of a frame is used before its header has passed header_check().
//   - A single changed bit, and any change confined to one byte, of a header is detected.
//
// The format is specified in docs/protocols/wire.md.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace apgas::inline v0::comm {

// The purpose of a frame. comm uses it for checks only: the handler of a frame of tasks must be a
// registered thunk, and the payload of one of several tasks must be a list of them. In the other
// kinds, the receiver defines the meaning of `handler`, `finish` and `credit`.
enum class frame_kind : std::uint8_t {
  task = 1,     // runs `handler` on the payload
  reply = 2,    // returns a value or an exception to the caller
  finish = 3,   // the finish protocol
  control = 4,  // all others: clocks, teams, shutdown
  tasks = 5,    // runs `handler` on each element of the payload (task_list.hpp)
};
inline constexpr std::size_t frame_kinds = 6;  // the largest number and one
constexpr bool is_task_kind(frame_kind kind) noexcept {
  return kind == frame_kind::task || kind == frame_kind::tasks;
}

// The bits of frame_header::flags on which the form of a payload depends. The others are about the
// single frame.
inline constexpr std::uint8_t payload_flags = 7;

// The header of a frame. The endpoint fills in `length` and `check`.
// Wire: 32 bytes, in front of each payload.
struct frame_header {
  std::uint32_t length = 0;  // bytes of payload without its padding
  frame_kind kind = frame_kind::control;
  std::uint8_t flags = 0;  // for use by the layers above
  std::uint16_t check = 0;
  std::uint64_t handler = 0;
  std::uint64_t finish = 0;
  std::uint64_t credit = 0;
};
static_assert(sizeof(frame_header) == 32 && alignof(frame_header) == 8);
static_assert(std::is_trivially_copyable_v<frame_header> &&
              std::is_standard_layout_v<frame_header>);
static_assert(std::endian::native == std::endian::little);

// The longest payload in bytes. The size of such a message still fits into the int with which MPI
// counts.
inline constexpr std::size_t max_payload_bytes = std::size_t{1} << 30;

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

// The number of bytes that a frame with a payload of `payload` bytes occupies in a message.
constexpr std::size_t frame_bytes(std::size_t payload) noexcept {
  return sizeof(frame_header) + padded(payload);
}

// A header as four 64-bit words, with `check` still 0. The words are computed from the fields in
// registers. Writing the fields and then reading the words back would stall each time until all
// earlier stores had completed.
struct header_words {
  std::uint64_t word[4];
};

constexpr header_words unchecked_words(const frame_header& header, std::uint32_t length) noexcept {
  return {{length | std::uint64_t{static_cast<std::uint8_t>(header.kind)} << 32 |
               std::uint64_t{header.flags} << 40,
           header.handler, header.finish, header.credit}};
}

// The correct value of `check`. Each bit of the header contributes to exactly one bit of the
// result, and neighbouring bits contribute to different ones, which gives the second invariant.
constexpr std::uint16_t header_check(const header_words& unchecked) noexcept {
  const auto& w = unchecked.word;
  const std::uint64_t mixed =
      w[0] ^ std::rotl(w[1], 1) ^ std::rotl(w[2], 2) ^ std::rotl(w[3], 3) ^ 0x6170'6761'7332'3032;
  const std::uint64_t half = mixed ^ (mixed >> 32);
  return static_cast<std::uint16_t>(half ^ (half >> 16));
}

constexpr std::uint16_t header_check(const frame_header& header) noexcept {
  return header_check(unchecked_words(header, header.length));
}

// Writes `header` to `to`, completed with `length` (of the payload, in bytes) and `check`. The
// header is not copied, because loads of two fields at once would stall until their stores had
// completed.
inline void write_header(std::byte* to, const frame_header& header, std::size_t length) noexcept {
  header_words words = unchecked_words(header, static_cast<std::uint32_t>(length));
  words.word[0] |= std::uint64_t{header_check(words)} << 48;
  std::memcpy(to, &words, sizeof(words));
}

// Copies bytes as memcpy does. A few words are copied one by one, since a call would take longer.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::size_t most_words = 12;
  if (bytes % 8 != 0 || bytes > 8 * most_words) {
    std::memcpy(to, from, bytes);
    return;
  }
  for (std::size_t i = 0; i < bytes; i += 8) {
    std::memcpy(to + i, from + i, 8);
    asm volatile("");  // or the compiler makes this loop a call of memcpy again
  }
}

// Writes a frame of frame_bytes(payload.size()) bytes to `to`.
inline void write_frame(std::byte* to, const frame_header& header,
                        std::span<const std::byte> payload) noexcept {
  write_header(to, header, payload.size());
  if (payload.empty()) return;
  to += sizeof(frame_header);
  const std::size_t end = padded(payload.size());
  std::memset(to + end - 8, 0, 8);  // the padding is initialised
  copy_bytes(to, payload.data(), payload.size());
}

}  // namespace apgas::inline v0::comm
