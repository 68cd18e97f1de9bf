/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_IN_CHPLCGFNS_H
#define STAND_IN_CHPLCGFNS_H

#include "chpltypes.h"

// The functions of a compiled Chapel program that may run as tasks.
extern chpl_fn_p chpl_ftable[];

#endif
