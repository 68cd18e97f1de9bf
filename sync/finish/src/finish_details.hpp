// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/handler.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/finish_protocol.hpp>
#include <apgas/sync/offer_box.hpp>
#include <apgas/sync/remote_finish.hpp>

// What a finish needs only sometimes, and its replica at places that are not its home.
namespace apgas::inline v0::sync {

struct remote_finish;

struct finish_details {
  base::spin_lock lock;  // of exceptions, offers, ledger and returned
  std::vector<task_exception> exceptions;

  // Of a finish_reduce: how to make a box of offers, and the box once something was offered here.
  comm::handler_id reducer = 0;
  std::unique_ptr<offer_box> offers;

  std::vector<std::vector<std::byte>> returned;  // exceptions and offers of other places, as bytes

  // At home, once a task was sent elsewhere.
  finish_id id = 0;
  finish_home ledger;

  remote_finish* remote = nullptr;  // at other places: whose details these are
};

// A frame that waits until home grants more credit.
struct waiting_frame {
  comm::rank dest;
  comm::frame_header header;
  std::vector<std::byte> payload;
  finish_core* held;  // of a guest: the finish that is held open meanwhile
};

// A finish of another place. Lives in the table of remote_finishes, under whose lock the machines
// are, and `own.returned`.
struct remote_finish final : finish_core, scheduler::counter_observer {
  remote_finish(remote_finishes& t, finish_id i) : finish_core(0, &own), id(i), table(t) {
    own.remote = this;
    set_observer(this);
  }

  void on_zero() noexcept override { table.remote_idle(*this); }

  finish_details own;
  finish_id id;
  remote_finishes& table;
  bool quiescent() const noexcept { return machine.quiescent() && links.owed() == 0; }

  remote_finish_state machine;
  tree_return links;
  std::vector<waiting_frame> waiting;
  bool listed = false;  // in the list of those that may be quiescent
};

}  // namespace apgas::inline v0::sync
