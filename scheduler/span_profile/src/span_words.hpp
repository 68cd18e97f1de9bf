// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "path.hpp"
#include "site_table.hpp"

// Paths and texts as the words that places send each other. Sites are sent as their codes.
namespace apgas::inline v0::scheduler {

using span_words = std::vector<std::uint64_t>;

// Append something. Throws: std::bad_alloc.
void put_text(span_words& to, std::string_view text);
void put_paths(span_words& to, const critical_paths& p, const site_table& sites);

// Reads words in the order in which they were appended. After an attempt to read more than there
// are, or something else than was written, good() is false and all values are empty.
class span_reader {
 public:
  explicit span_reader(std::span<const std::uint64_t> words) noexcept : rest_(words) {}

  bool good() const noexcept { return good_; }
  bool at_end() const noexcept { return rest_.empty(); }
  std::uint64_t word() noexcept;
  // Reads the number of items that follow, each of which takes `words` or more.
  std::size_t count(std::size_t words) noexcept;
  std::string text();
  critical_paths next_paths(site_table& sites);

 private:
  path next_path(site_table& sites, path_share::of other);  // in which no share may be of `other`

  std::span<const std::uint64_t> rest_;
  bool good_ = true;
};

}  // namespace apgas::inline v0::scheduler
