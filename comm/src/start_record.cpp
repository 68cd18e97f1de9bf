// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/errors.hpp>

#include "start_record.hpp"

namespace apgas::inline v0::comm {

namespace {

// One thing that all must agree on.
struct agreement {
  const char* what;
  std::string (*show)(const start_record&);
  const char* remedy;
};

std::string text_of(const char* field, std::size_t bytes) {
  return {field, std::find(field, field + bytes, '\0')};
}

constexpr agreement agreements[] = {
    {"the version of apgas",
     [](const start_record& r) {
       return fmt::format("{}.{}.{}", r.version / 1'000'000, r.version / 1'000 % 1'000,
                          r.version % 1'000);
     },
     "start the same program at all places"},
    {"the program (a hash of the build-ids of what holds tasks)",
     [](const start_record& r) { return fmt::format("{:016x}", r.fingerprint); },
     "start the same file, with the same libraries, at all places; was it rebuilt on one host "
     "only?"},
    {"the settings", [](const start_record& r) { return text_of(r.settings, sizeof(r.settings)); },
     "give all places the same environment (mpirun -x NAME)"},
    {"the number of the run", [](const start_record& r) { return fmt::format("{}", r.epoch); },
     "call apgas::run equally often at all places"},
};

std::vector<start_record> split(std::span<const std::byte> all) {
  std::vector<start_record> records(all.size() / sizeof(start_record));
  std::memcpy(records.data(), all.data(), records.size() * sizeof(start_record));
  return records;
}

// "rank 2 (host b)", or "ranks 2, 3 and 9 more (host b)" with the first one's host.
std::string name_of(const std::vector<std::size_t>& ranks, const start_record& first) {
  constexpr std::size_t most = 4;
  std::string list;
  for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i) {
    list += fmt::format("{}{}", i ? ", " : "", ranks[i]);
  }
  if (ranks.size() > most) list += fmt::format(" and {} more", ranks.size() - most);
  return fmt::format("rank{} {} (host {})", ranks.size() > 1 ? "s" : "", list,
                     text_of(first.host, sizeof(first.host)));
}

void compare(const std::vector<start_record>& records, const agreement& on) {
  const std::string expected = on.show(records[0]);
  std::vector<std::size_t> different;
  std::string other;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const std::string found = on.show(records[i]);
    if (found == expected) continue;
    if (different.empty()) other = found;
    if (found == other) different.push_back(i);
  }
  if (different.empty()) return;
  throw launch_error(fmt::format("the places do not agree on {}: {} has `{}', {} `{}'. Remedy: {}",
                                 on.what, name_of({0}, records[0]), expected,
                                 name_of(different, records[different[0]]), other, on.remedy));
}

}  // namespace

start_record make_start_record(std::uint32_t version, std::uint64_t fingerprint,
                               const std::string& settings) {
  start_record record;
  record.bytes = sizeof(record);
  record.version = version;
  record.fingerprint = fingerprint;
  if (gethostname(record.host, sizeof(record.host) - 1) != 0) record.host[0] = '?';
  if (settings.size() >= sizeof(record.settings)) {
    throw std::invalid_argument(fmt::format("settings to compare take {} bytes, at most {} fit",
                                            settings.size(), sizeof(record.settings) - 1));
  }
  std::ranges::copy(settings, record.settings);
  return record;
}

std::vector<std::string> compare_start_records(std::span<const std::byte> all) {
  const std::vector<start_record> records = split(all);
  for (const agreement& on : agreements) compare(records, on);
  std::vector<std::string> hosts;
  std::ranges::transform(records, std::back_inserter(hosts), [](const start_record& record) {
    return text_of(record.host, sizeof(record.host));
  });
  return hosts;
}

}  // namespace apgas::inline v0::comm
