// SPDX-License-Identifier: Apache-2.0
#pragma once

// A benchmark is one piece of work and the variants that do it. The harness runs every variant once
// per repetition, all in turn, so that a slow phase of the machine hits all of them, and keeps the
// least and the median time of each. Own code and not Google Benchmark: that repeats one variant
// many times before the next, and cannot run one inside apgas::run and its neighbour outside.

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// One run of a variant, which measured itself and looked at its result.
struct sample {
  double seconds = 0;
  bool correct = false;
};

// What a variant is for the comparison.
enum class role {
  serial,  // the fastest of these is what spawn costs and speed-ups refer to
  ours,    // runs as a task of apgas::run with so many workers
  peer,    // another library, run by the main thread with so many threads
};

struct variant {
  std::string name;
  role is = role::ours;
  int workers = 1;
  std::function<sample()> run;
};

struct benchmark {
  std::string name;
  std::string operation;    // what is counted: "spawn"
  double operations = 1;    // of those in one run
  double serial_calls = 0;  // calls of the serial function in one run; 0: not a recursion
  std::vector<variant> variants;
};

struct result {
  variant of;
  std::vector<double> seconds;  // of each repetition
  bool correct = true;          // all of them

  [[nodiscard]] double least() const;
  [[nodiscard]] double median() const;
};

struct finding {
  benchmark what;
  std::vector<result> results;

  [[nodiscard]] bool correct() const;
  [[nodiscard]] double best_serial() const;  // seconds; 0: there is none
  // Null when there is none.
  [[nodiscard]] const result* find(const std::string& variant_name, int workers) const;
};

// Starts apgas with so many workers and runs the function as its first task.
using apgas_runner = std::function<void(int workers, const std::function<void()>&)>;

// After a first round that does not count. Context: the program's main thread, outside apgas::run.
finding measure(const benchmark& what, int repetitions, const apgas_runner& run_apgas);

// Seconds of the clock that timed() reads: the wall's, or after use_cpu_clock() what all threads of
// the process have used together. The latter compares what variants with one worker cost when
// others keep the machine busy; measure() leaves out the rest then.
double now();
void use_cpu_clock();

// The compiler must take the value for changed, and for read.
template <class T>
[[gnu::always_inline]] inline void opaque(T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

// Times f(argument), and compares what it returns with what it should.
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

// Add a variant at 1 and at 2 workers: a peer as make(workers)(argument), ours as f(argument).
template <class Make, class Argument, class T>
void add_peer(benchmark& to, const std::string& name, Make make, Argument argument, T expected) {
  for (const int workers : {1, 2}) {
    to.variants.push_back({name, role::peer, workers, timed(make(workers), argument, expected)});
  }
}
template <class F, class Argument, class T>
void add_ours(benchmark& to, const std::string& name, F f, Argument argument, T expected) {
  for (const int workers : {1, 2}) {
    to.variants.push_back({name, role::ours, workers, timed(f, argument, expected)});
  }
}
template <class F, class Argument, class T>
void add_serial(benchmark& to, const std::string& name, F f, Argument argument, T expected) {
  to.variants.push_back({name, role::serial, 1, timed(f, argument, expected)});
}

}  // namespace bench
