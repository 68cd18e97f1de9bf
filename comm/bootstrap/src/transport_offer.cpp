// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <apgas/errors.hpp>

#include "rank_names.hpp"
#include "transport_offer.hpp"

namespace apgas::inline v0::comm {

namespace {

using base::transport_choice;

std::string_view name_of(std::int32_t wanted) {
  switch (static_cast<transport_choice>(wanted)) {
    case transport_choice::shm:
      return "shm";
    case transport_choice::ucx:
      return "ucx";
    case transport_choice::mpi:
      return "mpi";
    case transport_choice::local:
      return "local";
    default:
      return "auto";
  }
}

std::string host_of(const transport_offer& offer) { return text_of(offer.host, sizeof offer.host); }

// The ranks for which `differs` holds and that are equal to the first of them according to `same`.
template <class Differs, class Same>
std::vector<std::size_t> find_ranks(std::span<const transport_offer> all, Differs differs,
                                    Same same) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (differs(all[i]) && (found.empty() || same(all[i], all[found[0]]))) found.push_back(i);
  }
  return found;
}

void compare_choices(std::span<const transport_offer> all) {
  const auto different = find_ranks(
      all, [&](const transport_offer& o) { return o.wanted != all[0].wanted; },
      [](const transport_offer& a, const transport_offer& b) { return a.wanted == b.wanted; });
  if (different.empty()) return;
  const transport_offer& other = all[different[0]];
  throw launch_error(fmt::format(
      "the places do not agree on APGAS_TRANSPORT: {} has `{}', {} `{}'. Remedy: give all places "
      "the same environment (mpirun -x APGAS_TRANSPORT)",
      names_of({0}, host_of(all[0])), name_of(all[0].wanted), names_of(different, host_of(other)),
      name_of(other.wanted)));
}

// The reason why UCX cannot be used and the ranks that gave it, or an empty string.
std::string obstacle(std::span<const transport_offer> all) {
  const auto reason = [](const transport_offer& o) { return text_of(o.why_not, sizeof o.why_not); };
  const auto unable = find_ranks(
      all, [](const transport_offer& o) { return o.usable == 0; },
      [&](const transport_offer& a, const transport_offer& b) { return reason(a) == reason(b); });
  if (unable.empty()) return {};
  const transport_offer& first = all[unable[0]];
  return fmt::format("UCX cannot be used at {}: {}", names_of(unable, host_of(first)),
                     reason(first));
}

}  // namespace

transport_offer make_transport_offer(transport_choice wanted, const std::string& why_not) {
  transport_offer offer;
  offer.wanted = static_cast<std::int32_t>(wanted);
  offer.usable = why_not.empty() ? 1 : 0;
  write_host_name(offer.host, sizeof offer.host);
  std::ranges::copy(why_not.substr(0, sizeof offer.why_not - 1), offer.why_not);
  return offer;
}

std::vector<std::string> hosts_of(std::span<const transport_offer> all) {
  std::vector<std::string> hosts;
  hosts.reserve(all.size());
  for (const transport_offer& each : all) hosts.push_back(host_of(each));
  return hosts;
}

agreed_transport agree_on_transport(std::span<const transport_offer> all) {
  constexpr const char* asked_for = "APGAS_TRANSPORT";
  compare_choices(all);
  const auto wanted = static_cast<transport_choice>(all[0].wanted);
  if (wanted == transport_choice::mpi || wanted == transport_choice::local) {
    return {false, asked_for};
  }
  const std::string why_not = obstacle(all);
  const bool by_default = wanted == transport_choice::automatic;
  if (why_not.empty()) return {true, by_default ? "default" : asked_for};
  if (wanted == transport_choice::ucx) {
    throw launch_error(
        fmt::format("APGAS_TRANSPORT=ucx: {}. Remedy: leave it out, or set it to mpi", why_not));
  }
  return {false, why_not};
}

}  // namespace apgas::inline v0::comm
