/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_IN_CHPL_MEM_H
#define STAND_IN_CHPL_MEM_H

// Memory of Chapel's runtime, which ends the program if there is none. The driver counts
// allocations. `use` tells what the memory is for.
#include "chpltypes.h"

enum { CHPL_RT_MD_THREAD_PRV_DATA = 1 };

void* chpl_mem_alloc(size_t bytes, int use, int32_t lineno, int32_t filename);
void* chpl_mem_calloc(size_t number, size_t bytes, int use, int32_t lineno, int32_t filename);
void chpl_mem_free(void* memory, int32_t lineno, int32_t filename);

#endif
