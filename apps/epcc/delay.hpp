// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/stopwatch.hpp"

namespace epcc {

// Work of a given duration: a loop of additions, each of which needs the result of the previous
// one. The length of the loop is measured by the constructor.
class delay {
 public:
  explicit delay(double seconds) {
    constexpr int enough = 1'000'000;
    add_up(enough);  // the processor reaches its speed
    double fastest = measure(enough);
    for (int i = 0; i < 5; ++i) {
      const double seconds_again = measure(enough);
      if (seconds_again < fastest) fastest = seconds_again;
    }
    length_ = static_cast<int>(seconds / fastest * enough);
  }
  void operator()() const { add_up(length_); }

  // How long the delay takes at present.
  [[nodiscard]] double measured_us() const {
    constexpr int times = 10'000;
    const apps::stopwatch watch;
    for (int i = 0; i < times; ++i) add_up(length_);
    return watch.seconds() / times * 1e6;
  }

 private:
  static void add_up(int length) {
    double sum = 0;
    for (int i = 0; i < length; ++i) sum += i;
    [[maybe_unused]] volatile double sink = sum;
  }
  static double measure(int length) {
    const apps::stopwatch watch;
    add_up(length);
    return watch.seconds();
  }

  int length_ = 0;
};

}  // namespace epcc
