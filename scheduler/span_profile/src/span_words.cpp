// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "span_words.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

constexpr std::size_t words_for(std::size_t bytes) noexcept {
  return (bytes + word_bytes - 1) / word_bytes;
}

}  // namespace

void put_text(span_words& to, std::string_view text) {
  to.push_back(text.size());
  const std::size_t at = to.size();
  to.resize(at + words_for(text.size()));
  if (!text.empty()) std::memcpy(to.data() + at, text.data(), text.size());
}

void put_path(span_words& to, const path& p, const site_table& sites) {
  const std::vector<path_share> shares = p.shares();
  to.insert(to.end(), {p.length(), p.burdened(), shares.size()});
  for (const path_share& each : shares) {
    const std::uint64_t of_finish = each.kind == path_share::of::finish ? 1U : 0U;
    to.insert(to.end(), {sites.code_of(each.site) << 1U | of_finish, each.ticks});
  }
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

path span_reader::next_path(site_table& sites) {
  const std::uint64_t length = word();
  const std::uint64_t burdened = word();
  std::vector<path_share> shares(count(2));
  for (path_share& each : shares) {
    const std::uint64_t code = word();
    each.kind = (code & 1U) != 0 ? path_share::of::finish : path_share::of::task;
    each.site = sites.number_of_code(code >> 1U);
    each.ticks = word();
  }
  return {length, burdened, shares};
}

}  // namespace apgas::inline v0::scheduler
