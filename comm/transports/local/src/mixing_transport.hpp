// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/choices.hpp>

#include "local_transport.hpp"

// The local transport of a seeded schedule: the messages of different senders arrive in any order,
// as the seed decides, and those of one sender in their order.
namespace apgas::inline v0::comm {

class mixing_transport final : public local_transport {
 public:
  // `order` decides, and must outlive the object. The rest is as for local_transport.
  mixing_transport(rank here, local_fabric& fabric, exchange_point& exchanges,
                   local_fabric::abort_function end_process, base::choice_source& order)
      : local_transport(here, fabric, exchanges, end_process), order_(order) {}

  bool progress(message_sink& sink) noexcept override;

 private:
  void mix();

  base::choice_source& order_;
};

}  // namespace apgas::inline v0::comm
