// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "clock_estimate.hpp"
#include "trace_index.hpp"

namespace {

using namespace apgas::launch;

// Two hosts: the clock there has an offset and runs faster or slower than the one here. A message
// takes a time by chance, and its answer another one.
class hosts {
 public:
  hosts(std::int64_t offset_ns, double drift, std::uint64_t seed)
      : offset_ns_(offset_ns), drift_(drift), random_(seed) {}

  void pass(std::int64_t ns) { now_ns_ += ns; }
  std::int64_t here() const { return now_ns_; }
  std::int64_t there() const { return now_ns_ + difference(); }
  std::int64_t ask() {
    pass(latency());
    const std::int64_t read = there();
    pass(latency());
    return read;
  }
  clock_estimate estimate() {
    return estimate_clock(30, [this] { return here(); }, [this] { return ask(); });
  }

 private:
  std::int64_t difference() const {
    return offset_ns_ + std::llround(drift_ * static_cast<double>(now_ns_));
  }
  std::int64_t latency() {
    const std::int64_t usual = 2'000 + static_cast<std::int64_t>(random_.below(1'000));
    return random_.below(4) == 0 ? usual + static_cast<std::int64_t>(random_.below(500'000))
                                 : usual;
  }

  const std::int64_t offset_ns_;
  const double drift_;
  apgas::base::random_engine random_;
  std::int64_t now_ns_ = 1'000'000'000;
};

TEST(ClockEstimate, TheErrorBoundsWhatTheEstimateMisses) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    hosts two(seed % 2 == 0 ? 3'600'000'000'000 : -7'000'000, 0, seed);
    const clock_estimate estimate = two.estimate();
    const std::int64_t missed = two.there() + estimate.offset_ns - two.here();
    EXPECT_LE(std::abs(missed), estimate.error_ns) << seed;
    EXPECT_LE(estimate.error_ns, 3'000) << "the shortest of 30 round trips, " << seed;
  }
}

// The clocks of two hosts that do not synchronise drift apart by some tens of microseconds a
// second.
TEST(ClockEstimate, TheOffsetOfADriftingClockIsInterpolated) {
  for (const double drift : {50e-6, -50e-6}) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      hosts two(5'000'000'000, drift, seed);
      const clock_estimate first = two.estimate();
      constexpr int events = 100;
      std::int64_t here[events] = {};
      std::int64_t there[events] = {};
      for (int i = 0; i < events; ++i) {
        two.pass(100'000'000);  // ten seconds in all, in which the clocks drift by 0.5 ms
        here[i] = two.here();
        there[i] = two.there();
      }
      const clock_estimate last = two.estimate();
      const clock_offset offset = clock_between(first, last);
      for (int i = 0; i < events; ++i) {
        const std::int64_t missed = there[i] + offset.at(there[i]) - here[i];
        EXPECT_LE(std::abs(missed), offset.error_ns + 1) << drift << ", seed " << seed;
      }
      EXPECT_GT(std::abs(first.offset_ns - last.offset_ns), 400'000) << "the drift is seen";
    }
  }
}

}  // namespace
