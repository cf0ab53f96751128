/*
 * Many short processes.
 *
 *   storm SECONDS [--processes N] [--spin-us N]
 *
 * Starts N processes (200 by default) at an even pace over the time, each this same program
 * through fork and exec (posix_spawn); a child spins for --spin-us (1,000 by default) of its CPU
 * time in `in_short_process` and exits.
 *
 * Truth: the number of processes that were started and ended with 0, and their CPU time.
 */
#include "workload.h"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A hundredth of a unit, so that short lives end in time. */
KEEP uint64_t in_short_process(uint64_t state)
{
    for (unsigned step = 0; step < UNIT_STEPS / 100; step++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

static int live(uint64_t spin_us)
{
    uint64_t state = SEED;
    while (thread_cpu_ns() < spin_us * 1000)
        state = in_short_process(state);
    return state == 0;
}

/* Collects the children that have ended; waits for one if `block`. */
static uint64_t reap(int block)
{
    int status;
    uint64_t ended = 0;
    while (waitpid(-1, &status, block ? 0 : WNOHANG) > 0) {
        must(status == 0, "child");
        ended++;
        block = 0;
    }
    return ended;
}

int main(int argc, char **argv)
{
    uint64_t start = now_ns(), length = length_ns(argc, argv);
    if (option(argc, argv, "--live"))
        return live(number(argc, argv, "--live", 0));
    uint64_t count = number(argc, argv, "--processes", 200), ended = 0;
    char spin[32], self[4096];
    snprintf(spin, sizeof spin, "%lu", (unsigned long)number(argc, argv, "--spin-us", 1000));
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    must(size > 0, "readlink");
    self[size] = '\0';
    for (uint64_t i = 0; i < count; i++) {
        uint64_t due = start + length * i / count;
        for (uint64_t now = now_ns(); now < due; now = now_ns())
            usleep((useconds_t)((due - now) / 1000 + 1));
        char *arguments[] = {self, "0", "--live", spin, NULL};
        pid_t child;
        must(posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0, "posix_spawn");
        ended += reap(0);
    }
    while (ended < count)
        ended += reap(1);
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    uint64_t micros = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    printf("truth processes=%lu cpu_ns=%lu\n", (unsigned long)ended, (unsigned long)(micros * 1000));
    return 0;
}
