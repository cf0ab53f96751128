/*
 * Many threads that spin under a known name.
 *
 *   threads SECONDS [--threads N] [--name NAME] [--odd-name] [--pause-us N]
 *
 * N threads (4 by default) named NAME (`worker` by default; at most 15 bytes, any but NUL) spin in
 * `spin_in_thread`. With --odd-name the first one is called `odd;\xff \xe9name`, which is not
 * UTF-8. With --pause-us each sleeps so long after each unit, so that hundreds of threads all get
 * their turn.
 *
 * Truth: the number of threads, the CPU time of all together, and the least that one had.
 */
#include "workload.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

LEAF(spin_in_thread)

struct spinner {
    pthread_t thread;
    const char *name;
    uint64_t cpu_ns, state;
};

static uint64_t end_ns;
static useconds_t pause_us;

static void *thread_main(void *argument)
{
    struct spinner *self = argument;
    prctl(PR_SET_NAME, self->name);
    do {
        self->state = spin_in_thread(self->state);
        if (pause_us)
            usleep(pause_us);
    } while (now_ns() < end_ns);
    self->cpu_ns = thread_cpu_ns();
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t count = number(argc, argv, "--threads", 4), sum = 0, least = UINT64_MAX;
    char *name = option(argc, argv, "--name");
    struct spinner *spinners = calloc(count, sizeof *spinners);
    must(spinners != NULL, "calloc");
    pause_us = (useconds_t)number(argc, argv, "--pause-us", 0);
    end_ns = now_ns() + length_ns(argc, argv);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    for (uint64_t i = 0; i < count; i++) {
        spinners[i].name = i == 0 && option(argc, argv, "--odd-name") ? "odd;\xff \xe9name" : name ? name : "worker";
        spinners[i].state = SEED;
        must(pthread_create(&spinners[i].thread, &small, thread_main, &spinners[i]) == 0, "pthread_create");
    }
    for (uint64_t i = 0; i < count; i++) {
        pthread_join(spinners[i].thread, NULL);
        sum += spinners[i].cpu_ns;
        least = spinners[i].cpu_ns < least ? spinners[i].cpu_ns : least;
    }
    printf("truth threads=%lu cpu_ns=%lu least_cpu_ns=%lu\n", (unsigned long)count, (unsigned long)sum,
           (unsigned long)least);
    return 0;
}
