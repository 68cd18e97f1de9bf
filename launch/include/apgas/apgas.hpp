// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything: the header that programs include.

#include <apgas/async.hpp>
#include <apgas/at.hpp>
#include <apgas/config.hpp>
#include <apgas/errors.hpp>
#include <apgas/exception_types.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/finish.hpp>
#include <apgas/finish_reduce.hpp>
#include <apgas/forall.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/place.hpp>
#include <apgas/run.hpp>
#include <apgas/version.hpp>
