// SPDX-License-Identifier: Apache-2.0
#pragma once

// The remote finish protocol, which detects that a finish over several places has terminated. It
// consists of state machines without side effects:
//
//   finish_home           at the home place, where a task waits for the finish
//   remote_finish_state   at every other place that the finish has reached
//   tree_return           beside remote_finish_state: to which place it returns its credit
//
// sync/remote_finish.hpp drives them and sends the messages they ask for. docs/protocols/finish.md
// describes the whole protocol.

#include <apgas/sync/credit.hpp>
#include <apgas/sync/finish_home.hpp>
#include <apgas/sync/remote_finish_state.hpp>
#include <apgas/sync/tree_return.hpp>
