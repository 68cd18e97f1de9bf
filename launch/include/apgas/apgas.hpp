// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything: the header that programs include.

#include <apgas/accumulator.hpp>
#include <apgas/async.hpp>
#include <apgas/async_future_at.hpp>
#include <apgas/at.hpp>
#include <apgas/atomic.hpp>
#include <apgas/blocking.hpp>
#include <apgas/channel.hpp>
#include <apgas/clock.hpp>
#include <apgas/config.hpp>
#include <apgas/errors.hpp>
#include <apgas/exception_types.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/finish.hpp>
#include <apgas/finish_reduce.hpp>
#include <apgas/forall.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/future.hpp>
#include <apgas/global_ptr.hpp>
#include <apgas/global_ref.hpp>
#include <apgas/latch.hpp>
#include <apgas/monitor.hpp>
#include <apgas/mutex.hpp>
#include <apgas/one_sided.hpp>
#include <apgas/phaser.hpp>
#include <apgas/place.hpp>
#include <apgas/place_group.hpp>
#include <apgas/place_local.hpp>
#include <apgas/promise.hpp>
#include <apgas/remote_atomics.hpp>
#include <apgas/run.hpp>
#include <apgas/semaphore.hpp>
#include <apgas/single_var.hpp>
#include <apgas/sleep.hpp>
#include <apgas/sync_var.hpp>
#include <apgas/version.hpp>
#include <apgas/when_all.hpp>
#include <apgas/worker_local.hpp>
#include <apgas/yield.hpp>
