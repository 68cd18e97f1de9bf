// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/scheduler_fixture.hpp"

// Elements for the tests of the parallel algorithms.
namespace apgas::test {

class Algorithms : public testing::TestWithParam<int> {
 protected:
  template <class F>
  void run(F f) {
    run_tasks(GetParam(), std::move(f));
  }
};

// Numbers of elements: none, one, few, and around the sizes at which the algorithms begin to divide
// their work, to form another block, or to start another group of blocks.
inline std::vector<std::size_t> many_sizes() {
  std::vector<std::size_t> sizes = {0,    1,    2,    3,    7,    23,   24,    25,  63,
                                    64,   65,   127,  128,  129,  255,  256,   257, 1000,
                                    2047, 2048, 2049, 4095, 4096, 4097, 65'537};
  if (scaled(1, 0) == 1) sizes.push_back(300'001);  // sort divides in parallel from 2^18 on
  return sizes;
}

inline std::vector<int> random_ints(std::size_t n, int from, int to, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> any(from, to);
  std::vector<int> values(n);
  for (int& v : values) v = any(random);
  return values;
}

// A number that counts its living objects and has no default constructor.
class counted {
 public:
  explicit counted(int v) : value(v) { ++alive; }
  counted(const counted& other) : value(other.value) {
    maybe_throw();
    ++alive;
  }
  counted(counted&& other) noexcept(false) : value(std::exchange(other.value, -1)) {
    maybe_throw();
    ++alive;
  }
  counted& operator=(const counted& other) {
    maybe_throw();
    value = other.value;
    return *this;
  }
  counted& operator=(counted&& other) noexcept(false) {
    maybe_throw();
    value = std::exchange(other.value, -1);
    return *this;
  }
  ~counted() { --alive; }

  friend bool operator<(const counted& a, const counted& b) { return a.value < b.value; }
  friend bool operator==(const counted& a, const counted& b) { return a.value == b.value; }

  int value;
  static inline std::atomic<int> alive{0};
  // Copies and moves until one throws; negative: none does.
  static inline std::atomic<long> left{-1};

 private:
  static void maybe_throw() {
    if (left.load() >= 0 && left.fetch_sub(1) == 0) throw std::length_error("a copy or a move");
  }
};

// An element that can only be moved, and is not cheap.
struct move_only {
  explicit move_only(int v) : value(v) {}
  move_only(move_only&& other) noexcept : value(std::exchange(other.value, -1)) {}
  move_only& operator=(move_only&& other) noexcept {
    value = std::exchange(other.value, -1);
    return *this;
  }
  friend bool operator<(const move_only& a, const move_only& b) { return a.value < b.value; }

  int value;
};

template <class T>
std::vector<T> made_of(const std::vector<int>& values) {
  std::vector<T> made;
  made.reserve(values.size());
  for (const int v : values) made.emplace_back(v);
  return made;
}

template <class T>
std::vector<int> values_of(const std::vector<T>& elements) {
  std::vector<int> values;
  for (const T& e : elements) values.push_back(e.value);
  return values;
}

}  // namespace apgas::test
