// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>

// The texts of a trace: sites, names of tasks, and constructs. Each gets a number, from 1 on. They
// lie in memory in the form in which they are written (trace_format.hpp), so that a handler of a
// signal can write them.
//
// Pairs
//   P1  A thread that reads used_ sees the texts below it.
namespace apgas::inline v0::scheduler {

class text_table {
 public:
  // Throws: std::bad_alloc.
  text_table();
  text_table(const text_table&) = delete;
  text_table& operator=(const text_table&) = delete;
  ~text_table();

  // Returns the number of the text; 0 if there is no room for it. Context: any thread.
  std::uint32_t number_of(std::string_view text) noexcept;

  std::span<const std::byte> bytes() const noexcept {
    return {begin_, used_.load(base::acquire)};  // P1
  }
  std::uint32_t missing() const noexcept { return missing_.load(base::relaxed); }

 private:
  base::spin_lock lock_;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::byte* begin_ = nullptr;
  base::atomic<std::size_t> used_{0};
  base::atomic<std::uint32_t> missing_{0};
};

// The numbers that one thread has looked up, by the address of the text. Context: that thread.
class text_cache {
 public:
  // A text that never changes: a literal or a source location.
  std::uint32_t of_site(text_table& table, const std::source_location& site) noexcept;
  std::uint32_t of_literal(text_table& table, const char* text) noexcept;

 private:
  struct entry {
    const void* key = nullptr;
    std::uint32_t number = 0;
  };
  static constexpr std::size_t entries = 1024;

  entry& at(const void* key) noexcept {
    return entries_[(reinterpret_cast<std::uintptr_t>(key) >> 3U) * 0x9e37'79b9U / 64 % entries];
  }
  entry entries_[entries];
};

}  // namespace apgas::inline v0::scheduler
