/*
 * Time spent in the vDSO: asks for the time over and over.
 *
 *   vdso SECONDS
 *
 * Truth: nearly all samples lie below `ask_the_time`, most in `[vdso]`, as long as the kernel's
 * clock source can be read from user space; `system_share` near 0 says that it could.
 */
#include "workload.h"

#include <sys/resource.h>

KEEP uint64_t ask_the_time(uint64_t state)
{
    for (int i = 0; i < 1000; i++)
        state += clock_ns(CLOCK_MONOTONIC);
    return state;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = now_ns() + length_ns(argc, argv), state = 0;
    uint64_t calls = work_until(ask_the_time, end_ns, &state);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double user = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
    double system = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
    printf("truth calls=%lu system_share=%.3f state=%lu\n", (unsigned long)calls * 1000,
           system / (user + system + 1e-9), (unsigned long)state);
    return 0;
}
