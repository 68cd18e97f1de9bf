// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <apgas/base/biased_lock.hpp>
#include <apgas/comm/handler.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/finish_protocol.hpp>
#include <apgas/sync/offer_box.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_finish.hpp>

// The details of a finish that only some finishes need, and the remote finish, which stands for a
// finish at places that are not its home.
namespace apgas::inline v0::sync {

struct remote_finish;

struct finish_details {
  explicit finish_details(const place_state& here) noexcept : lock(*here.network_locks) {}

  base::biased_lock lock;  // guards exceptions, offers, returned and ledger
  std::vector<task_exception> exceptions;

  // Only for a finish_reduce: the handler that makes a box of offers, and the box, which other
  // places make for the first offer. `box` is the same one for those who offer, without the lock.
  comm::handler_id reducer = 0;
  std::unique_ptr<offer_box> offers;
  base::atomic<offer_box*> box{nullptr};

  std::vector<std::vector<std::byte>> returned;  // exceptions and offers of other places, encoded

  // Used at the home place, once a task has been sent to another place. The id is written once,
  // under the lock.
  base::atomic<finish_id> id{0};
  finish_home ledger;

  remote_finish* remote = nullptr;  // the remote finish these belong to; null at the home place
};

// A frame that waits until the home place grants more credit.
struct waiting_frame {
  comm::rank dest;
  comm::frame_header header;
  std::vector<std::byte> payload;
  finish_core* held;  // the finish that an escaping spawn keeps open meanwhile, or null
};

// A finish whose home is another place, as this place sees it: a task counter, details, and the
// state machines of the remote finish protocol. It is owned by the table of remote_finishes, whose
// lock guards `state`, `links`, `waiting`, `listed` and `own.returned`.
struct remote_finish final : finish_core, scheduler::counter_observer {
  remote_finish(remote_finishes& t, finish_id i)
      : finish_core(0, &own), own(t.place()), id(i), table(t) {
    own.remote = this;
    set_observer(this);
  }

  void on_zero() noexcept override { table.remote_idle(*this); }

  finish_details own;
  finish_id id;
  remote_finishes& table;
  bool quiescent() const noexcept { return state.quiescent() && links.owed() == 0; }

  remote_finish_state state;
  tree_return links;
  std::vector<waiting_frame> waiting;
  bool listed = false;  // it is in quiescence_candidates_
};

}  // namespace apgas::inline v0::sync
