// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "span_words.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr unsigned bits_beside_code = 64 - site_table::code_bits;

constexpr std::size_t words_for(std::size_t bytes) noexcept {
  return (bytes + word_bytes - 1) / word_bytes;
}

void put_path(span_words& to, const path& p, const site_table& sites) {
  const std::vector<path_share> shares = p.shares();
  to.insert(to.end(), {p.length(), shares.size()});
  for (const path_share& each : shares) {
    const auto kind = static_cast<std::uint64_t>(each.kind);
    to.insert(to.end(), {sites.code_of(each.site) << bits_beside_code | kind, each.ticks});
  }
}

}  // namespace

void put_text(span_words& to, std::string_view text) {
  to.push_back(text.size());
  const std::size_t at = to.size();
  to.resize(at + words_for(text.size()));
  if (!text.empty()) std::memcpy(to.data() + at, text.data(), text.size());
}

void put_paths(span_words& to, const critical_paths& p, const site_table& sites) {
  put_path(to, p.longest, sites);
  put_path(to, p.burdened, sites);
}

std::uint64_t span_reader::word() noexcept {
  if (rest_.empty()) {
    good_ = false;
    return 0;
  }
  const std::uint64_t first = rest_.front();
  rest_ = rest_.subspan(1);
  return first;
}

std::size_t span_reader::count(std::size_t words) noexcept {
  const std::uint64_t n = word();
  if (n <= rest_.size() / words) return n;
  good_ = false;
  rest_ = {};
  return 0;
}

std::string span_reader::text() {
  const std::uint64_t bytes = word();
  if (bytes > rest_.size() * word_bytes) {
    good_ = false;
    rest_ = {};
    return {};
  }
  std::string result(bytes, '\0');
  if (bytes != 0) std::memcpy(result.data(), rest_.data(), bytes);
  rest_ = rest_.subspan(words_for(bytes));
  return result;
}

path span_reader::next_path(site_table& sites, path_share::of other) {
  const std::uint64_t length = word();
  std::vector<path_share> shares(count(2));
  for (path_share& each : shares) {
    const std::uint64_t code = word();
    each.kind = static_cast<path_share::of>(code & ((1U << bits_beside_code) - 1));
    if (each.kind > path_share::of::scheduling || each.kind == other) good_ = false;
    each.site = sites.number_of_code(code >> bits_beside_code);
    each.ticks = word();
  }
  if (!good_) return {};
  return {length, shares};
}

critical_paths span_reader::next_paths(site_table& sites) {
  path longest = next_path(sites, path_share::of::scheduling);
  path burdened = next_path(sites, path_share::of::finish);
  return {.longest = std::move(longest), .burdened = std::move(burdened)};
}

}  // namespace apgas::inline v0::scheduler
