// SPDX-License-Identifier: Apache-2.0
#pragma once

// The termination protocol of a finish that spans places, as machines without side effects:
//   finish_home   at the place that waits      remote_finish_state  at every other place it reached
//   tree_return   beside a proxy: whom it returns to
// Who drives them sends the messages they ask for. The whole protocol: docs/protocols/finish.md.

#include <apgas/sync/credit.hpp>
#include <apgas/sync/finish_home.hpp>
#include <apgas/sync/remote_finish_state.hpp>
#include <apgas/sync/tree_return.hpp>
