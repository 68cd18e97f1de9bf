// SPDX-License-Identifier: Apache-2.0
#pragma once

// The byte streams below the archives: a writer that grows and a reader that checks bounds. They
// know no types.
//
// Wire: a range is its number of elements as u64, followed by the elements. A zero-copy range is
// its number of elements with the highest bit set, followed by the address of the elements as u64.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <apgas/base/api.hpp>
#include <apgas/comm/buffer.hpp>
#include <apgas/comm/message.hpp>
#include <apgas/comm/zero_copy.hpp>

namespace apgas::inline v0::comm {

// A stream of written bytes. The first inline_bytes need no allocation. Beyond them, the bytes move
// to a buffer with room for a frame header at its beginning, so that it can be sent without another
// copy.
class out_bytes {
 public:
  static constexpr std::size_t inline_bytes = 256;

  out_bytes() noexcept : data_(inline_) {}  // NOLINT(*-member-init): written before it is read
  out_bytes(const out_bytes&) = delete;
  out_bytes& operator=(const out_bytes&) = delete;

  // Appends bytes.
  // Throws: serialization_error if more than max_payload_bytes would be written; std::bad_alloc.
  void append(const void* from, std::size_t bytes) {
    if (bytes > capacity_ - size_) grow(bytes);
    if (bytes != 0) std::memcpy(data_ + size_, from, bytes);
    size_ += bytes;
  }

  // From now on, ranges of at least `bytes` bytes are written as their address. Such a range must
  // stay unchanged until the receiver has read it.
  void zero_copy_from(std::size_t bytes) noexcept { zero_copy_from_ = bytes; }
  bool zero_copy(std::size_t bytes) const noexcept {
    return bytes >= zero_copy_from_ && bytes <= max_payload_bytes;
  }
  APGAS_API void append_address(std::uint64_t count, const void* elements);
  bool has_zero_copy() const noexcept { return has_zero_copy_; }

  std::size_t size() const noexcept { return size_; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

  // Whether the bytes are in a buffer of their own. Then take() returns that buffer: room for a
  // header, then the bytes, padded with zeros to a multiple of 8. The stream is empty afterwards.
  bool in_block() const noexcept { return static_cast<bool>(block_); }
  APGAS_API buffer take() noexcept;

 private:
  APGAS_API void grow(std::size_t bytes);

  std::byte* data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = inline_bytes;
  std::size_t zero_copy_from_ = no_zero_copy;
  bool has_zero_copy_ = false;
  buffer block_;
  alignas(8) std::byte inline_[inline_bytes];
};

// A zero-copy range: `count` elements at `address` in the process of the sender.
struct zero_copy_range {
  std::size_t count;
  std::uint64_t address;
};

// Reads from bytes that must outlive this object. It throws serialization_error instead of reading
// beyond their end.
class in_bytes {
 public:
  // `from`: the process whose memory a zero-copy range refers to. The task that wrote the range
  // must wait until it has been read. nullptr: zero-copy ranges are refused.
  explicit in_bytes(std::span<const std::byte> bytes, const cma_process* from = nullptr) noexcept
      : rest_(bytes), elements_left_(elements_per_byte * bytes.size()), from_(from) {}

  void extract(void* to, std::size_t bytes) {
    const std::byte* from = take(bytes);
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  // Returns the address of the next `bytes` bytes and skips them.
  const std::byte* take(std::size_t bytes) {
    if (bytes > rest_.size()) too_short(bytes);
    const std::byte* from = rest_.data();
    rest_ = rest_.subspan(bytes);
    return from;
  }

  // Reads a count of elements, each of which occupies at least `element_bytes` in the stream. A
  // count that the remaining bytes cannot hold is refused before any memory is allocated.
  APGAS_API std::size_t extract_count(std::size_t element_bytes);
  // The same for elements of unknown size. The sum of all these counts is bounded as well:
  // otherwise each level of a recursive type could announce as many elements as there are bytes.
  APGAS_API std::size_t extract_count();

  // Whether the next range is a zero-copy range, and then its size and address.
  bool zero_copy_next() const noexcept {
    return rest_.size() >= 2 * sizeof(std::uint64_t) && (rest_[7] & std::byte{0x80}) != std::byte{};
  }
  APGAS_API zero_copy_range take_zero_copy(std::size_t element_bytes);
  // The process whose memory holds the range.
  // Requires: take_zero_copy() has returned a range.
  const cma_process& from() const noexcept { return *from_; }

  std::size_t remaining() const noexcept { return rest_.size(); }

 private:
  // Every element occupies at least one byte. The factor allows for `serialize` functions that
  // write a count more than once.
  static constexpr std::size_t elements_per_byte = 4;

  APGAS_API [[noreturn]] void too_short(std::size_t wanted) const;

  std::span<const std::byte> rest_;
  std::size_t elements_left_;  // remaining budget of announced elements
  const cma_process* from_;
};

}  // namespace apgas::inline v0::comm
