// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/comm/rank_ranges.hpp>

#include "rank_names.hpp"

namespace apgas::inline v0::comm {

std::string text_of(const char* field, std::size_t bytes) {
  return {field, std::find(field, field + bytes, '\0')};
}

void write_host_name(char* field, std::size_t bytes) noexcept {
  if (gethostname(field, bytes - 1) != 0) field[0] = '?';
}

void write_host_name_of(rank here, rank ranks, char* field, std::size_t bytes) noexcept {
  write_host_name(field, bytes);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read at start
  const char* const wanted = std::getenv("APGAS_TEST_HOSTS");
  if (wanted == nullptr) return;
  const long long host = std::strtoll(wanted, nullptr, 10) * here / ranks;
  const std::size_t end = text_of(field, bytes).size();
  std::snprintf(field + end, bytes - end, "-%lld", host);
}

std::string names_of(const std::vector<std::size_t>& ranks, const std::string& first_host) {
  constexpr std::size_t most = 4;
  std::string list;
  for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i) {
    list += fmt::format("{}{}", i ? ", " : "", ranks[i]);
  }
  if (ranks.size() > most) list += fmt::format(" and {} more", ranks.size() - most);
  return fmt::format("rank{} {} (host {})", ranks.size() > 1 ? "s" : "", list, first_host);
}

std::string rank_ranges(const std::vector<rank>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace apgas::inline v0::comm
