// SPDX-License-Identifier: Apache-2.0

// Decodes exceptions of another place, as they arrive in a reply or in a message of the remote
// finish protocol. Each is constructed and encoded again, and must be the same.

#include <apgas/exceptions.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include <apgas/errors.hpp>
#include <apgas/sync/remote_call.hpp>

#include "finish_details.hpp"
#include "finish_results.hpp"
#include "fuzz.hpp"
#include "wire_exceptions.hpp"

namespace apgas_fuzz {
namespace {

namespace sync = apgas::sync;

constexpr std::size_t most_memory(std::size_t input) { return (16U << 10) + 64 * input; }

void send_again(const std::vector<apgas::task_exception>& exceptions) {
  comm::out_archive first;
  sync::save_exceptions(first, exceptions);
  std::vector<apgas::task_exception> again;
  comm::in_archive in(first.bytes());
  sync::load_exceptions(in, again);
  in.expect_end();
  comm::out_archive second;
  sync::save_exceptions(second, again);
  require(std::ranges::equal(first.bytes(), second.bytes()),
          "an exception is the same after it was sent again");
}

void reply(std::span<const std::byte> bytes) {
  std::exception_ptr failure;
  {
    const bounded_memory bound(most_memory(bytes.size()));
    failure = sync::exception_from_reply(bytes);
  }
  try {
    std::rethrow_exception(failure);
  } catch (const apgas::multiple_exceptions& several) {
    send_again({several.begin(), several.end()});
  } catch (...) {
    send_again({{failure, 1, {}}});
  }
}

void results(std::span<const std::byte> bytes, bool collects) {
  const sync::place_state place;
  sync::finish_details details(place);
  const auto sum = [](long a, long b) { return static_cast<long>(a ^ b); };
  if (collects) {
    details.offers = std::make_unique<sync::reducing_offer_box<long, decltype(sum)>>(sum, 1);
  }
  {
    const bounded_memory bound(most_memory(bytes.size()));
    sync::load_results(bytes, details);
  }
  for (const apgas::task_exception& each : details.exceptions) {
    require(!each.describe().empty(), "an exception can be described");
  }
  send_again(details.exceptions);
}

void check(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const auto way = std::to_integer<unsigned>(bytes[0]) % 3;
  try {
    if (way == 0) {
      reply(bytes.subspan(1));
    } else {
      results(bytes.subspan(1), way == 1);
    }
  } catch (const apgas::serialization_error&) {  // refused
  }
}

}  // namespace
}  // namespace apgas_fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  apgas_fuzz::check(apgas_fuzz::input(data, size));
  return 0;
}
