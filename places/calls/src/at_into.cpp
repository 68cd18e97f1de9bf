// SPDX-License-Identifier: Apache-2.0
#include <apgas/at_into.hpp>

#include <fmt/format.h>

#include <apgas/errors.hpp>

namespace apgas::inline v0::remote {

void refuse_result_size(place p, std::size_t returned, std::size_t wanted) {
  throw illegal_operation(
      fmt::format("at_into: the function returned {} elements at place {}, but the span for them "
                  "has {}: give it as many elements as the function returns",
                  returned, p.id(), wanted));
}

}  // namespace apgas::inline v0::remote
