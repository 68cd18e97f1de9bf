/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_IN_CHPLTYPES_H
#define STAND_IN_CHPLTYPES_H

// Types of Chapel's runtime, as far as the tasking layer uses them.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef bool chpl_bool;
typedef int16_t chpl_fn_int_t;
typedef void (*chpl_fn_p)(void*);
typedef int32_t c_nodeid_t;
typedef int32_t c_sublocid_t;

static const c_sublocid_t c_sublocid_any = -2;

#endif
