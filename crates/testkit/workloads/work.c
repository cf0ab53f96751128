/*
 * Counts the work that it gets done: the measure of what a profiler costs.
 *
 *   work SECONDS [--threads N]
 *
 * N threads (1 by default) do small units of work below 15 to 22 frames, in turn, until the time is
 * over.
 *
 * Truth: `units` done by all threads together, and their CPU time.
 */
#include "levels.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* A tenth of a unit: a call chain of 22 frames is a thousandth of it. */
KEEP uint64_t small_unit(uint64_t state)
{
    for (unsigned step = 0; step < UNIT_STEPS / 10; step++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

typedef uint64_t level_fn(work_fn *work, uint64_t state);
static level_fn *const entries[8] = {level_15, level_16, level_17, level_18, level_19, level_20, level_21, level_22};

static atomic_int stop;

struct worker {
    pthread_t thread;
    uint64_t units, cpu_ns, state;
    char own_cache_line[64];
};

static void *thread_main(void *argument)
{
    struct worker *self = argument;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        self->state = entries[self->units % 8](small_unit, self->state);
        self->units++;
    }
    self->cpu_ns = thread_cpu_ns();
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = now_ns() + length_ns(argc, argv), count = number(argc, argv, "--threads", 1);
    uint64_t units = 0, cpu_ns = 0;
    struct worker *workers = calloc(count, sizeof *workers);
    must(workers != NULL, "calloc");
    for (uint64_t i = 0; i < count; i++) {
        workers[i].state = SEED;
        must(pthread_create(&workers[i].thread, NULL, thread_main, &workers[i]) == 0, "pthread_create");
    }
    for (uint64_t now = now_ns(); now < end_ns; now = now_ns())
        usleep((useconds_t)((end_ns - now) / 1000 + 1));
    atomic_store(&stop, 1);
    for (uint64_t i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        units += workers[i].units;
        cpu_ns += workers[i].cpu_ns;
    }
    printf("truth units=%lu cpu_ns=%lu\n", (unsigned long)units, (unsigned long)cpu_ns);
    return 0;
}
