// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cerrno>
#include <fstream>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/sanitizer.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/errors.hpp>
#include <apgas/scheduler/stacks.hpp>

#include "stack_depth.hpp"
#include "stack_overflow.hpp"
#include "stack_pool.hpp"

namespace apgas::inline v0::scheduler {

stack_range all_stacks;
base::atomic<int> kept_stacks_max{0};

namespace {

constexpr int madvise_guard_install = 102;  // MADV_GUARD_INSTALL; not yet in C libraries
constexpr std::size_t least_stack_bytes = 65536;
constexpr std::uint64_t canary_value = 0x6170676173737461;
constexpr std::size_t resident_max = 1024;  // free stacks that keep their memory

// Most stacks use only the page with their record, so it would be a waste to give the memory of the
// other pages back to the kernel with a system call. A word at the lower end of that page tells
// whether the stack has grown below it: it is then, most likely, overwritten. As frames may have
// skipped the word, a stack is treated as if it had grown after every 64 uses.
constexpr std::uint64_t untouched = 0x756e746f75636865;
[[maybe_unused]] constexpr std::uint32_t uses_between_trims = 64;  // no trims under sanitizers

#if APGAS_SANITIZED
constexpr std::size_t stacks_max = std::size_t{1} << 14;  // shadow memory slows large ranges
constexpr std::size_t kept_by_worker_max = 64;
#else
constexpr std::size_t stacks_max = std::size_t{1} << 20;
constexpr std::size_t kept_by_worker_max = 1024;
#endif

// A core file holds the stacks that were ever in use, rounded up to this number, and not the whole
// reservation, which would be up to 16 TiB of empty pages.
constexpr std::size_t dumped_together = 64;

struct stack_pool_data {
  base::spin_lock lock;
  fiber* free = nullptr;
  base::atomic<std::size_t> free_count{0};  // written under the lock
  std::size_t made = 0;                     // number of stacks that were ever in use
  std::size_t limit = 0;
  std::size_t workers = 0;
  stack_guard guard = stack_guard::canary;
  bool guard_known = false;
};

stack_pool_data& the_pool() {
  static stack_pool_data p;
  return p;
}

std::size_t map_count_max() {
  std::size_t n = 65530;
  std::ifstream("/proc/sys/vm/max_map_count") >> n;
  return n;
}

bool kernel_marks_guards() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool works = madvise(page, 4096, madvise_guard_install) == 0;
  munmap(page, 4096);
  return works;
}

// The size of the guard of a stack. A frame larger than this may step over the guard. The guard
// takes address space, but no memory.
std::size_t guard_bytes() { return std::min<std::size_t>((all_stacks.mask + 1) / 4, 65536); }

// Installs the guard of stack number `n`. Returns the address of its canary if no better guard was
// available, else null.
std::uint64_t* install_guard(stack_pool_data& p, std::byte* low, std::size_t n) {
  if (p.guard == stack_guard::kernel_marker &&
      madvise(low, guard_bytes(), madvise_guard_install) == 0) {
    return nullptr;
  }
  if (n < protected_stacks_max() && mprotect(low, guard_bytes(), PROT_NONE) == 0) return nullptr;
  auto* canary = reinterpret_cast<std::uint64_t*>(low);
  *canary = canary_value;
  return canary;
}

std::uint64_t* lowest_word_of_page(fiber& f) {
  return reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uintptr_t>(&f) &
                                          ~std::uintptr_t{4095});
}

// Returns whether the stack may have grown below the page of its record since it was last released.
#if APGAS_ADDRESS_SANITIZER
bool went_below(fiber&) { return true; }  // AddressSanitizer may have poisoned the word
#else
bool went_below(fiber& f) {
  std::uint64_t* const word = lowest_word_of_page(f);
  return std::exchange(*word, untouched) != untouched || ++f.uses % uses_between_trims == 0;
}
#endif

// Makes stack number `n` of the reservation.
fiber* cut_stack(stack_pool_data& p, std::size_t n) {
  const std::size_t bytes = all_stacks.mask + 1;
  auto* low = reinterpret_cast<std::byte*>(all_stacks.begin) + n * bytes;
  if (n % dumped_together == 0)
    madvise(low, std::min(dumped_together, p.limit - n) * bytes, MADV_DODUMP);
  auto* f = ::new (static_cast<void*>(low + bytes - fiber_record_bytes)) fiber;
  f->canary = install_guard(p, low, n);
  f->must_save = f->canary != nullptr ? 1 : 0;
  *lowest_word_of_page(*f) = untouched;
  f->stack_bottom = low + guard_bytes();
  f->stack_bytes = bytes - guard_bytes() - fiber_record_bytes;
  f->waits_for.store(nullptr, base::release);  // P3 of suspended_tasks.hpp
  return f;
}

void unmap_stacks(stack_pool_data& p) {
  if (all_stacks.bytes == 0) return;
  munmap(reinterpret_cast<void*>(all_stacks.begin), all_stacks.bytes);
  all_stacks = {};
  p.free = nullptr;
  p.free_count.store(0, base::relaxed);
  p.made = p.limit = 0;
}

void update_kept_stacks(const stack_pool_data& p) noexcept {
  const std::size_t share = p.limit / 4 / std::max<std::size_t>(p.workers, 1);
  kept_stacks_max.store(static_cast<int>(std::min(share, kept_by_worker_max)), base::relaxed);
}

}  // namespace

stack_guard strongest_guard() noexcept {
  static const stack_guard guard =
      kernel_marks_guards() ? stack_guard::kernel_marker : stack_guard::protected_page;
  return guard;
}

std::size_t protected_stacks_max() noexcept {
  static const std::size_t n = map_count_max() / 4;  // two mappings each, half of all mappings
  return n;
}

