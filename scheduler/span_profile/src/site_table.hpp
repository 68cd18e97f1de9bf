// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <source_location>
#include <string>
#include <unordered_map>
#include <vector>

#include <apgas/base/spin_lock.hpp>

#include "path.hpp"

// Numbers for the lines of a program, so that paths stay small. Each place has its own numbers.
// Places tell each other codes, which are hashes of the texts, and at the end the texts.
namespace apgas::inline v0::scheduler {

// The numbers of all sites. Context: any thread.
class site_table {
 public:
  // The number of tasks whose spawn site is not known, such as main.
  static constexpr site_number unknown = 0;

  site_table();
  // Returns the number of a line of the program with a prefix, such as "finish at ".
  // Throws: std::bad_alloc.
  site_number number_of(const char* prefix, const std::source_location& site);
  // Returns the number of a name that the program has given to tasks.
  site_number number_of(const char* name);
  // Returns the number of the site that has this text, or that another place knows by this code.
  site_number number_of_text(std::string text);
  site_number number_of_code(std::uint64_t code);
  // Returns the text of a number; empty if only its code is known.
  std::string text_of(site_number n) const;
  // Returns the code of a number, which has `code_bits`.
  static constexpr unsigned code_bits = 62;
  std::uint64_t code_of(site_number n) const;
  // Returns all texts that are known.
  std::vector<std::string> texts() const;

 private:
  struct entry {
    std::uint64_t code = 0;
    std::string text = {};
  };
  site_number add(std::uint64_t code);  // requires lock_

  mutable base::spin_lock lock_;
  std::unordered_map<std::uint64_t, site_number> numbers_;  // by code
  std::vector<entry> entries_;
};

// The numbers that one worker has used. The compiler makes one constant for a line, or a few, so
// its address serves as key. Context: that worker.
class site_cache {
 public:
  template <class Number>
  site_number find(const std::source_location& site, Number number) {
    static_assert(sizeof site == sizeof(std::uintptr_t));
    const auto [at, is_new] = known_.try_emplace(std::bit_cast<std::uintptr_t>(site), 0);
    if (is_new) at->second = number();
    return at->second;
  }

 private:
  std::unordered_map<std::uintptr_t, site_number> known_;
};

}  // namespace apgas::inline v0::scheduler
