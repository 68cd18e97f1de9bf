// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/call_signature.hpp>

#include <iterator>

#include <fmt/format.h>

#include <apgas/sync/remote_task.hpp>

namespace apgas::inline v0::remote {

namespace {

constexpr int root_shift = 8;
constexpr std::uint64_t collective_mask = 0xff;

}  // namespace

const char* to_string(collective what) noexcept {
  constexpr const char* names[] = {"nothing", "barrier", "broadcast", "reduce", "allreduce",
                                   "scatter", "gather",  "alltoall",  "split",  "destroy"};
  const auto i = static_cast<std::size_t>(what);
  return i < std::size(names) ? names[i] : "something unknown";
}

call_signature signature_of(const team_call& call) noexcept {
  return {sync::encode_site(call.site),
          static_cast<std::uint64_t>(call.what) | std::uint64_t{call.root} << root_shift,
          call.bytes};
}

std::string text_of(const call_signature& s) {
  const auto what = static_cast<collective>(s.what & collective_mask);
  std::string text = to_string(what);
  switch (what) {
    case collective::broadcast:
    case collective::reduce:
    case collective::scatter:
    case collective::gather:
      text += fmt::format(" with member {} as root", s.what >> root_shift);
      break;
    default:
      break;
  }
  if (s.bytes != 0) text += fmt::format(" of {} bytes", s.bytes);
  const std::source_location site = sync::decode_site(s.site);
  return site.line() == 0 ? text : text + fmt::format(" at {}:{}", site.file_name(), site.line());
}

}  // namespace apgas::inline v0::remote
