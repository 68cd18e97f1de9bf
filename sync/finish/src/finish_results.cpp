// SPDX-License-Identifier: Apache-2.0
#include <apgas/errors.hpp>

#include "finish_results.hpp"
#include "wire_exceptions.hpp"

namespace apgas::inline v0::sync {

void save_results(comm::out_archive& to, finish_details& details) {
  save_exceptions(to, details.exceptions);
  to(details.offers != nullptr);
  if (details.offers != nullptr) details.offers->save(to);
}

void load_results(std::span<const std::byte> bytes, finish_details& details) {
  for (comm::in_archive from(bytes); from.remaining() != 0;) {
    load_exceptions(from, details.exceptions);
    if (!from.read<bool>()) continue;
    if (details.offers == nullptr) {
      throw serialization_error(
          "the results of another place hold offers for a finish that collects none");
    }
    details.offers->load(from);
  }
}

}  // namespace apgas::inline v0::sync
