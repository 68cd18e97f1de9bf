// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/own_threads.hpp>

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

int foreign_threads() noexcept {
  DIR* const all = opendir("/proc/self/task");
  if (all == nullptr) return -1;
  int foreign = 0;
  const std::lock_guard hold(threads().lock);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread reads this stream
  while (const dirent* const entry = readdir(all)) {
    pid_t id = 0;
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, id).ptr != end) continue;  // "." and ".."
    if (!threads().own.contains(id)) ++foreign;
  }
  closedir(all);
  return foreign;
}

}  // namespace apgas::inline v0::base
