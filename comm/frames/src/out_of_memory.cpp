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

// Large enough that the allocator maps it alone: letting it go makes room under a limit of address
// space. It is never touched, and so takes no memory itself.
constexpr std::size_t kept_bytes = std::size_t{1} << 20;

// Orders nothing: what is kept has no contents.
base::atomic<std::byte*> kept{nullptr};

void let_go() noexcept { ::operator delete(kept.exchange(nullptr, base::relaxed)); }

constexpr const char* remedy =
    "start fewer places on the host, send less at once, or raise the limit (ulimit -v)";

// The words for the exception being handled; `of`: of what.
[[noreturn]] void say_and_end(const std::string& of) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    base::fatal(fmt::format("no memory for {}; {}", of, remedy));
  } catch (const std::exception& failure) {
    base::fatal(fmt::format("{} could not be taken: {}", of, failure.what()));
  }
}

}  // namespace

void keep_memory_for_exit_reason() {
  if (kept.load(base::relaxed) != nullptr) return;
  std::byte* expected = nullptr;
  auto* const made = static_cast<std::byte*>(::operator new(kept_bytes));
  if (!kept.compare_exchange_strong(expected, made, base::relaxed, base::relaxed)) {
    ::operator delete(made);
  }
}

void message_failed(std::size_t bytes, const message_end& message) noexcept {
  let_go();
  std::string of =
      fmt::format("a message of {} bytes {} place {}", bytes, message.way, message.place);
  if (message.host != nullptr) of.append(" on ").append(message.host);
  say_and_end(of);
}

void network_failed() noexcept {
  let_go();
  say_and_end("messages of other places");
}

}  // namespace apgas::inline v0::comm
