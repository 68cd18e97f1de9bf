// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cereal archives over out_bytes and in_bytes, which are passed to the `serialize` functions of
// users. They differ from the binary archives of Cereal as follows:
//   - A byte_copyable value without a serialize of its own is written as its bytes. Contiguous
//     ranges of such values (vector, string, array) are written with one copy, at any depth.
//   - A count that the remaining bytes cannot hold is refused before memory is allocated. For this
//     to be possible, a value that writes nothing occupies one byte.
//   - A long range may be written as its address (zero_copy.hpp).
//   - Bytes that do not represent a value of the type are refused (archive_values.hpp).
//   - A shared pointer can refer only to an earlier object of the same type.
//   - Equal keys of a multimap or multiset keep their order.
//   - Raw pointers do not compile.
//
// The build defines CEREAL_THREAD_SAFE, because all threads share Cereal's table of class versions.

#include <bitset>
#include <chrono>
#include <complex>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <vector>

#include <cereal/cereal.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/bitset.hpp>
#include <cereal/types/chrono.hpp>
#include <cereal/types/complex.hpp>
#include <cereal/types/deque.hpp>
#include <cereal/types/list.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/unordered_set.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>

#include <apgas/base/api.hpp>
#include <apgas/comm/archive_bytes.hpp>
#include <apgas/comm/archive_ranges.hpp>
#include <apgas/comm/archive_values.hpp>
#include <apgas/comm/byte_copyable.hpp>

