/*
 * A chain of callers of known depth: level_22 calls level_21, and so on down to level_01, which
 * calls the work. Entering at level_15 puts 15 frames above the work, at level_22 22.
 */
#ifndef LEVELS_H
#define LEVELS_H

#include "workload.h"

#define LEVEL(name, next)                             \
    KEEP uint64_t name(work_fn *work, uint64_t state) \
    {                                                 \
        return next(work, state);                     \
    }

KEEP uint64_t level_01(work_fn *work, uint64_t state)
{
    return work(state);
}
LEVEL(level_02, level_01)
LEVEL(level_03, level_02)
LEVEL(level_04, level_03)
LEVEL(level_05, level_04)
LEVEL(level_06, level_05)
LEVEL(level_07, level_06)
LEVEL(level_08, level_07)
LEVEL(level_09, level_08)
LEVEL(level_10, level_09)
LEVEL(level_11, level_10)
LEVEL(level_12, level_11)
LEVEL(level_13, level_12)
LEVEL(level_14, level_13)
LEVEL(level_15, level_14)
LEVEL(level_16, level_15)
LEVEL(level_17, level_16)
LEVEL(level_18, level_17)
LEVEL(level_19, level_18)
LEVEL(level_20, level_19)
LEVEL(level_21, level_20)
LEVEL(level_22, level_21)

#endif
