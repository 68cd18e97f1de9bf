// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "site_table.hpp"

namespace apgas::inline v0::scheduler {
namespace {

// FNV-1a without the lowest bits. For two of a thousand texts to have the same code has a
// probability of 10^-13.
std::uint64_t code_of_text(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash >> (64 - site_table::code_bits);
}

}  // namespace

site_table::site_table() { number_of_text("main, or no spawn site"); }

site_number site_table::add(std::uint64_t code) {
  const auto [at, is_new] = numbers_.try_emplace(code, static_cast<site_number>(entries_.size()));
  if (is_new) entries_.push_back({.code = code});
  return at->second;
}

site_number site_table::number_of_code(std::uint64_t code) {
  const std::lock_guard guard(lock_);
  return add(code);
}

site_number site_table::number_of_text(std::string text) {
  const std::uint64_t code = code_of_text(text);
  const std::lock_guard guard(lock_);
  const site_number number = add(code);
  entries_[number].text = std::move(text);
  return number;
}

site_number site_table::number_of(const char* prefix, const std::source_location& site) {
  if (site.line() == 0) return number_of_text(fmt::format("{}an unknown line", prefix));
  const std::string_view path = site.file_name();
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return number_of_text(fmt::format("{}{}:{}", prefix, file, site.line()));
}

site_number site_table::number_of(const char* name) {
  return number_of_text(fmt::format("\"{}\"", name));
}

std::string site_table::text_of(site_number n) const {
  const std::lock_guard guard(lock_);
  return entries_[n].text;
}

std::uint64_t site_table::code_of(site_number n) const {
  const std::lock_guard guard(lock_);
  return entries_[n].code;
}

std::vector<std::string> site_table::texts() const {
  const std::lock_guard guard(lock_);
  std::vector<std::string> all;
  for (const entry& each : entries_) {
    if (!each.text.empty()) all.push_back(each.text);
  }
  return all;
}

}  // namespace apgas::inline v0::scheduler
