// SPDX-License-Identifier: Apache-2.0
#pragma once

// The records of a ring: a word, followed by bytes, padded to a multiple of 8.
//
// Wire: within a host; docs/protocols/wire.md.

#include <cstddef>
#include <cstdint>

#include <apgas/comm/message.hpp>
#include <apgas/comm/transport.hpp>

#include "host_segment.hpp"

namespace apgas::inline v0::comm {

enum class record_kind : std::uint8_t {
  frames = 1,   // whole frames, which the receiver may join with those before and after them
  message = 2,  // a whole message
  begin = 3,    // u64 size of a message, and its first bytes
  more = 4,     // its next bytes
};

struct record_word {
  std::uint32_t length = 0;  // bytes after the word, without the padding
  record_kind kind = record_kind::frames;
  std::uint8_t run = 0;        // the number of the run, modulo 256
  std::uint16_t position = 0;  // the offset of the record in the ring, divided by 8, modulo 2^16
};
static_assert(sizeof(record_word) == 8);

constexpr std::uint64_t record_bytes(std::size_t length) noexcept {
  return sizeof(record_word) + padded(length);
}
constexpr std::uint8_t run_of_record(std::uint64_t run) noexcept {
  return static_cast<std::uint8_t>(run);
}
constexpr std::uint16_t record_position(std::uint64_t offset) noexcept {
  return static_cast<std::uint16_t>(offset / 8);
}

// The longest frame that is copied beside the position, and the tag of its copy.
inline constexpr std::size_t longest_copy = copied_words * 8;
static_assert(offsetof(ring_positions, read) == 128 && sizeof(ring_positions) == 256);
constexpr unsigned tag_of_run(std::uint64_t run) noexcept {
  return static_cast<unsigned>(run & 3U);
}

// The most bytes that a record can have after its word.
inline constexpr std::size_t longest_content = longest_record - sizeof(record_word);
static_assert(transport::written_frame_max == longest_content);

}  // namespace apgas::inline v0::comm
