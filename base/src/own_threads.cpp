// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/own_threads.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>

#include <dirent.h>
#include <unistd.h>

namespace apgas::inline v0::base {
namespace {

// The threads are a property of the process, as the folder in /proc is.
struct thread_table {
  std::mutex lock;
  std::map<pid_t, int> own;  // how many objects each thread has
};

thread_table& threads() {
  static auto* const made = new thread_table;  // threads may outlive static objects
  return *made;
}

}  // namespace

own_thread::own_thread() noexcept {
  const std::lock_guard hold(threads().lock);
  ++threads().own[gettid()];
}

own_thread::~own_thread() {
  const std::lock_guard hold(threads().lock);
  const auto at = threads().own.find(gettid());
  if (--at->second == 0) threads().own.erase(at);
}

namespace {

// Calls f for each thread of the process. Returns false if the system does not tell them.
template <class F>
bool for_each_thread(F f) {
  DIR* const all = opendir("/proc/self/task");
  if (all == nullptr) return false;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread reads this stream
  while (const dirent* const entry = readdir(all)) {
    pid_t id = 0;
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, id).ptr == end) f(id);  // not "." and ".."
  }
  closedir(all);
  return true;
}

}  // namespace

threads_start::threads_start() {
  for_each_thread([this](pid_t id) { before_.push_back(id); });
  std::ranges::sort(before_);
}

// They are never removed, since nobody tells when they end.
threads_start::~threads_start() {
  const std::lock_guard hold(threads().lock);
  for_each_thread([this](pid_t id) {
    if (!std::ranges::binary_search(before_, id)) threads().own.try_emplace(id, 1);
  });
}

int foreign_threads() noexcept {
  int foreign = 0;
  const std::lock_guard hold(threads().lock);
  const bool known = for_each_thread([&](pid_t id) {
    if (!threads().own.contains(id)) ++foreign;
  });
  return known ? foreign : -1;
}

}  // namespace apgas::inline v0::base
