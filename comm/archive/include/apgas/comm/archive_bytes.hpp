// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes behind an archive: a writer that grows and a reader that checks. No types here.
//
// Wire: a range of elements is their number as u64 and their bytes; or, when it is lent, the number
// with its highest bit set and the address as u64.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <apgas/comm/buffer.hpp>
#include <apgas/comm/zero_copy.hpp>
#include <apgas/comm/message.hpp>

namespace apgas::inline v0::comm {

// Bytes in order of writing. The first inline_bytes need no allocation; what grows beyond lies in a
// block with room for a frame header before it, so that it can be sent without a copy.
class out_bytes {
 public:
  static constexpr std::size_t inline_bytes = 256;

  out_bytes() noexcept : data_(inline_) {}  // NOLINT(*-member-init): written before it is read
  out_bytes(const out_bytes&) = delete;
  out_bytes& operator=(const out_bytes&) = delete;

  // Throws: serialization_error over max_payload_bytes, std::bad_alloc.
  void append(const void* from, std::size_t bytes) {
    if (bytes > capacity_ - size_) grow(bytes);
    if (bytes != 0) std::memcpy(data_ + size_, from, bytes);
    size_ += bytes;
  }

  // Ranges of so many bytes or more are lent from now on: what is written must stay as it is until
  // it is read.
  void zero_copy_from(std::size_t bytes) noexcept { zero_copy_from_ = bytes; }
  bool zero_copy(std::size_t bytes) const noexcept {
    return bytes >= zero_copy_from_ && bytes <= max_payload_bytes;
  }
  void name_range(std::uint64_t count, const void* elements);
  bool has_zero_copy() const noexcept { return has_zero_copy_; }

  std::size_t size() const noexcept { return size_; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

  // Whether the bytes lie in a block of their own; then take gives it: header room, then the bytes
  // (zeros up to a multiple of 8). Nothing is left here.
  bool in_block() const noexcept { return static_cast<bool>(block_); }
  buffer take() noexcept;

 private:
  void grow(std::size_t bytes);

  std::byte* data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = inline_bytes;
  std::size_t zero_copy_from_ = no_zero_copy;
  bool has_zero_copy_ = false;
  buffer block_;
  alignas(8) std::byte inline_[inline_bytes];
};

// A range that is lent: so many elements at that address of the lender.
struct zero_copy_range {
  std::size_t count;
  std::uint64_t address;
};

// Reads from bytes that must outlive it. Throws serialization_error rather than read beyond.
class in_bytes {
 public:
  // `from`: who may have lent something; it must wait. nullptr: nobody.
  explicit in_bytes(std::span<const std::byte> bytes, const cma_process* from = nullptr) noexcept
      : rest_(bytes), elements_left_(elements_per_byte * bytes.size()), from_(from) {}

  void extract(void* to, std::size_t bytes) {
    const std::byte* from = take(bytes);
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  // The next bytes, where they lie.
  const std::byte* take(std::size_t bytes) {
    if (bytes > rest_.size()) too_short(bytes);
    const std::byte* from = rest_.data();
    rest_ = rest_.subspan(bytes);
    return from;
  }

  // A count of elements, of which each takes at least `element_bytes` here: so that a count that
  // cannot be right is refused before memory is asked for.
  std::size_t extract_count(std::size_t element_bytes);
  // The same for elements of unknown size. All such counts together are bounded as well: else each
  // level of a type that contains itself could announce as many as there are bytes.
  std::size_t extract_count();

  // Whether the next range is lent; then where it is.
  bool zero_copy_next() const noexcept {
    return rest_.size() >= 2 * sizeof(std::uint64_t) && (rest_[7] & std::byte{0x80}) != std::byte{};
  }
  zero_copy_range take_zero_copy(std::size_t element_bytes);
  // Who lent it. Requires: take_zero_copy gave a range.
  const cma_process& from() const noexcept { return *from_; }

  std::size_t remaining() const noexcept { return rest_.size(); }

 private:
  // An element takes a byte; the rest is for those who write a count twice.
  static constexpr std::size_t elements_per_byte = 4;

  [[noreturn]] void too_short(std::size_t wanted) const;

  std::span<const std::byte> rest_;
  std::size_t elements_left_;  // that may still be announced
  const cma_process* from_;
};

}  // namespace apgas::inline v0::comm
