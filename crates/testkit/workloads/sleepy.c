/*
 * Sleeps: nearly no CPU time.
 *
 *   sleepy SECONDS
 *
 * Truth: one clock_nanosleep(2) in `sleeps_here`; the CPU time is that of start and end, well under
 * 10 ms.
 */
#include "workload.h"

KEEP void sleeps_here(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (nanosleep(&left, &left) != 0) {
    }
}

int main(int argc, char **argv)
{
    sleeps_here(length_ns(argc, argv));
    printf("truth cpu_ns=%lu\n", (unsigned long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
