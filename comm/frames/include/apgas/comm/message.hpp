// SPDX-License-Identifier: Apache-2.0
#pragma once

// What travels between two ranks. A message is what a transport carries: a row of frames, each a
// header and a payload, every header at a multiple of 8 bytes. All processes of a job have the same
// architecture (the fingerprint sees to that), so numbers are in native order.
//
// Invariants
//   - nothing of a frame is used before check_header accepted its header;
//   - one changed bit, or any changes within one byte, of a header make it unacceptable.
// The format: docs/protocols/wire.md.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace apgas::inline v0::comm {

// What a frame is for. comm looks at it for one thing: the handler of a task frame must be a
// registered thunk. What `handler`, `finish` and `credit` say in the others is the receiver's.
enum class frame_kind : std::uint8_t {
  task = 1,     // runs `handler` on the payload
  reply = 2,    // a value or exception on its way back
  finish = 3,   // the finish protocol
  control = 4,  // everything else: clocks, teams, shutdown
};

// Wire: 32 bytes, before each payload. `length` and `check` are filled in by the endpoint.
struct frame_header {
  std::uint32_t length = 0;  // bytes of payload, padding not counted
  frame_kind kind = frame_kind::control;
  std::uint8_t flags = 0;  // free for the layers above
  std::uint16_t check = 0;
  std::uint64_t handler = 0;
  std::uint64_t finish = 0;
  std::uint64_t credit = 0;
};
static_assert(sizeof(frame_header) == 32 && alignof(frame_header) == 8);
static_assert(std::is_trivially_copyable_v<frame_header> &&
              std::is_standard_layout_v<frame_header>);
static_assert(std::endian::native == std::endian::little);

// The longest payload. With it a message stays below what an MPI count (int) can say.
inline constexpr std::size_t max_payload_bytes = std::size_t{1} << 30;

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

// What a frame with so much payload takes in a message.
constexpr std::size_t frame_bytes(std::size_t payload) noexcept {
  return sizeof(frame_header) + padded(payload);
}

// A header as it lies in memory, `check` left at 0. Put together from the fields in registers: to
// write the fields and read the words would wait, each time, until all earlier stores are done.
struct header_words {
  std::uint64_t word[4];
};

constexpr header_words unchecked_words(const frame_header& header) noexcept {
  return {{header.length | std::uint64_t{static_cast<std::uint8_t>(header.kind)} << 32 |
               std::uint64_t{header.flags} << 40,
           header.handler, header.finish, header.credit}};
}

// The value `check` must have. Each bit of the header counts in exactly one bit of the result, and
// neighbouring bits in different ones: that is the second invariant.
constexpr std::uint16_t header_check(const header_words& unchecked) noexcept {
  const auto& w = unchecked.word;
  const std::uint64_t mixed =
      w[0] ^ std::rotl(w[1], 1) ^ std::rotl(w[2], 2) ^ std::rotl(w[3], 3) ^ 0x6170'6761'7332'3032;
  const std::uint64_t half = mixed ^ (mixed >> 32);
  return static_cast<std::uint16_t>(half ^ (half >> 16));
}

constexpr std::uint16_t header_check(const frame_header& header) noexcept {
  return header_check(unchecked_words(header));
}

// Writes the header of a frame with so much payload, completed with `length` and `check`.
inline void write_header(std::byte* to, const frame_header& header, std::size_t length) noexcept {
  frame_header complete = header;
  complete.length = static_cast<std::uint32_t>(length);
  header_words words = unchecked_words(complete);
  words.word[0] |= std::uint64_t{header_check(words)} << 48;
  std::memcpy(to, &words, sizeof(words));
}

}  // namespace apgas::inline v0::comm
