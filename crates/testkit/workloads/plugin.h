/*
 * A library for dlopen.c and memfd.c: `plugin_entry` calls the hot function HOT, one unit of work.
 * Two libraries made of it have the same size and layout and differ in that name.
 */
#include "workload.h"

LEAF(HOT)

KEEP uint64_t plugin_entry(uint64_t state)
{
    return HOT(state);
}
