// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <mutex>
#include <new>

#include <sys/mman.h>

#include "text_table.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t text_bytes_most = std::size_t{64} << 20;  // used only as needed
constexpr std::size_t longest_text = 4000;

}  // namespace

text_table::text_table() {
  void* const at = mmap(nullptr, text_bytes_most, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<std::byte*>(at);
}

text_table::~text_table() { munmap(begin_, text_bytes_most); }

std::uint32_t text_table::number_of(std::string_view text) noexcept {
  text = text.substr(0, longest_text);
  const std::lock_guard guard(lock_);
  try {
    const auto next = static_cast<std::uint32_t>(known_.size() + 1);
    const std::size_t used = used_.load(base::relaxed);
    const auto length = static_cast<std::uint32_t>(text.size());
    if (const auto found = known_.find(std::string(text)); found != known_.end())
      return found->second;
    if (used + sizeof length + text.size() > text_bytes_most) throw std::bad_alloc();
    known_.emplace(text, next);
    std::memcpy(begin_ + used, &length, sizeof length);
    std::memcpy(begin_ + used + sizeof length, text.data(), text.size());
    used_.store(used + sizeof length + text.size(), base::release);  // P1 of text_table.hpp
    return next;
  } catch (const std::bad_alloc&) {
    missing_.store(missing_.load(base::relaxed) + 1, base::relaxed);
    return 0;
  }
}

std::uint32_t text_cache::of_site(text_table& table, const std::source_location& site) noexcept {
  if (site.line() == 0) return 0;
  const void* const key = std::bit_cast<const void*>(site);
  entry& e = at(key);
  if (e.key == key) return e.number;
  try {
    std::string text(site.file_name());
    text.push_back('\0');
    text += std::to_string(site.line());
    text.push_back('\0');
    text += site.function_name();
    e = {key, table.number_of(text)};
    return e.number;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

std::uint32_t text_cache::of_literal(text_table& table, const char* text) noexcept {
  if (text == nullptr) return 0;
  entry& e = at(text);
  if (e.key != text) e = {text, table.number_of(text)};
  return e.number;
}

}  // namespace apgas::inline v0::scheduler
