// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/spin_lock.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/finish_protocol.hpp>

#include <memory>
#include <vector>

// What a finish needs only sometimes.
namespace apgas::inline v0::sync {

class offer_box {};

struct finish_details {
  base::spin_lock lock;  // of everything here
  std::vector<task_exception> exceptions;
  std::unique_ptr<offer_box> offers;  // set before any task exists

  // At the place that waits, once a task was sent elsewhere.
  std::uint64_t id = 0;
  finish_home ledger;
  // At other places: the proxy this belongs to.
  struct finish_replica* replica = nullptr;
};

}  // namespace apgas::inline v0::sync
