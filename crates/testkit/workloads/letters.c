/*
 * C functions whose plain names are also C++ manglings of built-in types: `a` (signed char),
 * `b` (bool), `i` (int).
 *
 *   letters SECONDS
 *
 * Truth: a third of the time each in functions that are called `a`, `b` and `i`, and nothing else.
 */
#include "levels.h"

LEAF(a)
LEAF(b)
LEAF(i)

KEEP uint64_t spells(uint64_t state)
{
    return i(b(a(state)));
}

int main(int argc, char **argv)
{
    uint64_t end_ns = now_ns() + length_ns(argc, argv), state = SEED;
    while (now_ns() < end_ns)
        state = level_15(spells, state);
    printf("truth names=a,b,i state=%lu\n", (unsigned long)state);
    return 0;
}
