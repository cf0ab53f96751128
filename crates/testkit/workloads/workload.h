/*
 * What the workloads share: clocks, arguments, and functions of a known shape.
 *
 * Every workload takes its length in seconds of wall time as its first argument, prints one line
 * `truth KEY=VALUE ...` on standard output when it is done, and exits with 0. All are built with
 * -fno-optimize-sibling-calls, so that every call in the source is a frame on the stack.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A function that stays one: not inlined, cloned, or merged with a twin; at the same place in its
   cache line as every other, so that equal code takes equal time. */
#define KEEP __attribute__((noipa, aligned(64)))

/* The steps of a unit: about 80 us on a 3 GHz machine at -O2, a few times that at -O0. */
#define UNIT_STEPS 40000

/* The loop of a unit: each step waits for the one before it, whatever the data. */
#define UNIT_LOOP(state)                                   \
    for (unsigned step = 0; step < UNIT_STEPS; step++) {   \
        state ^= state << 13;                              \
        state ^= state >> 7;                               \
        state ^= state << 17;                              \
    }

/* A leaf function that does one unit of work. */
#define LEAF(name)                     \
    KEEP uint64_t name(uint64_t state) \
    {                                  \
        UNIT_LOOP(state)               \
        return state;                  \
    }

typedef uint64_t work_fn(uint64_t state);

/* What `state` starts from; the generator stands still at zero. */
#define SEED UINT64_C(88172645463325252)

static inline uint64_t clock_ns(clockid_t id)
{
    struct timespec at;
    clock_gettime(id, &at);
    return (uint64_t)at.tv_sec * UINT64_C(1000000000) + (uint64_t)at.tv_nsec;
}

static inline uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t thread_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Calls `work` until the monotonic clock shows `end_ns`; returns the number of calls. `state` is
   kept so that no compiler finds the work useless. */
static inline uint64_t work_until(work_fn *work, uint64_t end_ns, uint64_t *state)
{
    uint64_t calls = 0;
    while (now_ns() < end_ns) {
        *state = work(*state);
        calls++;
    }
    return calls;
}

/* The length of the run in nanoseconds: the first argument, in seconds. */
static inline uint64_t length_ns(int argc, char **argv)
{
    char *end = NULL;
    double seconds = argc > 1 ? strtod(argv[1], &end) : -1;
    if (argc < 2 || *end != '\0' || seconds < 0) {
        fprintf(stderr, "usage: %s SECONDS [OPTION...]; see the comment at the top of its source\n", argv[0]);
        exit(2);
    }
    return (uint64_t)(seconds * 1e9);
}

/* The argument after `option`, "" where it is the last one, NULL where it is not given. */
static inline char *option(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return i + 1 < argc ? argv[i + 1] : (char *)"";
    return NULL;
}

/* The number after `option`, or `fallback`. */
static inline uint64_t number(int argc, char **argv, const char *name, uint64_t fallback)
{
    char *text = option(argc, argv, name);
    return text ? strtoull(text, NULL, 10) : fallback;
}

/* Ends the program where a system call that the truth rests on fails. */
static inline void must(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

#endif