namespace apgas::inline v0::comm::detail {

class cereal_writer;
class cereal_reader;

// Whether Cereal finds functions that serialise a T.
template <class T>
concept cereal_handles =
    cereal::traits::is_output_serializable<std::remove_cv_t<T>, cereal_writer>::value &&
    cereal::traits::is_input_serializable<std::remove_cv_t<T>, cereal_reader>::value;

// Standard types that Cereal can serialise, but whose bytes suffice.
template <class T>
inline constexpr bool plain_std_type = false;
template <class T>
inline constexpr bool plain_std_type<std::complex<T>> = true;
template <std::size_t Bits>
inline constexpr bool plain_std_type<std::bitset<Bits>> = true;
template <class Rep, class Period>
inline constexpr bool plain_std_type<std::chrono::duration<Rep, Period>> = true;
template <class Clock, class Duration>
inline constexpr bool plain_std_type<std::chrono::time_point<Clock, Duration>> = true;

// Whether there is a user-defined serialisation of T. It takes precedence over copying bytes.
template <class T>
inline constexpr bool own_serialize = std::is_class_v<T> && !plain_std_type<T> && cereal_handles<T>;
template <class T>
  requires(std::is_union_v<T>)
inline constexpr bool own_serialize<T> = cereal_handles<T>;
template <class T, std::size_t Size>
inline constexpr bool own_serialize<std::array<T, Size>> = own_serialize<T>;
template <class T, std::size_t Size>
inline constexpr bool own_serialize<T[Size]> = own_serialize<T>;

// Types that are written as their bytes.
template <class T>
concept as_bytes = byte_copyable<T> && !own_serialize<std::remove_cv_t<T>>;

template <class T>
inline constexpr bool byte_range = false;
template <class T, class Allocator>
inline constexpr bool byte_range<std::vector<T, Allocator>> = as_bytes<T> && !std::same_as<T, bool>;
template <class Char, class Traits, class Allocator>
inline constexpr bool byte_range<std::basic_string<Char, Traits, Allocator>> = as_bytes<Char>;

// Types that need no Cereal archive.
template <class T>
concept direct = as_bytes<T> || byte_range<std::remove_cv_t<T>>;

template <direct T>
void save_direct(out_bytes& out, const T& value) {
  if constexpr (as_bytes<T>) {
    out.append(std::addressof(value), sizeof(value));
  } else {
    using element = typename T::value_type;
    save_range<zero_copyable<element>>(out, std::span<const element>(value.data(), value.size()));
  }
}

template <direct T>
void load_direct(in_bytes& in, T& value) {
  if constexpr (as_bytes<T>) {
    const std::byte* from = in.take(sizeof(value));
    expect_values<T>(from);
    std::memcpy(static_cast<void*>(std::addressof(value)), from, sizeof(value));
  } else {
    using element = typename T::value_type;
    if constexpr (zero_copyable<element>) {
      if (in.zero_copy_next()) [[unlikely]]
        return load_zero_copy(in, value);
    }
    const std::size_t count = in.extract_count(sizeof(element));
    const std::byte* from = in.take(count * sizeof(element));
    expect_values<element>(from, count);
    assign_bytes(value, from, count);
  }
}

template <class T>
inline constexpr bool size_tag = false;
template <class T>
inline constexpr bool size_tag<cereal::SizeTag<T>> = true;

template <class T>
inline constexpr bool equal_keys = false;
template <class... Ts>
inline constexpr bool equal_keys<std::multimap<Ts...>> = true;
template <class... Ts>
inline constexpr bool equal_keys<std::multiset<Ts...>> = true;

template <class T>
const std::type_info& pointee(const cereal::memory_detail::PtrWrapper<std::shared_ptr<T>&>&) {
  return typeid(std::remove_cv_t<T>);
}

class APGAS_API cereal_writer
    : public cereal::OutputArchive<cereal_writer, cereal::AllowEmptyClassElision> {
  using base = cereal::OutputArchive<cereal_writer, cereal::AllowEmptyClassElision>;

 public:
  explicit cereal_writer(out_bytes& out) : base(this), out_(out) {}
  cereal_writer(const cereal_writer&) = delete;
  cereal_writer& operator=(const cereal_writer&) = delete;
  APGAS_API ~cereal_writer() override;  // out of line, to keep senders small

  template <class... Ts>
  cereal_writer& operator()(Ts&&... values) {
    (save_one(values), ...);
    return *this;
  }
  template <class T>
  cereal_writer& operator&(T&& value) {
    return (*this)(value);
  }
  template <class T>
  cereal_writer& operator<<(T&& value) {
    return (*this)(value);
  }

  void append(const void* from, std::size_t bytes) { out_.append(from, bytes); }

 private:
  template <class T>
  void save_one(const T& value) {
    static_assert(!address_like<T>,
                  "apgas: a raw pointer cannot be sent: send what it points to, a smart pointer "
                  "that owns it, or an apgas::global_ref");
    if constexpr (size_tag<T>) {
      const std::uint64_t count = value.size;
      out_.append(&count, sizeof(count));
    } else if constexpr (direct<T>) {
      save_direct(out_, value);
    } else {
      const std::size_t before = out_.size();
      base::operator()(value);
      if (out_.size() == before) out_.append("", 1);
    }
  }

  out_bytes& out_;
};

class APGAS_API cereal_reader
    : public cereal::InputArchive<cereal_reader, cereal::AllowEmptyClassElision> {
  using base = cereal::InputArchive<cereal_reader, cereal::AllowEmptyClassElision>;

 public:
  explicit cereal_reader(in_bytes& in) : base(this), in_(in) {}
  cereal_reader(const cereal_reader&) = delete;
  cereal_reader& operator=(const cereal_reader&) = delete;
  ~cereal_reader() override;  // out of line, to keep tasks that read arguments small

  template <class... Ts>
  cereal_reader& operator()(Ts&&... values) {
    (load_one(values), ...);
    return *this;
  }
  template <class T>
  cereal_reader& operator&(T&& value) {
    return (*this)(value);
  }
  template <class T>
  cereal_reader& operator>>(T&& value) {
    return (*this)(value);
  }

  void extract(void* to, std::size_t bytes) { in_.extract(to, bytes); }

  // Cereal calls these for the pointer wrapper that load_one() saw last, and casts the result
  // without a check.
  // NOLINTBEGIN(readability-identifier-naming, bugprone-derived-method-shadowing-base-method)
  std::shared_ptr<void> getSharedPointer(std::uint32_t id) {
    const auto known = pointees_.find(id);
    if (known != pointees_.end() && *known->second != *pointee_) {
      throw cereal::Exception("a shared pointer has the address of an object of another type");
    }
    return base::getSharedPointer(id);
  }
  void registerSharedPointer(std::uint32_t id, std::shared_ptr<void> pointer) {
    pointees_[id & ~cereal::detail::msb_32bit] = pointee_;
    base::registerSharedPointer(id, std::move(pointer));
  }
  // NOLINTEND(readability-identifier-naming, bugprone-derived-method-shadowing-base-method)

 private:
  template <class T>
  void load_one(T& value) {
    static_assert(!address_like<T>, "apgas: a raw pointer cannot be received");
    if constexpr (size_tag<T>) {
      value.size = static_cast<std::remove_cvref_t<decltype(value.size)>>(in_.extract_count());
    } else if constexpr (direct<T>) {
      load_direct(in_, value);
    } else if constexpr (equal_keys<T>) {
      load_in_order(value);
    } else {
      if constexpr (requires { pointee(value); }) pointee_ = &pointee(value);
      const std::size_t before = in_.remaining();
      base::operator()(value);
      if (in_.remaining() == before) in_.take(1);
    }
  }

  // Like Cereal's own function, but inserts each element at the end. Cereal inserts it before the
  // previous one, which reverses equal keys.
  template <class T>
  void load_in_order(T& values) {
    values.clear();
    for (std::size_t left = in_.extract_count(); left > 0; --left) {
      typename T::key_type key{};
      load_one(key);
      if constexpr (requires { typename T::mapped_type; }) {
        typename T::mapped_type mapped{};
        load_one(mapped);
        values.emplace_hint(values.end(), std::move(key), std::move(mapped));
      } else {
        values.emplace_hint(values.end(), std::move(key));
      }
    }
  }

  in_bytes& in_;
  const std::type_info* pointee_ = nullptr;  // the pointee type of the shared pointer being read
  std::unordered_map<std::uint32_t, const std::type_info*> pointees_;
};

// The functions that Cereal requires of an archive, found by argument-dependent lookup.

template <class T>
  requires std::is_arithmetic_v<T>
void save(cereal_writer& archive, const T& value) {
  archive.append(&value, sizeof(value));
}
template <class T>
  requires std::is_arithmetic_v<T>
void load(cereal_reader& archive, T& value) {
  archive.extract(&value, sizeof(value));
}
template <class T>
void save(cereal_writer& archive, const cereal::BinaryData<T>& value) {
  archive.append(value.data, static_cast<std::size_t>(value.size));
}
template <class T>
void load(cereal_reader& archive, cereal::BinaryData<T>& value) {
  archive.extract(value.data, static_cast<std::size_t>(value.size));
}
template <class Archive, class T>
  requires(std::same_as<Archive, cereal_writer> || std::same_as<Archive, cereal_reader>)
void serialize(Archive& archive, cereal::NameValuePair<T>& pair) {
  archive(pair.value);
}
template <class Archive, class T>
  requires(std::same_as<Archive, cereal_writer> || std::same_as<Archive, cereal_reader>)
void serialize(Archive& archive, cereal::SizeTag<T>& tag) {
  archive(tag);
}

}  // namespace apgas::inline v0::comm::detail

CEREAL_REGISTER_ARCHIVE(apgas::comm::detail::cereal_writer)
CEREAL_REGISTER_ARCHIVE(apgas::comm::detail::cereal_reader)
CEREAL_SETUP_ARCHIVE_TRAITS(apgas::comm::detail::cereal_reader, apgas::comm::detail::cereal_writer)
