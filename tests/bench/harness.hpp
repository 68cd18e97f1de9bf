// SPDX-License-Identifier: Apache-2.0
#pragma once

// A benchmark is a piece of work and the variants that do it. The harness runs every variant once
// in each repetition, one after another, so that a slow phase of the machine affects all of them.
// It keeps the least and the median time of each variant. This is not Google Benchmark, because
// that repeats one variant many times before the next, and cannot run one variant inside apgas::run
// and another outside.

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// One run of a variant, which measures its own time and checks its own result.
struct sample {
  double seconds = 0;
  bool correct = false;
};

// The role of a variant in the comparison.
enum class role {
  serial,  // the fastest serial variant is the base of spawn costs and speed-ups
  ours,    // runs as a task of apgas::run with the given number of workers
  peer,    // another library, run by the main thread with the given number of threads
};

struct variant {
  std::string name;
  role is = role::ours;
  int workers = 1;
  std::function<sample()> run;
};

struct benchmark {
  std::string name;
  std::string operation;    // the operation that is counted, such as "spawn"
  double operations = 1;    // number of operations in one run
  double serial_calls = 0;  // calls of the serial function in one run; 0: not a recursion
  std::vector<variant> variants;
};

struct result {
  variant of;
  std::vector<double> seconds;  // one value for each repetition
  bool correct = true;          // every repetition was correct

  [[nodiscard]] double least() const;
  [[nodiscard]] double median() const;
};

struct finding {
  benchmark what;
  std::vector<result> results;

  [[nodiscard]] bool correct() const;
  [[nodiscard]] double best_serial() const;  // in seconds; 0 if there is no serial variant
  // Null if there is no such result.
  [[nodiscard]] const result* find(const std::string& variant_name, int workers) const;
};

// Starts apgas with the given number of workers and runs the function as its first task.
using apgas_runner = std::function<void(int workers, const std::function<void()>&)>;

// Measures all variants, after a first round that is not counted. Context: the program's main
// thread, outside apgas::run.
finding measure(const benchmark& what, int repetitions, const apgas_runner& run_apgas);

// The clock that timed() reads, in seconds. By default this is wall-clock time. After
// use_cpu_clock() it is the CPU time of all threads of the process, which allows variants with one
// worker to be compared while other programs keep the machine busy; measure() then omits the other
// variants.
double now();
void use_cpu_clock();

// Makes the compiler assume that the value is read and changed.
template <class T>
[[gnu::always_inline]] inline void opaque(T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

// Times f(argument) and compares its result with `expected`.
template <class F, class Argument, class T>
std::function<sample()> timed(F f, Argument argument, T expected) {
  return [=]() mutable {
    const double begin = now();
    opaque(argument);
    T value = f(argument);
    opaque(value);
    return sample{now() - begin, value == expected};
  };
}

// The numbers of workers with which variants run: 1 and 2 unless the command line names others
// (options.hpp). set_worker_counts() comes before the first benchmark is made.
const std::vector<int>& worker_counts();
void set_worker_counts(std::vector<int> counts);
bool is_worker_count(int workers);

// These add a variant for each number of workers: a peer as make(workers)(argument), ours as
// f(argument).
template <class Make, class Argument, class T>
void add_peer(benchmark& to, const std::string& name, Make make, Argument argument, T expected) {
  for (const int workers : worker_counts()) {
    to.variants.push_back({name, role::peer, workers, timed(make(workers), argument, expected)});
  }
}
template <class F, class Argument, class T>
void add_ours(benchmark& to, const std::string& name, F f, Argument argument, T expected) {
  for (const int workers : worker_counts()) {
    to.variants.push_back({name, role::ours, workers, timed(f, argument, expected)});
  }
}
template <class F, class Argument, class T>
void add_serial(benchmark& to, const std::string& name, F f, Argument argument, T expected) {
  to.variants.push_back({name, role::serial, 1, timed(f, argument, expected)});
}

}  // namespace bench
