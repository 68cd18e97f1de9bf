// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/own_threads.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <dirent.h>
#include <unistd.h>

namespace apgas::inline v0::base {
namespace {

// A thread that another library has started for itself.
struct thread_of_other {
  pid_t id = 0;
  bool lives = true;
};

// The threads are a property of the process, as the folder in /proc is.
struct thread_table {
  std::mutex lock;
  own_thread* own = nullptr;  // the first of a list
  std::vector<thread_of_other> others;
};

thread_table& threads() {
  // Never destroyed, since threads may outlive static objects.
  alignas(thread_table) static std::byte memory[sizeof(thread_table)];
  static auto* const made = new (memory) thread_table;
  return *made;
}

}  // namespace

own_thread::own_thread() noexcept : id_(gettid()) {
  const std::lock_guard hold(threads().lock);
  next_ = std::exchange(threads().own, this);
  if (next_ != nullptr) next_->before_ = this;
}

own_thread::~own_thread() {
  const std::lock_guard hold(threads().lock);
  (before_ != nullptr ? before_->next_ : threads().own) = next_;
  if (next_ != nullptr) next_->before_ = before_;
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

threads_start::~threads_start() {
  const std::lock_guard hold(threads().lock);
  for_each_thread([this](pid_t id) {
    if (!std::ranges::binary_search(before_, id)) threads().others.push_back({id});
  });
}

// Requires: the lock of the list.
bool own_thread::exists_on(pid_t thread) noexcept {
  const own_thread* at = threads().own;
  while (at != nullptr && at->id_ != thread) at = at->next_;
  return at != nullptr;
}

int foreign_threads() noexcept {
  int foreign = 0;
  const std::lock_guard hold(threads().lock);
  std::vector<thread_of_other>& others = threads().others;
  for (thread_of_other& each : others) each.lives = false;
  const bool known = for_each_thread([&](pid_t id) {
    const auto other = std::ranges::find(others, id, &thread_of_other::id);
    if (other != others.end()) {
      other->lives = true;
    } else if (!own_thread::exists_on(id)) {
      ++foreign;
    }
  });
  if (!known) return -1;
  // Another thread may get the number of one that has ended.
  std::erase_if(others, [](const thread_of_other& each) { return !each.lives; });
  return foreign;
}

}  // namespace apgas::inline v0::base
