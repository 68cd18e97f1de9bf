// SPDX-License-Identifier: Apache-2.0
#pragma once

// Archives: convert values to bytes and back.
//
//   out_archive out;  out(f, x, y);                 endpoint.send(dest, header, std::move(out));
//   in_archive in(frame.payload);  auto f = in.read<F>();  in(x, y);  in.expect_end();
//
// A value whose type is byte_copyable is copied as its bytes, and a contiguous range of such values
// with a single copy. All other values are written and read by Cereal, which calls the `serialize`,
// `save` and `load` functions of users. Shared pointers to one object within an archive still share
// one object after reading. Values of an empty type occupy no bytes.
//
// Context: any thread, but never while a lock of the runtime is held, because both archives run
// code of users.

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include <apgas/base/api.hpp>
#include <apgas/comm/archive_bytes.hpp>
#include <apgas/comm/archive_cereal.hpp>

namespace apgas::inline v0::comm {

class out_archive {
 public:
  out_archive() noexcept = default;

  // Appends the values.
  // Throws: serialization_error if the archive would exceed max_payload_bytes; whatever their
  // serialize throws.
  // Cost: no allocation for up to 256 bytes of byte_copyable values.
  template <class... Ts>
  out_archive& operator()(const Ts&... values) {
    (write(values), ...);
    return *this;
  }

  // Appends the elements of a range, as a vector of them, or their address from the size on that
  // zero_copy_from() has set.
  // Throws: serialization_error if the archive would exceed max_payload_bytes.
  template <detail::as_bytes T>
  void append_range(std::span<const T> range) {
    detail::save_range<detail::any_bytes<T>>(bytes_, range);
  }

  // Appends bytes without their count.
  void append(std::span<const std::byte> raw) { bytes_.append(raw.data(), raw.size()); }

  std::size_t size() const noexcept { return bytes_.size(); }
  std::span<const std::byte> bytes() const noexcept { return bytes_.bytes(); }

  // As in out_bytes.
  void zero_copy_from(std::size_t bytes) noexcept { bytes_.zero_copy_from(bytes); }
  bool has_zero_copy() const noexcept { return bytes_.has_zero_copy(); }
  bool in_block() const noexcept { return bytes_.in_block(); }
  buffer take() noexcept { return bytes_.take(); }

 private:
  template <class T>
  void write(const T& value) {
    if constexpr (std::is_empty_v<T> && detail::as_bytes<T>) {
      return;
    } else if constexpr (detail::direct<T>) {
      detail::save_direct(bytes_, value);
    } else {
      if (!cereal_) cereal_.emplace(bytes_);
      (*cereal_)(value);
    }
  }

  out_bytes bytes_;
  std::optional<detail::cereal_writer> cereal_;  // created when a value needs it
};

class in_archive {
 public:
  // Reads from `bytes`, which must outlive the archive. `from`: as in in_bytes.
  explicit in_archive(std::span<const std::byte> bytes, const cma_process* from = nullptr) noexcept
      : bytes_(bytes, from) {}
  in_archive(const in_archive&) = delete;
  in_archive& operator=(const in_archive&) = delete;

  // Reads the values in the order in which they were written.
  // Throws: serialization_error if the bytes do not encode values of these types; whatever their
  // serialize throws.
  template <class... Ts>
  in_archive& operator()(Ts&... values) {
    (load(values), ...);
    return *this;
  }

  // Constructs the next value. A byte_copyable T needs no default constructor.
  template <class T>
  T read() {
    static_assert(std::is_same_v<T, std::remove_cvref_t<T>>);
    if constexpr (detail::as_bytes<T> && !std::is_trivially_default_constructible_v<T>) {
      detail::raw_bytes<sizeof(T)> raw{};
      if constexpr (!std::is_empty_v<T>) {
        const std::byte* from = bytes_.take(sizeof(T));
        detail::expect_values<T>(from);
        std::memcpy(&raw, from, sizeof(T));
      }
      return __builtin_bit_cast(T, raw);
    } else if constexpr (detail::as_bytes<T>) {
      T value;
      load(value);
      return value;
    } else {
      static_assert(std::is_default_constructible_v<T>,
                    "apgas: a type with a Cereal serialize must be default constructible");
      T value{};
      load(value);
      return value;
    }
  }

  // Reads the next range into `to` if it has as many elements. Returns the number of its elements;
  // if it differs from to.size(), nothing is read.
  // Throws: serialization_error; part of `to` may have been overwritten then.
  template <detail::as_bytes T>
  std::size_t read_range_into(std::span<T> to) {
    return detail::load_range_into(bytes_, to);
  }

  std::size_t remaining() const noexcept { return bytes_.remaining(); }
  // Throws: serialization_error if any bytes are left.
  void expect_end() const;

 private:
  template <class T>
  void load(T& value) {
    if constexpr (std::is_empty_v<T> && detail::as_bytes<T>) {
      return;
    } else if constexpr (detail::direct<T>) {
      detail::load_direct(bytes_, value);
    } else {
      try {
        if (cereal_ == nullptr) cereal_ = std::make_unique<detail::cereal_reader>(bytes_);
        (*cereal_)(value);
      } catch (const cereal::Exception& failure) {
        malformed(failure.what());
      }
    }
  }

  APGAS_API [[noreturn]] static void malformed(const char* what);

  in_bytes bytes_;
  std::unique_ptr<detail::cereal_reader> cereal_;  // created when a value needs it
};

}  // namespace apgas::inline v0::comm
