// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/bulk_copy.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

namespace apgas::inline v0::remote {
namespace {

// The buffer for a copy between two allocations that are both not directly accessible.
constexpr std::uint64_t buffer_bytes = std::uint64_t{1} << 20;

memory_access access_of(const char* operation, const bulk_put& what) {
  return {
      .name = operation, .operation = memory_operation::put, .range = what.to, .from = what.from};
}
memory_access access_of(const char* operation, const bulk_get& what) {
  return {.name = operation, .operation = memory_operation::get, .range = what.from, .to = what.to};
}

allocation_range part_of(const allocation_range& all, std::uint64_t begin,
                         std::uint64_t bytes) noexcept {
  return {.allocation = all.allocation, .offset = all.offset + begin, .bytes = bytes};
}

}  // namespace

void put_by_messages(scheduler::fiber& self, const char* operation, const bulk_put& what) {
  awaited_access(self, access_of(operation, what)).run();
}

void get_by_messages(scheduler::fiber& self, const char* operation, const bulk_get& what) {
  awaited_access(self, access_of(operation, what)).run();
}

void bulk_copy_between(scheduler::fiber& self, const char* operation, const allocation_range& from,
                       const allocation_range& to) {
  if (from.bytes == 0) return;
  const std::byte* const source = direct_address(self, operation, from);
  if (source != nullptr) return put(self, operation, {source, to});
  std::byte* const target = direct_address(self, operation, to);
  if (target != nullptr) return get_by_messages(self, operation, {from, target});
  const auto buffer = std::make_unique<std::byte[]>(std::min(from.bytes, buffer_bytes));
  for (std::uint64_t begin = 0; begin < from.bytes; begin += buffer_bytes) {
    const std::uint64_t bytes = std::min(buffer_bytes, from.bytes - begin);
    get_by_messages(self, operation, {part_of(from, begin, bytes), buffer.get()});
    put_by_messages(self, operation, {buffer.get(), part_of(to, begin, bytes)});
  }
}

void async_put(scheduler::fiber& self, const char* operation, const bulk_put& what,
               std::source_location site) {
  if (what.to.bytes == 0) return;
  std::byte* const there = direct_address(self, operation, what.to);
  if (there != nullptr) {
    std::memcpy(there, what.from, what.to.bytes);
  } else {
    counted_access::start(self, access_of(operation, what), site);
  }
}

void async_get(scheduler::fiber& self, const char* operation, const bulk_get& what,
               std::source_location site) {
  if (what.from.bytes == 0) return;
  const std::byte* const there = direct_address(self, operation, what.from);
  if (there != nullptr) {
    std::memcpy(what.to, there, what.from.bytes);
  } else {
    counted_access::start(self, access_of(operation, what), site);
  }
}

future<void> put_future(scheduler::fiber& self, const char* operation, const bulk_put& what,
                        std::source_location site) {
  if (what.to.bytes != 0) {
    std::byte* const there = direct_address(self, operation, what.to);
    if (there == nullptr) {
      return sync::future_access::make(
          future_access<void>::start(self, access_of(operation, what), site));
    }
    std::memcpy(there, what.from, what.to.bytes);
  }
  auto state = sync::ref<sync::future_state<void>>::adopt(new sync::future_state<void>);
  state->emplace();
  state->publish_value();
  return sync::future_access::make(std::move(state));
}

}  // namespace apgas::inline v0::remote
