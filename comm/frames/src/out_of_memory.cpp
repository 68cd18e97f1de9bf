// SPDX-License-Identifier: Apache-2.0

#include <apgas/comm/out_of_memory.hpp>

#include <memory>
#include <new>
#include <string>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/atomic.hpp>

namespace apgas::inline v0::comm {

namespace {

// Large enough that the allocator maps it separately, so that freeing it makes room under a limit
// of the address space. It is never touched and therefore uses no physical memory.
constexpr std::size_t reserve_bytes = std::size_t{1} << 20;

// Relaxed accesses suffice, since the reserve has no contents.
base::atomic<std::byte*> reserve{nullptr};

void free_reserve() noexcept { ::operator delete(reserve.exchange(nullptr, base::relaxed)); }

constexpr const char* remedy =
    "start fewer places on the host, send less at once, or raise the limit (ulimit -v)";

// Ends the job with a line for the exception being handled. `of` names the message.
[[noreturn]] void print_and_end(const std::string& of) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    base::fatal(fmt::format("no memory for {}; {}", of, remedy));
  } catch (const std::exception& failure) {
    base::fatal(fmt::format("{} could not be processed: {}", of, failure.what()));
  }
}

}  // namespace

void keep_memory_for_exit_reason() {
  if (reserve.load(base::relaxed) != nullptr) return;
  std::byte* expected = nullptr;
  auto* const made = static_cast<std::byte*>(::operator new(reserve_bytes));
  if (!reserve.compare_exchange_strong(expected, made, base::relaxed, base::relaxed)) {
    ::operator delete(made);
  }
}

void message_failed(std::size_t bytes, const message_end& message) noexcept {
  free_reserve();
  std::string of =
      fmt::format("a message of {} bytes {} place {}", bytes, message.way, message.place);
  if (message.host != nullptr) of.append(" on ").append(message.host);
  print_and_end(of);
}

void network_failed() noexcept {
  free_reserve();
  print_and_end("messages of other places");
}

}  // namespace apgas::inline v0::comm
