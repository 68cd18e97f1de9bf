// SPDX-License-Identifier: Apache-2.0

// The table of registered thunks: a hash table with open addressing, which is read without a lock.
//
//                  written by                       read by
//   table_         registration, under a mutex      any thread
//   a slot         registration, once               any thread
//   entry.thunk    registration and its removal     any thread
//
// Invariants
//   I1  A table never loses a slot and is at most half full. A larger table replaces it as a whole.
//   I2  Old tables, entries and the registry itself are never freed, because a thread may be
//       reading them, and because static destructors remove registrations at exit.
// Pairs
//   P1  Registration makes a table and the entries in its slots visible to find_handler().
//   P2  Registration makes a thunk visible to the thread that loads it from its entry.

#include <apgas/comm/handler.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/comm/loaded_object.hpp>

namespace apgas::inline v0::comm {

namespace {

using base::atomic;

constexpr int offset_bits = 48;

struct table {
  explicit table(std::size_t slots) : mask(slots - 1), entries(slots) {}

  std::size_t mask;
  std::vector<atomic<handler_entry*>> entries;
};

std::size_t slot_of(handler_id id) noexcept {
  return static_cast<std::size_t>((id * 0x9e3779b97f4a7c15) >> 20);
}

class registry {
 public:
  static registry& instance() {
    static auto* const all = new registry;  // I2
    return *all;
  }

  handler_entry* add(any_function thunk, std::size_t signature) {
    const std::scoped_lock lock(mutex_);
    const loaded_object& object = object_holding(reinterpret_cast<const void*>(thunk));
    const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(thunk) - object.base;
    APGAS_ASSERT(offset < (std::uint64_t{1} << offset_bits));
    const handler_id id = (tag_of(object) << offset_bits) | offset;
    if (handler_entry* known = find(id)) {
      // The library was loaded again, or the linker folded two identical thunks.
      if (known->signature != signature) {
        base::fatal("two handlers have the same address: link without --icf=all");
      }
      known->thunk.store(thunk, base::release);  // P2
      return known;
    }
    handler_entry& entry = entries_.emplace_back(id, thunk, signature);
    insert(entry);
    return &entry;
  }

  handler_entry* find(handler_id id) const noexcept {
    const table* all = table_.load(base::acquire);  // P1
    for (std::size_t i = slot_of(id);; ++i) {
      handler_entry* entry = all->entries[i & all->mask].load(base::acquire);  // P1
      if (!entry || entry->id == id) return entry;
    }
  }

  std::uint64_t fingerprint() {
    const std::scoped_lock lock(mutex_);
    std::vector<std::uint64_t> identities;
    identities.reserve(objects_.size());
    for (const loaded_object& object : objects_) identities.push_back(object.identity);
    std::ranges::sort(identities);
    std::uint64_t hash = entries_.size();
    for (const std::uint64_t identity : identities) {
      hash = (hash ^ identity) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    }
    return hash;
  }

 private:
  registry() : tables_(1) {
    tables_[0] = std::make_unique<table>(std::size_t{256});
    table_.store(tables_[0].get(), base::release);  // P1
  }

  static std::uint64_t tag_of(const loaded_object& object) noexcept {
    const std::uint64_t half = object.identity ^ (object.identity >> 32);
    return ((half ^ (half >> 16)) & 0xffff) | 1;  // never 0: no id is 0
  }

  const loaded_object& object_holding(const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (const loaded_object& object : objects_) {
      if (object.begin <= at && at < object.end) return object;
    }
    const loaded_object found = object_of(address);
    for (loaded_object& object : objects_) {
      if (object.identity == found.identity) return object = found;  // it was loaded again
      if (tag_of(object) == tag_of(found)) {
        base::fatal(
            fmt::format("the build-ids of {} and {} have the same 16-bit hash: link one of "
                        "them again",
                        object.file, found.file));
      }
    }
    return objects_.emplace_back(found);
  }

  void insert(handler_entry& entry) {
    if (2 * entries_.size() > tables_.back()->mask) {
      auto larger = std::make_unique<table>(2 * (tables_.back()->mask + 1));
      for (handler_entry& known : entries_) put(*larger, known);
      table_.store(larger.get(), base::release);  // P1
      tables_.push_back(std::move(larger));
    } else {
      put(*tables_.back(), entry);
    }
  }

  static void put(table& all, handler_entry& entry) noexcept {
    std::size_t i = slot_of(entry.id);
    while (all.entries[i & all.mask].load(base::relaxed)) ++i;
    all.entries[i & all.mask].store(&entry, base::release);  // P1
  }

  std::mutex mutex_;
  std::deque<loaded_object> objects_;
  std::deque<handler_entry> entries_;
  std::vector<std::unique_ptr<table>> tables_;
  atomic<table*> table_{nullptr};
};

}  // namespace

const handler_entry* find_handler(handler_id id) noexcept {
  const handler_entry* entry = registry::instance().find(id);
  return entry && entry->thunk.load(base::acquire) ? entry : nullptr;  // P2
}

handler_registration::handler_registration(any_function thunk, std::size_t signature) noexcept
    : entry_(registry::instance().add(thunk, signature)) {}

handler_registration::~handler_registration() {
  entry_->thunk.store(nullptr, base::release);  // P2
}

std::uint64_t binary_fingerprint() { return registry::instance().fingerprint(); }

}  // namespace apgas::inline v0::comm
