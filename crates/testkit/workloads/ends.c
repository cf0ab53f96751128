/*
 * Ends as it is told.
 *
 *   ends SECONDS --code N         spins in `before_the_end`, then exits with N
 *   ends SECONDS --signal N       spins, then dies by signal N
 *   ends SECONDS --vfork          spins in the child of a vfork(2), then exits with 0
 *
 * Truth: exit code, signal, and samples in before_the_end (or `in_vforked`, credited to the child).
 */
#include "workload.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

LEAF(before_the_end)
LEAF(in_vforked)

/* The child of a vfork shares the parent's memory and may not return from this function. */
static void spin_in_vforked(uint64_t end_ns, volatile uint64_t *state)
{
    pid_t child = vfork();
    must(child >= 0, "vfork");
    if (child == 0) {
        while (now_ns() < end_ns)
            *state = in_vforked(*state);
        _exit(0);
    }
    int status;
    must(waitpid(child, &status, 0) == child && status == 0, "child");
}

int main(int argc, char **argv)
{
    uint64_t end_ns = now_ns() + length_ns(argc, argv), state = SEED;
    volatile uint64_t shared = SEED;
    int code = (int)number(argc, argv, "--code", 0), signal_number = (int)number(argc, argv, "--signal", 0);
    if (option(argc, argv, "--vfork"))
        spin_in_vforked(end_ns, &shared);
    else
        work_until(before_the_end, end_ns, &state);
    printf("truth code=%d signal=%d state=%lu\n", code, signal_number, (unsigned long)state);
    fflush(stdout);
    if (signal_number) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    return code;
}