workers_with_stacks::workers_with_stacks(int workers) noexcept : workers_(workers) {
  stack_pool_data& p = the_pool();
  const std::lock_guard guard(p.lock);
  p.workers += static_cast<std::size_t>(workers_);
  update_kept_stacks(p);
}

workers_with_stacks::~workers_with_stacks() {
  stack_pool_data& p = the_pool();
  const std::lock_guard guard(p.lock);
  p.workers -= static_cast<std::size_t>(workers_);
  update_kept_stacks(p);
}

void reserve_stacks(std::size_t stack_bytes) {
  stack_pool_data& p = the_pool();
  std::lock_guard guard(p.lock);
  const std::size_t bytes = std::bit_ceil(std::max(stack_bytes, least_stack_bytes));
  if (all_stacks.bytes != 0 && all_stacks.mask + 1 == bytes) return;
  if (p.made != p.free_count.load(base::relaxed)) {
    throw launch_error(
        fmt::format("APGAS_STACK_SIZE: stacks of {} bytes are wanted, but another runtime of this "
                    "process uses stacks of {} bytes; give all of them the same size",
                    bytes, all_stacks.mask + 1));
  }
  unmap_stacks(p);
  p.guard = strongest_guard();
  // Reserves as many stacks as the address space permits: an unused stack costs only addresses.
  for (std::size_t count = std::min(stacks_max, (std::size_t{1} << 44) / bytes); count >= 64;
       count /= 2) {
    const std::size_t length = (count + 1) * bytes;
    void* at = mmap(nullptr, length, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    const auto low = reinterpret_cast<std::uintptr_t>(at);
    const std::uintptr_t begin = (low + bytes - 1) & ~(bytes - 1);
    if (begin != low) munmap(at, begin - low);
    if (const std::size_t rest = low + length - (begin + count * bytes); rest != 0) {
      munmap(reinterpret_cast<void*>(begin + count * bytes), rest);
    }
    madvise(reinterpret_cast<void*>(begin), count * bytes, MADV_NOHUGEPAGE);
    madvise(reinterpret_cast<void*>(begin), count * bytes, MADV_DONTDUMP);
    all_stacks = {begin, count * bytes, bytes - 1};
    p.limit = count;
    update_kept_stacks(p);
    return;
  }
  throw launch_error(fmt::format(
      "no address space for 64 stacks of {} bytes ({}); lower APGAS_STACK_SIZE or raise "
      "the limit `ulimit -v`",
      bytes, std::system_category().message(errno)));
}

fiber* acquire_stack() noexcept {
  stack_pool_data& p = the_pool();
  p.lock.lock();
  if (fiber* f = p.free) {
    p.free = f->next;
    p.free_count.fetch_sub(1, base::relaxed);
    p.lock.unlock();
    return f;
  }
  const std::size_t n = p.made;
  if (n < p.limit) ++p.made;
  p.lock.unlock();
  if (n == p.limit) {
    base::fatal(
        fmt::format("all {} stacks are in use by suspended tasks; suspend fewer, or lower "
                    "APGAS_STACK_SIZE (now {} bytes) to have more",
                    n, all_stacks.mask + 1));
  }
  return cut_stack(p, n);
}

void release_stack(fiber* f) noexcept {
  stack_pool_data& p = the_pool();
  if (p.free_count.load(base::relaxed) > resident_max && went_below(*f)) {  // approximate
    note_stack_depth(*f);
    auto* low = static_cast<std::byte*>(const_cast<void*>(f->stack_bottom));
    auto* end = reinterpret_cast<std::byte*>(lowest_word_of_page(*f));
    madvise(low, static_cast<std::size_t>(end - low), MADV_DONTNEED);
  }
  std::lock_guard guard(p.lock);
  f->next = p.free;
  p.free = f;
  p.free_count.fetch_add(1, base::relaxed);
}

void check_canary(const fiber& f) noexcept {
  if (f.canary != nullptr && *f.canary != canary_value) report_overflow(f);
}

fiber* fiber_of_address(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at - all_stacks.begin >= all_stacks.bytes) return nullptr;
  return reinterpret_cast<fiber*>((at | all_stacks.mask) + 1 - fiber_record_bytes);
}

std::size_t stacks_made() noexcept {
  stack_pool_data& p = the_pool();
  std::lock_guard guard(p.lock);
  return p.made;
}

fiber& fiber_of_stack(std::size_t n) noexcept {
  const std::size_t bytes = all_stacks.mask + 1;
  return *reinterpret_cast<fiber*>(all_stacks.begin + (n + 1) * bytes - fiber_record_bytes);
}

std::size_t number_of_stack(const fiber& f) noexcept {
  return (reinterpret_cast<std::uintptr_t>(&f) - all_stacks.begin) / (all_stacks.mask + 1);
}

std::size_t stacks_in_use() noexcept {
  stack_pool_data& p = the_pool();
  std::lock_guard guard(p.lock);
  return p.made - p.free_count.load(base::relaxed);
}

std::string stack_guard_description(std::size_t stack_bytes) {
  const std::size_t bytes = std::bit_ceil(std::max(stack_bytes, least_stack_bytes));
  if (strongest_guard() == stack_guard::kernel_marker) {
    return fmt::format("{} bytes each, all guarded by kernel markers (MADV_GUARD_INSTALL)", bytes);
  }
  return fmt::format(
      "{} bytes each; the first {} guarded by protected pages (vm.max_map_count {}), the others by "
      "a canary that is checked whenever a task suspends; Linux 6.13 or later guards all",
      bytes, protected_stacks_max(), map_count_max());
}

}  // namespace apgas::inline v0::scheduler
