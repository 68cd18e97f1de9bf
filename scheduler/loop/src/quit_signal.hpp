// SPDX-License-Identifier: Apache-2.0
#pragma once

// SIGQUIT (Ctrl-\ in a terminal) as a request for a report, while a watchdog exists that wants it.
namespace apgas::inline v0::scheduler {

// Makes SIGQUIT a request and no longer the end of the process. The effect lasts until the process
// ends, as a program may have several runs. Context: any thread.
void handle_quit_signal() noexcept;

// Returns how often the process received SIGQUIT since then. Context: any thread.
unsigned quit_signals() noexcept;

}  // namespace apgas::inline v0::scheduler
