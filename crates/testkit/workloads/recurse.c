/*
 * A deep stack: `down` calls itself --depth times (3,000 by default), then `at_the_bottom` spins.
 *
 *   recurse SECONDS [--depth N]
 *
 * Truth: every sample but those of start and end holds N frames of `down`, all above
 * `at_the_bottom`.
 */
#include "workload.h"

LEAF(at_the_bottom)

static uint64_t end_ns;

KEEP uint64_t down(uint64_t left, uint64_t state)
{
    if (left > 1)
        return down(left - 1, state);
    work_until(at_the_bottom, end_ns, &state);
    return state;
}

int main(int argc, char **argv)
{
    uint64_t depth = number(argc, argv, "--depth", 3000);
    end_ns = now_ns() + length_ns(argc, argv);
    uint64_t state = down(depth, SEED);
    printf("truth depth=%lu state=%lu\n", (unsigned long)depth, (unsigned long)state);
    return 0;
}
