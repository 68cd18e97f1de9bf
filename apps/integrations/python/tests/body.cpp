// SPDX-License-Identifier: Apache-2.0
// Compiled functions for apgas_test.py, which opens this file by ctypes.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

extern "C" {

void square(std::int64_t i, void* data) { static_cast<double*>(data)[i] *= static_cast<double>(i); }

// The functions of the README.
void relax(std::int64_t i, void* data) { static_cast<double*>(data)[i] += static_cast<double>(i); }
double solve(int i) { return i / 2.0; }

// Waits until `all` calls with this counter are running. Returns whether they came within a minute.
bool meet(std::int64_t* counter, std::int64_t all) {
  const std::atomic_ref came(*counter);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (++came; came < all;) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // extern "C"
