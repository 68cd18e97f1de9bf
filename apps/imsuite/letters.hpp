// SPDX-License-Identifier: Apache-2.0
#pragma once

// Remote calls that are packed into bytes, so that one message carries many of them. Such a call is
// named a *letter*: it identifies a function, the object it is called for, and the arguments. The
// objects are members of a kernel, identified by their offset in it, which is the same at all
// places. Everything is padded to 8 bytes, so that a list of values can be read in place.

#include <cstddef>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include <apgas/comm/handler.hpp>

namespace imsuite {

using letters = std::vector<std::byte>;

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::span<const T>> = true;

// A trivially copyable value, or a std::span<const T> of such values.
template <class T>
concept letter_argument = is_list<T> || (std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);

class letter_writer {
 public:
  explicit letter_writer(letters& to) : to_(to) {}

  template <letter_argument T>
  void put(const T& value) {
    if constexpr (is_list<T>) {
      put(value.size());
      append(std::as_bytes(value));
    } else {
      append(std::as_bytes(std::span(&value, 1)));
    }
  }

 private:
  void append(std::span<const std::byte> bytes) {
    to_.insert(to_.end(), bytes.begin(), bytes.end());
    to_.resize((to_.size() + 7) / 8 * 8);
  }

  letters& to_;
};

class letter_reader {
 public:
  explicit letter_reader(std::span<const std::byte> from) : from_(from) {}

  [[nodiscard]] bool at_end() const { return from_.empty(); }

  // Reads the arguments in the order in which they were put. A list is valid as long as the letters
  // are.
  template <letter_argument T>
  T get() {
    if constexpr (is_list<T>) {
      const auto size = get<std::size_t>();
      const auto* const first = reinterpret_cast<const typename T::value_type*>(from_.data());
      skip(size * sizeof(typename T::value_type));
      return {first, size};
    } else {
      T value;
      std::memcpy(&value, from_.data(), sizeof(T));
      skip(sizeof(T));
      return value;
    }
  }

 private:
  void skip(std::size_t bytes) { from_ = from_.subspan((bytes + 7) / 8 * 8); }

  std::span<const std::byte> from_;
};

using letter_function = void(std::byte* object, letter_reader& arguments);

// Calls F(object, args...) for an object of type T. F is a lambda without captures.
template <class F, class T, class... Args>
void carry_out(std::byte* object, letter_reader& from) {
  std::tuple<Args...> args{from.get<Args>()...};  // braces evaluate from left to right
  std::apply([object](const Args&... a) { F()(*reinterpret_cast<T*>(object), a...); }, args);
}

// Appends a letter that calls F for the T at offset `where` of the kernel.
template <class F, class T, letter_argument... Args>
void write_letter(letters& to, std::ptrdiff_t where, const Args&... args) {
  letter_writer writer(to);
  writer.put(apgas::comm::id_of<&carry_out<F, T, Args...>>());
  writer.put(where);
  (writer.put(args), ...);
}

// Performs all calls in the letters on the kernel of this place.
inline void carry_out_all(const letters& all, std::byte* kernel) {
  letter_reader reader(all);
  while (!reader.at_end()) {
    const auto function = reader.get<apgas::comm::handler_id>();
    const auto where = reader.get<std::ptrdiff_t>();
    apgas::comm::lookup<letter_function>(function)(kernel + where, reader);
  }
}

}  // namespace imsuite
