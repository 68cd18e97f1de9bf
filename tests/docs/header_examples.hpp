// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the examples in the comments of the public headers take for granted (header_examples.py).

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <shared_mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

// An example may declare more than it uses.
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-function"

namespace examples {

using namespace std::chrono_literals;

inline apgas::place p;  // some place
inline apgas::place q;  // another one, if the program has more than one

inline std::vector<double> x(100, 1.0);
inline std::vector<double> y(100, 2.0);

inline void work() {}
inline void work(int) {}
inline void prepare() {}
inline void prepare(int) {}
inline void produce() {}
inline void consume() {}
inline void read_neighbours(int) {}
inline void write_own(int) {}
inline void read_table() {}
inline int compute() { return 42; }
inline double measure() { return 1.5; }
inline double look_up(int i) { return i; }
inline long count() { return 3; }
inline long add_up(int to) { return to * (to + 1L) / 2; }
inline bool matches(int i) { return i % 2 == 0; }
inline long fib(int i) { return i < 2 ? i : fib(i - 1) + fib(i - 2); }
inline std::string read_file(const std::string& path) { return path; }
template <class... T>
void use(const T&...) {}

struct job {
  int id = 0;
};
inline void run(const job&) {}

struct order {
  int customer = 0;
  double price = 0;
};
inline std::vector<order> orders{{1, 2.5}, {2, 1.0}, {1, 4.0}};

struct edge {
  int source = 0;
  int target = 0;
};
struct person {
  int age = 0;
};
union my_type {
  int number;
  float value;
};

struct parse_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct bad_matrix : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct log_file {
  std::unique_ptr<std::string> text = std::make_unique<std::string>();
  void write_all() const {}
};
struct tree {
  std::vector<tree> children;
};

inline const std::vector<std::vector<double>>& my_rows() {
  static const std::vector<std::vector<double>> rows(10, std::vector<double>(1000, 0.5));
  return rows;
}
inline apgas::dist_array<double> measurements() {
  return {1000, apgas::distribution::block(), [](std::size_t i) { return i * 0.5; }};
}
inline apgas::dist_array<person> all_people() {
  return {1000, apgas::distribution::block(),
          [](std::size_t i) { return person{static_cast<int>(i % 100)}; }};
}

inline std::vector<double> cells(10, 1.0);
inline apgas::task<> relax(double& cell) {
  cell /= 2;
  co_return;
}
inline apgas::task<> write_all() { co_return; }

// Runs an example in a finish of its own, so that all that it starts has ended before the next one.
inline void run_example(const char* where, void (*body)()) {
  std::puts(where);
  apgas::finish(body);
}

}  // namespace examples

using examples::my_type;
