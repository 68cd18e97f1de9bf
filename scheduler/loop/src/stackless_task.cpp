// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/stackless_task.hpp>

#include <new>

#include <apgas/scheduler/worker.hpp>

namespace apgas::inline v0::scheduler {

stackless_table stackless_tables[stackless_tables_max];

// The class has virtual functions, so that the standard does not promise that offsetof works.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
const std::uint32_t stackless_task::layout[] = {stackless_tables_max,
                                                sizeof(stackless_table),
                                                offsetof(stackless_table, used),
                                                offsetof(stackless_table, parts),
                                                stackless_table::first_part,
                                                offsetof(stackless_task, construct_),
                                                offsetof(stackless_task, where_),
                                                offsetof(stackless_task, state.site),
                                                offsetof(stackless_task, state.name),
                                                offsetof(stackless_task, state.finish)};
#pragma GCC diagnostic pop

namespace {

constexpr std::uint32_t table_bits = 6;
static_assert(stackless_tables_max == std::size_t{1} << table_bits);
constexpr std::uint32_t entries_max = (std::uint32_t{1} << (32 - table_bits)) - 1;

// Part p begins with the entry first_part * (2^p - 1).
std::size_t part_of(std::uint32_t number) noexcept {
  return static_cast<std::size_t>(std::bit_width(number / stackless_table::first_part + 1)) - 1;
}

}  // namespace

std::uintptr_t& stackless_task::entry(stackless_table& table, std::uint32_t number) noexcept {
  const std::size_t part = part_of(number);
  return table.parts[part][number - stackless_table::first_part * ((std::size_t{1} << part) - 1)];
}

// A debugger may look at any moment, so `used` grows when the entry is complete.
void stackless_task::enter_table(const worker& on) noexcept {
  const auto number_of_table = static_cast<std::uint32_t>(on.id) % stackless_tables_max;
  stackless_table& table = stackless_tables[number_of_table];
  const hold_table hold(table);
  std::uint32_t number = table.unused - 1;
  if (table.unused != 0) {
    table.unused = static_cast<std::uint32_t>(entry(table, number) / 2);
    entry(table, number) = reinterpret_cast<std::uintptr_t>(this);
  } else {
    number = table.used;
    const std::size_t part = part_of(number);
    if (number == entries_max || part == stackless_table::parts_max) return;
    std::uintptr_t*& entries = table.parts[part];
    if (entries == nullptr)
      entries = new (std::nothrow) std::uintptr_t[stackless_table::first_part << part];
    if (entries == nullptr) return;
    entry(table, number) = reinterpret_cast<std::uintptr_t>(this);
    ++table.used;
  }
  entry_ = (number + 1) << table_bits | static_cast<std::uint32_t>(number_of_table);
}

void stackless_task::leave_it() noexcept {
  stackless_table& table = stackless_tables[entry_ % stackless_tables_max];
  const std::uint32_t number = (entry_ >> table_bits) - 1;
  const hold_table hold(table);
  entry(table, number) = std::uintptr_t{table.unused} * 2 + 1;
  table.unused = number + 1;
  entry_ = 0;
}

}  // namespace apgas::inline v0::scheduler
