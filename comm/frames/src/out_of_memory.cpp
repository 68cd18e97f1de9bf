// SPDX-License-Identifier: Apache-2.0

#include <apgas/comm/out_of_memory.hpp>

#include <algorithm>
#include <new>
#include <string_view>

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

// A text that needs no memory. What does not fit is left out.
class short_text {
 public:
  template <class... Values>
  void add(fmt::format_string<const Values&...> format, const Values&... values) {
    const std::size_t room = sizeof text_ - used_;
    const auto all = fmt::format_to_n(text_ + used_, room, format, values...);
    used_ += std::min(all.size, room);
  }
  std::string_view text() const noexcept { return {text_, used_}; }

 private:
  char text_[1024];
  std::size_t used_ = 0;
};

// Ends the job with a line for the exception being handled. `of` names the message.
[[noreturn]] void print_and_end(std::string_view of) {
  short_text line;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    line.add("no memory for {}; {}", of, remedy);
  } catch (const std::exception& failure) {
    line.add("{} could not be processed: {}", of, failure.what());
  }
  base::fatal(line.text());
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

// NOLINTNEXTLINE(bugprone-exception-escape): the formats are valid
void message_failed(std::size_t bytes, const message_end& message) noexcept {
  free_reserve();
  short_text of;
  of.add("a message of {} bytes {} place {}", bytes, message.way, message.place);
  if (message.host != nullptr) of.add(" on {}", message.host);
  print_and_end(of.text());
}

void network_failed() noexcept {
  free_reserve();
  print_and_end("messages of other places");
}

}  // namespace apgas::inline v0::comm
