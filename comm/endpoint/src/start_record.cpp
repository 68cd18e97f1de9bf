// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include <apgas/errors.hpp>

#include "rank_names.hpp"
#include "start_record.hpp"

namespace apgas::inline v0::comm {

std::string host_of(const start_record& record) {
  return text_of(record.host, sizeof(record.host));
}

namespace {

// A property that must be the same at all places.
struct agreement {
  const char* what;
  std::string (*show)(const start_record&);
  const char* remedy;
};

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
     "call apgas::run, and make an apgas::runtime, equally often at all places"},
};

std::vector<start_record> split(std::span<const std::byte> all) {
  std::vector<start_record> records(all.size() / sizeof(start_record));
  std::memcpy(records.data(), all.data(), records.size() * sizeof(start_record));
  return records;
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
                                 on.what, names_of({0}, host_of(records[0])), expected,
                                 names_of(different, host_of(records[different[0]])), other,
                                 on.remedy));
}

}  // namespace

start_record make_start_record(std::uint32_t version, std::uint64_t fingerprint,
                               const std::string& settings) {
  start_record record;
  record.bytes = sizeof(record);
  record.version = version;
  record.fingerprint = fingerprint;
  if (settings.size() >= sizeof(record.settings)) {
    throw std::invalid_argument(fmt::format("settings to compare take {} bytes, at most {} fit",
                                            settings.size(), sizeof(record.settings) - 1));
  }
  std::ranges::copy(settings, record.settings);
  return record;
}

std::vector<start_record> compare_start_records(std::span<const std::byte> all) {
  std::vector<start_record> records = split(all);
  for (const agreement& on : agreements) compare(records, on);
  return records;
}

}  // namespace apgas::inline v0::comm
