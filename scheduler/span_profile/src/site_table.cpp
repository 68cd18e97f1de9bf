// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "site_table.hpp"

namespace apgas::inline v0::scheduler {

site_table::site_table() { add("main, or no spawn site"); }

site_number site_table::add(std::string text) {
  const std::lock_guard guard(lock_);
  const auto found = numbers_.find(text);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<site_number>(texts_.size());
  texts_.push_back(text);
  numbers_.emplace(std::move(text), number);
  return number;
}

site_number site_table::number_of(const char* prefix, const std::source_location& site) {
  if (site.line() == 0) return add(fmt::format("{}an unknown line", prefix));
  const std::string_view path = site.file_name();
  return add(fmt::format("{}{}:{}", prefix, path.substr(path.rfind('/') + 1), site.line()));
}

site_number site_table::number_of(const char* name) { return add(fmt::format("\"{}\"", name)); }

std::string site_table::text_of(site_number n) const {
  const std::lock_guard guard(lock_);
  return texts_[n];
}

}  // namespace apgas::inline v0::scheduler
