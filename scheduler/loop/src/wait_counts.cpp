// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/wait_counts.hpp>

#include <algorithm>
#include <mutex>
#include <new>

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t names_most = 256;

}  // namespace

std::uint8_t construct_names::number_of(const char* name) noexcept {
  const std::lock_guard guard(lock_);
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::uint8_t>(found - names_.begin());
  if (names_.size() == names_most) return 0;
  try {
    names_.emplace_back(name);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return static_cast<std::uint8_t>(names_.size() - 1);
}

std::vector<std::string> construct_names::all() const {
  const std::lock_guard guard(lock_);
  return names_;
}

// The first entry of this address holds another one, or none yet.
void wait_counts::add_elsewhere(const char* construct, construct_names& names) noexcept {
  if (construct == nullptr) return;  // not a wait of the program
  const auto key = reinterpret_cast<std::uintptr_t>(construct);
  for (std::size_t n = 0; n < size; ++n) {
    const std::size_t i = (first_index(key) + n) % size;
    const std::uintptr_t found = entries_[i].key.load(base::relaxed);
    if (found != no_key && found != key) continue;
    ++entries_[i].count;
    if (found == key) return;
    name_of_[i] = names.number_of(construct);
    entries_[i].key.store(key, base::release);  // P1
    return;
  }
  ++no_room_;
}

void wait_counts::add_to(std::vector<construct_waits>& to) const noexcept {
  to.front().suspensions += no_room_;
  for (std::size_t i = 0; i < size; ++i) {
    if (entries_[i].key.load(base::acquire) == no_key) continue;  // P1
    // A name that was added after `to` was made is not counted yet.
    if (name_of_[i] < to.size()) to[name_of_[i]].suspensions += entries_[i].count;
  }
}

}  // namespace apgas::inline v0::scheduler
