/*
 * A chain of inlined functions with known lines; to be built with -O2 -g.
 *
 *   inlined SECONDS
 *
 * Truth: the time is spent in `innermost`, inlined into `middle`, inlined into `outer`, which is
 * called by main. `lines` holds the lines, in this file: of the hot statement in innermost, of
 * innermost's call in middle, and of middle's call in outer.
 */
#include "workload.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    HOT_LINE = __LINE__ + 8,
    INNERMOST_CALL_LINE = __LINE__ + 15,
    MIDDLE_CALL_LINE = __LINE__ + 20,
};

INLINE uint64_t innermost(uint64_t state)
{
    for (unsigned step = 0; step < UNIT_STEPS; step++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    }
    return state;
}

INLINE uint64_t middle(uint64_t state)
{
    state += 1;
    state = innermost(state);
    return state | 1;
}

KEEP uint64_t outer(uint64_t state)
{
    return middle(state);
}

int main(int argc, char **argv)
{
    uint64_t end_ns = now_ns() + length_ns(argc, argv), state = SEED;
    uint64_t units = work_until(outer, end_ns, &state);
    printf("truth units=%lu lines=%d,%d,%d state=%lu\n", (unsigned long)units, HOT_LINE, INNERMOST_CALL_LINE,
           MIDDLE_CALL_LINE, (unsigned long)state);
    return 0;
}
