// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernels on sequences: scan, pack, filter and sort. Each kernel is a class that has the same
// functions: clear() before each run, serial() and parallel(loops), which compute the result, and
// correct(), which checks it.

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "pbbs/check.hpp"
#include "pbbs/loops.hpp"
#include "pbbs/records.hpp"
#include "pbbs/sequence.hpp"
#include "support/random_word.hpp"

namespace pbbs {

// The sum of all elements before each element.
class scan_kernel {
 public:
  explicit scan_kernel(sequence values) : values_(std::move(values)), sums_(values_.size()) {}

  void clear() { std::ranges::fill(sums_, 1); }
  void serial() { parallel(serial_loops()); }
  template <class Loops>
  void parallel(const Loops& loops) {
    total_ = loops.scan(std::span<const word>(values_), std::span<word>(sums_));
  }
  [[nodiscard]] bool correct() const { return are_sums_before(values_, sums_, total_); }

 private:
  sequence values_;
  sequence sums_;
  word total_ = 0;
};

// The elements whose flag is set; half of the flags are, at random. The result is new memory.
class pack_kernel {
 public:
  explicit pack_kernel(sequence values) : values_(std::move(values)), flags_(values_.size()) {
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      flags_[i] = static_cast<char>(apps::random_word(1, i) & 1);
    }
  }

  void clear() { packed_ = sequence(); }
  void serial() { parallel(serial_loops()); }
  template <class Loops>
  void parallel(const Loops& loops) {
    packed_ = loops.pack(std::span<const word>(values_), std::span<const char>(flags_));
  }
  [[nodiscard]] bool correct() const {
    return are_selected(values_, packed_, [this](std::size_t i) { return flags_[i] != 0; });
  }

 private:
  sequence values_;
  std::vector<char> flags_;
  sequence packed_;
};

// About half of the elements, chosen by their value, copied to memory that exists already.
class filter_kernel {
 public:
  explicit filter_kernel(sequence values) : values_(std::move(values)), kept_(values_.size()) {}

  void clear() {
    std::ranges::fill(kept_, 0);
    size_ = 0;
  }
  void serial() { parallel(serial_loops()); }
  template <class Loops>
  void parallel(const Loops& loops) {
    size_ = loops.filter(std::span<const word>(values_), std::span<word>(kept_), wanted);
  }
  [[nodiscard]] bool correct() const {
    return size_ <= kept_.size() &&
           are_selected(values_, std::span(kept_).first(size_),
                        [this](std::size_t i) { return wanted(values_[i]); });
  }

 private:
  // A bit of a mixed word, so that the choice is random in all sequences.
  static bool wanted(word x) { return (apps::random_word(x) & 1) != 0; }

  sequence values_;
  sequence kept_;
  std::size_t size_ = 0;
};

// A stable sort by 64-bit keys.
class sort_kernel {
 public:
  explicit sort_kernel(sequence keys) : keys_(std::move(keys)), records_(keys_.size()) {}

  void clear() {
    for (std::size_t i = 0; i < keys_.size(); ++i) records_[i] = {keys_[i], i};
  }
  void serial() { parallel(serial_loops()); }
  template <class Loops>
  void parallel(const Loops& loops) {
    loops.sort(std::span(records_));
  }
  [[nodiscard]] bool correct() const { return are_stably_sorted(keys_, records_); }

 private:
  sequence keys_;
  std::vector<record> records_;
};

}  // namespace pbbs
