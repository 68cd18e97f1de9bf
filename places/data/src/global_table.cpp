// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/global_table.hpp>

#include <bit>
#include <chrono>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/random.hpp>
#include <apgas/errors.hpp>

namespace apgas::inline v0::remote {
namespace {

constexpr int epoch_shift = 32;

// A random start for each process, so that a handle of another job is detected. It is never 0, and
// far from world_generation.
std::uint64_t first_generation() noexcept {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  base::random_engine random(static_cast<std::uint64_t>(now) ^
                             reinterpret_cast<std::uintptr_t>(&now));
  return (random() >> (epoch_shift + 1) | 1) << epoch_shift | 1;
}

// Runs of the process share it, so that no generation is given twice (I1).
base::atomic<std::uint64_t> next_generation{first_generation()};

}  // namespace

global_table::global_table(const sync::place_state& place)
    : here_(place.here), lists_(static_cast<std::size_t>(place.places)) {}

global_table::~global_table() {
  for (auto& entry : lists_) {
    const std::unique_ptr<slot_list> list(entry.load(base::relaxed));
    if (list == nullptr) continue;
    for (std::size_t k = 0; k < most_chunks; ++k) {
      const std::unique_ptr<slot[]> chunk(list->chunks[k].load(base::relaxed));
      if (chunk == nullptr) break;
      for (std::size_t i = 0; i < std::size_t{1} << (first_chunk_bits + k); ++i) {
        if (chunk[i].generation.load(base::relaxed) != 0) chunk[i].what.end(chunk[i].what.object);
      }
    }
  }
}

std::pair<std::size_t, std::size_t> global_table::chunk_of(std::uint32_t index) noexcept {
  const std::uint64_t n = std::uint64_t{index} + (1U << first_chunk_bits);
  const auto k = static_cast<unsigned>(std::bit_width(n)) - 1;
  return {k - first_chunk_bits, n - (std::uint64_t{1} << k)};
}

const global_table::slot* global_table::slot_at(const global_id& id) const noexcept {
  if (static_cast<std::size_t>(id.home) >= lists_.size() || id.generation == 0) return nullptr;
  const slot_list* list = lists_[static_cast<std::size_t>(id.home)].load(base::acquire);  // P1
  if (list == nullptr) return nullptr;
  const auto [k, i] = chunk_of(id.index);
  if (k >= most_chunks) return nullptr;
  const slot* chunk = list->chunks[k].load(base::acquire);  // P1
  return chunk == nullptr ? nullptr : &chunk[i];
}

// Requires: lock_ is held.
global_table::slot& global_table::make_slot(const global_id& id) {
  const auto [k, i] = chunk_of(id.index);
  APGAS_ASSERT(static_cast<std::size_t>(id.home) < lists_.size() && k < most_chunks);
  auto& entry = lists_[static_cast<std::size_t>(id.home)];
  if (entry.load(base::relaxed) == nullptr) entry.store(new slot_list, base::release);  // P1
  slot_list& list = *entry.load(base::relaxed);
  // All chunks before it are made, too, since the destructor stops at the first null.
  for (std::size_t c = 0; c <= k; ++c) {
    auto& chunk = list.chunks[c];
    if (chunk.load(base::relaxed) != nullptr) continue;
    chunk.store(new slot[std::size_t{1} << (first_chunk_bits + c)], base::release);  // P1
  }
  return list.chunks[k].load(base::relaxed)[i];
}

global_id global_table::reserve() {
  global_id id{.home = here_, .generation = next_generation.fetch_add(1, base::relaxed)};
  std::lock_guard guard(lock_);
  if (free_.empty()) {
    free_.reserve(std::size_t{next_index_} + 1);  // so that give_back() need not allocate memory
    id.index = next_index_++;
  } else {
    id.index = free_.back();
    free_.pop_back();
  }
  return id;
}

void global_table::give_back(const global_id& id) {
  APGAS_ASSERT(id.home == here_);
  std::lock_guard guard(lock_);
  free_.push_back(id.index);
}

global_id global_table::reserve_for(const place_group& group) {
  place_group kept = group;  // allocates outside the lock
  const global_id id = reserve();
  std::lock_guard guard(lock_);
  groups_.emplace(id.generation, std::move(kept));
  return id;
}

place_group global_table::take_group(const global_id& id) {
  std::lock_guard guard(lock_);
  const auto at = groups_.find(id.generation);
  if (at == groups_.end()) {
    throw illegal_operation(
        "destroy() was called twice for a place_local or a distributed array, or for one that an "
        "earlier run has made; only one task may call it");
  }
  place_group group = std::move(at->second);
  groups_.erase(at);
  return group;
}

void global_table::bind(const global_id& id, global_object what) {
  std::lock_guard guard(lock_);
  slot& s = make_slot(id);
  APGAS_ASSERT(s.generation.load(base::relaxed) == 0, "a global name was bound twice");
  s.what = what;
  s.newest = id.generation;
  s.generation.store(id.generation, base::release);  // P2
}

global_object global_table::unbind(const global_id& id) noexcept {
  std::lock_guard guard(lock_);
  auto* s = const_cast<slot*>(slot_at(id));
  if (s == nullptr || s->generation.load(base::relaxed) != id.generation) return {};
  s->generation.store(0, base::relaxed);
  return std::exchange(s->what, {});
}

bool global_table::is_stale(const global_id& id) const noexcept {
  std::lock_guard guard(lock_);
  const slot* s = slot_at(id);
  if (s == nullptr || s->newest == 0) return false;
  const bool other_job = (s->newest ^ id.generation) >> epoch_shift != 0;
  return other_job || s->newest >= id.generation;
}

void throw_no_object(const scheduler::fiber& self, const global_id& id, const char* what) {
  const int here = sync::place_of(self).here;
  if (id.generation == 0) {
    throw illegal_operation(fmt::format(
        "an empty {} was used: it was default constructed and nothing was assigned to it", what));
  }
  const bool is_ref = std::string_view(what) == "global_ref";
  if (is_ref && id.home != here) {
    throw bad_place(fmt::format(
        "a global_ref to an object of place {} was dereferenced at place {}, but the object exists "
        "only at its home; run the code there: at(r.home(), [r] {{ ... *r ... }})",
        id.home, here));
  }
  if (is_ref || global_table_of(self).is_stale(id)) {
    throw illegal_operation(
        fmt::format("a stale {} was used: {} has destroyed its object, or the run that made it has "
                    "ended; do not use any copy of a handle after that",
                    what, is_ref ? "forget()" : "destroy()"));
  }
  throw bad_place(
      fmt::format("a {} was used at place {}, which is not in its group; use it at a place of the "
                  "group, or make it for all places()",
                  what, here));
}

}  // namespace apgas::inline v0::remote
