// SPDX-License-Identifier: Apache-2.0
#pragma once

// How contiguous ranges of elements that are copied as bytes are written and read. A vector or a
// string is read into a container, which allocates its memory; the result of at_into is read into
// memory that its caller gives.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <apgas/comm/archive_bytes.hpp>
#include <apgas/comm/archive_values.hpp>
#include <apgas/comm/byte_copyable.hpp>
#include <apgas/uninitialized_vector.hpp>

namespace apgas::inline v0::comm::detail {

// Element types that may be read into existing elements without a look at the bytes.
template <class T>
concept any_bytes = !value_check<T>::needed;

// Element types that may be constructed first and then overwritten with received bytes.
template <class T>
concept zero_copyable = std::is_trivially_default_constructible_v<T> && any_bytes<T>;

// Whether resize() leaves new elements uninitialised.
template <class Range>
inline constexpr bool uninitialized_range = false;
template <class T>
inline constexpr bool uninitialized_range<std::vector<T, uninitialized_allocator<T>>> = true;

// Writes the elements, or their address if ZeroCopy says that it is allowed for the type and the
// stream allows it for the size.
template <bool ZeroCopy, class T>
void save_range(out_bytes& out, std::span<const T> range) {
  const std::uint64_t count = range.size();
  if constexpr (ZeroCopy) {
    if (out.zero_copy(range.size_bytes())) [[unlikely]]
      return out.append_address(count, range.data());
  }
  out.append(&count, sizeof(count));
  out.append(range.data(), range.size_bytes());
}

// Assigns `count` elements from bytes at `from`, which need not be aligned.
template <class Range>
void assign_bytes(Range& range, const std::byte* from, std::size_t count) {
  using element = typename Range::value_type;
  if constexpr (uninitialized_range<Range> && std::is_trivially_default_constructible_v<element>) {
    range.clear();
    range.resize(count);
    if (count != 0) std::memcpy(range.data(), from, count * sizeof(element));
  } else if (reinterpret_cast<std::uintptr_t>(from) % alignof(element) == 0) {
    const auto* first = reinterpret_cast<const element*>(from);
    range.assign(first, first + count);
  } else {
    range.clear();
    range.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      raw_bytes<sizeof(element)> bytes;
      std::memcpy(&bytes, from + i * sizeof(element), sizeof(element));
      range.push_back(__builtin_bit_cast(element, bytes));
    }
  }
}

// Constructs and reads the range in chunks, so that each chunk is still in the cache when it is
// overwritten. A range that need not be filled with zeros is one chunk.
template <class Range>
[[gnu::noinline]] void load_zero_copy(in_bytes& in, Range& range) {
  using element = typename Range::value_type;
  const zero_copy_range source = in.take_zero_copy(sizeof(element));
  if (const std::byte* const here = address_here(in.from(), source.address)) {
    return assign_bytes(range, here, source.count);
  }
  const std::size_t chunk = uninitialized_range<Range>
                                ? source.count
                                : std::max<std::size_t>(zero_copy_chunk_bytes / sizeof(element), 1);
  range.clear();
  range.reserve(source.count);
  for (std::size_t done = 0; done < source.count;) {
    const std::size_t now = std::min(source.count - done, chunk);
    range.resize(done + now);
    read_remote_process(in.from(), source.address + done * sizeof(element),
                        std::as_writable_bytes(std::span(range.data() + done, now)));
    done += now;
  }
}

// Reads the next range into `to` if it has as many elements. Returns the number of its elements; if
// it differs from to.size(), nothing is read.
template <class T>
std::size_t load_range_into(in_bytes& in, std::span<T> to) {
  if constexpr (any_bytes<T>) {  // other elements are never sent as a zero-copy range
    if (in.zero_copy_next()) {
      const zero_copy_range source = in.take_zero_copy(sizeof(T));
      if (source.count != to.size()) return source.count;
      if (const std::byte* const here = address_here(in.from(), source.address)) {
        std::memmove(to.data(), here, to.size_bytes());
      } else {
        read_remote_process(in.from(), source.address, std::as_writable_bytes(to));
      }
      return source.count;
    }
  }
  const std::size_t count = in.extract_count(sizeof(T));
  const std::byte* from = in.take(count * sizeof(T));
  if (count != to.size()) return count;
  expect_values<T>(from, count);
  if (count != 0) std::memcpy(to.data(), from, to.size_bytes());
  return count;
}

}  // namespace apgas::inline v0::comm::detail
