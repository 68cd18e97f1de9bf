// SPDX-License-Identifier: Apache-2.0

// Which ranks share memory. The ranks exchange their hosts, then offer each other their segments,
// and finally tell each other whether they could map those of their host.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <apgas/comm/transports.hpp>

#include "rank_names.hpp"
#include "shm_transport.hpp"

namespace apgas::inline v0::comm {

namespace {

struct host_record {
  char host[256] = {};
};

// Wire: whether a rank could map the segments of its host.
struct mapping_record {
  std::uint32_t mapped = 0;    // segments of other ranks that it could map
  std::uint32_t unmapped = 0;  // segments that it could not map, its own included
  char why_not[248] = {};
};

constexpr const char* they_offer_none = "they offer none";

template <class Record>
std::vector<Record> exchange(transport& network, const Record& mine) {
  network.begin_exchange(std::as_bytes(std::span(&mine, 1)));
  std::vector<std::byte> bytes;
  while (!network.exchange_done(bytes)) std::this_thread::yield();
  std::vector<Record> all(bytes.size() / sizeof mine);
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

std::vector<rank> ranks_of_host(const std::vector<host_record>& all, const host_record& host) {
  std::vector<rank> found;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (std::ranges::equal(all[r].host, host.host)) found.push_back(static_cast<rank>(r));
  }
  return found;
}

// Maps the segments of all ranks of the host, its own included. Requires: there are several.
mapping_record map_all(shm_peers& peers, const std::vector<segment_offer>& offers,
                       std::string why_not) {
  mapping_record result;
  for (std::size_t i = 0; i < peers.of_host.size(); ++i) {
    const segment_offer& offer = offers[static_cast<std::size_t>(peers.of_host[i])];
    mapped_segment& mapped = peers.segments[i];
    if (offer.process != 0) mapped = map_segment(offer, peers.of_host.size(), why_not);
    if (!mapped) {
      ++result.unmapped;
    } else if (i != peers.own_index) {
      ++result.mapped;
    }
  }
  if (why_not.empty()) why_not = they_offer_none;
  std::ranges::copy(why_not.substr(0, sizeof result.why_not - 1), result.why_not);
  return result;
}

// The ranks that could not map a segment, with the reason; empty if there are none. A rank that
// only misses a segment which another one does not offer is no reason itself. Of different reasons
// only the first one is given.
std::string describe_failures(const std::vector<mapping_record>& all,
                              const std::vector<host_record>& hosts) {
  const auto reason = [&](std::size_t r) { return text_of(all[r].why_not, sizeof all[r].why_not); };
  std::vector<std::size_t> failed;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].unmapped != 0) failed.push_back(r);
  }
  if (failed.empty()) return {};
  const auto offered_none = [&](std::size_t r) { return reason(r) == they_offer_none; };
  if (!std::ranges::all_of(failed, offered_none)) std::erase_if(failed, offered_none);
  const std::string first = reason(failed[0]);
  const auto others =
      std::ranges::stable_partition(failed, [&](std::size_t r) { return reason(r) == first; });
  const auto names = [&](const std::vector<std::size_t>& ranks) {
    const host_record& host = hosts[ranks[0]];
    return names_of(ranks, text_of(host.host, sizeof host.host));
  };
  const std::vector<std::size_t> rest(others.begin(), others.end());
  failed.erase(others.begin(), others.end());
  return fmt::format("{} cannot share memory with other places of the host: {}{}", names(failed),
                     first, rest.empty() ? "" : fmt::format("; nor can {}", names(rest)));
}

}  // namespace

shared_memory_start share_memory(transport& inside) {
  host_record host;
  write_host_name_of(inside.here(), inside.size(), host.host, sizeof host.host);
  const std::vector<host_record> hosts = exchange(inside, host);
  shm_peers peers;
  peers.of_host = ranks_of_host(hosts, host);
  peers.own_index = static_cast<std::size_t>(std::ranges::find(peers.of_host, inside.here()) -
                                             peers.of_host.begin());
  peers.segments.resize(peers.of_host.size());

  std::string why_not;
  auto segment = std::make_unique<own_segment>(peers.of_host.size(), why_not);
  const auto offers = exchange(inside, segment->offer());
  mapping_record mine;
  if (peers.of_host.size() > 1) mine = map_all(peers, offers, why_not);
  const auto mappings = exchange(inside, mine);
  segment->close_file();
  why_not = describe_failures(mappings, hosts);
  if (std::ranges::all_of(mappings, [](const auto& each) { return each.mapped == 0; })) {
    return {nullptr, std::move(why_not)};
  }
  peers.all_mapped = why_not.empty();
  peers.all_by_rings = peers.of_host.size() == hosts.size() && peers.all_mapped;
  return {std::make_unique<shm_transport>(inside, std::move(segment), std::move(peers)),
          std::move(why_not)};
}

std::unique_ptr<transport> rings_for_tests(transport& network) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read at start
  if (std::getenv("APGAS_TEST_RINGS") == nullptr) return nullptr;
  return share_memory(network).network;
}

}  // namespace apgas::inline v0::comm
