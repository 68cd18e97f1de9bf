// SPDX-License-Identifier: Apache-2.0

// The rare paths of archives: growth, and the errors for bytes that do not match the expected type.

#include <apgas/comm/archive.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <typeinfo>
#include <utility>

#include <cxxabi.h>
#include <fmt/format.h>

#include <apgas/errors.hpp>

namespace apgas::inline v0::comm {

namespace {

constexpr std::uint64_t zero_copy_bit = std::uint64_t{1} << 63;

}  // namespace

detail::cereal_writer::~cereal_writer() = default;
detail::cereal_reader::~cereal_reader() = default;

void out_bytes::grow(std::size_t bytes) {
  if (bytes > max_payload_bytes || size_ + bytes > max_payload_bytes) {
    throw serialization_error(
        fmt::format("a message of {} bytes or more was to be sent, but the limit is {} bytes. Send "
                    "the data in several messages",
                    size_ + bytes, max_payload_bytes));
  }
  constexpr std::size_t room = sizeof(frame_header);
  const std::size_t wanted = std::min(std::max(size_ + bytes, 2 * capacity_), max_payload_bytes);
  buffer larger(room + padded(wanted));
  std::memcpy(larger.data() + room, data_, size_);
  block_ = std::move(larger);
  data_ = block_.data() + room;
  capacity_ = wanted;
}

buffer out_bytes::take() noexcept {
  const std::size_t end = sizeof(frame_header) + size_;
  std::memset(block_.data() + end, 0, padded(end) - end);
  block_.resize(padded(end));
  data_ = inline_;
  size_ = 0;
  capacity_ = inline_bytes;
  return std::exchange(block_, buffer{});
}

void out_bytes::append_address(std::uint64_t count, const void* elements) {
  const std::uint64_t words[] = {count | zero_copy_bit, reinterpret_cast<std::uintptr_t>(elements)};
  append(words, sizeof words);
  has_zero_copy_ = true;
}

zero_copy_range in_bytes::take_zero_copy(std::size_t element_bytes) {
  std::uint64_t words[2];
  extract(words, sizeof words);
  const std::uint64_t count = words[0] & ~zero_copy_bit;
  if (from_ == nullptr || count > max_payload_bytes / element_bytes) {
    throw serialization_error(
        fmt::format("a message refers to a container of {} elements in the memory of its sender, "
                    "which {}: it was not written as the type that it is read as",
                    count, from_ == nullptr ? "is not possible here" : "exceeds the limit"));
  }
  return {count, words[1]};
}

std::size_t in_bytes::extract_count(std::size_t element_bytes) {
  std::uint64_t count = 0;
  extract(&count, sizeof(count));
  if (count > remaining() / element_bytes) {
    throw serialization_error(
        fmt::format("a message announces a container of {} elements, but has only {} bytes left: "
                    "it was not written as the type that it is read as",
                    count, remaining()));
  }
  return count;
}

std::size_t in_bytes::extract_count() {
  const std::size_t count = extract_count(1);
  if (count > elements_left_) {
    throw serialization_error(
        fmt::format("a message announces a container of {} elements within others that need the "
                    "rest of it: it was not written as the type that it is read as",
                    count));
  }
  elements_left_ -= count;
  return count;
}

void in_bytes::too_short(std::size_t wanted) const {
  throw serialization_error(
      fmt::format("a message has {} bytes left where {} were expected: it was not written as the "
                  "type that it is read as",
                  remaining(), wanted));
}

void in_archive::expect_end() const {
  if (remaining() != 0) {
    throw serialization_error(
        fmt::format("a message has {} bytes more than expected: it was not written as the type "
                    "that it is read as",
                    remaining()));
  }
}

void detail::no_such_value(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  throw serialization_error(
      fmt::format("a message contains bytes that are no value of {}: it was not written as the "
                  "type that it is read as",
                  status == 0 ? name.get() : type.name()));
}

void in_archive::malformed(const char* what) {
  throw serialization_error(fmt::format("a message cannot be read: {}", what));
}

}  // namespace apgas::inline v0::comm
