/*
 * Three leaf functions that take 60, 30 and 10 % of the CPU time, each below 15 frames.
 *
 *   shares SECONDS [--units N]               leaf_60, leaf_30, leaf_10 below level_15 .. level_01, mixed
 *   shares SECONDS --threads                 in_thread_a (thread `thread-a`) and in_thread_b (`thread-b`)
 *   shares SECONDS --processes               in_parent, and in_child in a forked child
 *   shares SECONDS --exec PROGRAM            in_parent, and in_exec in PROGRAM, a copy of this one
 *
 * Truth of the first form: every ten units are six of leaf_60, three of leaf_30 and one of leaf_10.
 * The three functions hold the same instructions at the same alignment, so equal units take equal
 * time; their order within the ten is drawn at random, so no sampling period can march in step.
 * With --units the run ends after N units (rounded up to tens) rather than by the clock.
 * One ten in 64 is timed by the thread's CPU clock: `cpu_ns` is the measured truth.
 *
 * Truth of the other forms: the second party works a third as long as the first; `cpu_ns` is the
 * CPU time of each, first and second. Where both have a CPU to themselves, that is 75 and 25 %.
 */
#include "levels.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

LEAF(leaf_60)
LEAF(leaf_30)
LEAF(leaf_10)
LEAF(in_thread_a)
LEAF(in_thread_b)
LEAF(in_parent)
LEAF(in_child)
LEAF(in_exec)

enum { KINDS = 3, TEN = 10, TIMED_EVERY = 64 };
static work_fn *const leaves[KINDS] = {leaf_60, leaf_30, leaf_10};
static uint64_t units[KINDS], timed_ns[KINDS], tens, order = SEED;

/* Which of the remaining units of a ten comes next. */
static unsigned draw(unsigned left[KINDS], unsigned total)
{
    order ^= order << 13;
    order ^= order >> 7;
    order ^= order << 17;
    unsigned kind = 0, at = (unsigned)((order >> 32) % total);
    while (at >= left[kind])
        at -= left[kind++];
    left[kind]--;
    return kind;
}

/* Ten units. */
KEEP uint64_t mixed(uint64_t state)
{
    unsigned left[KINDS] = {6, 3, 1};
    int timed = tens++ % TIMED_EVERY == 0;
    for (unsigned total = TEN; total > 0; total--) {
        unsigned kind = draw(left, total);
        uint64_t start = timed ? thread_cpu_ns() : 0;
        state = leaves[kind](state);
        timed_ns[kind] += timed ? thread_cpu_ns() - start : 0;
        units[kind]++;
    }
    return state;
}

struct party {
    work_fn *leaf;
    const char *name;
    uint64_t end_ns, cpu_ns, state;
};

/* Works below 15 frames until the party's end; its CPU time includes what came before. */
static void work_as(struct party *party)
{
    while (now_ns() < party->end_ns)
        party->state = level_15(party->leaf, party->state);
    party->cpu_ns = thread_cpu_ns();
}

static void *thread_main(void *argument)
{
    struct party *party = argument;
    pthread_setname_np(pthread_self(), party->name);
    work_as(party);
    return NULL;
}

static void print_parties(const char *kind, uint64_t first_ns, uint64_t second_ns)
{
    printf("truth kind=%s cpu_ns=%lu,%lu\n", kind, (unsigned long)first_ns, (unsigned long)second_ns);
}

static void run_threads(uint64_t start, uint64_t length)
{
    struct party parties[2] = {
        {in_thread_a, "thread-a", start + length, 0, SEED},
        {in_thread_b, "thread-b", start + length / 3, 0, SEED},
    };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        must(pthread_create(&threads[i], NULL, thread_main, &parties[i]) == 0, "pthread_create");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    print_parties("threads", parties[0].cpu_ns, parties[1].cpu_ns);
}

/* The parent works on, the child works in a function of its own or execs `program`. */
static void run_processes(uint64_t start, uint64_t length, char *program)
{
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0 && program) {
        char seconds[32];
        snprintf(seconds, sizeof seconds, "%.9f", (double)length / 3e9);
        execl(program, program, seconds, "--in-exec", (char *)NULL);
        perror(program);
        _exit(127);
    }
    if (child == 0) {
        struct party party = {in_child, "", start + length / 3, 0, SEED};
        work_as(&party);
        _exit(0);
    }
    struct party party = {in_parent, "", start + length, 0, SEED};
    work_as(&party);
    int status;
    struct rusage usage;
    must(wait4(child, &status, 0, &usage) == child && status == 0, "child");
    uint64_t micros = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    print_parties(program ? "exec" : "processes", party.cpu_ns, micros * 1000);
}

static void run_mixed(uint64_t end_ns, uint64_t wanted_units)
{
    uint64_t state = SEED;
    while (wanted_units ? tens * TEN < wanted_units : now_ns() < end_ns)
        state = level_15(mixed, state);
    printf("truth kind=mixed units=%lu,%lu,%lu cpu_ns=%lu,%lu,%lu total_cpu_ns=%lu state=%lu\n",
           (unsigned long)units[0], (unsigned long)units[1], (unsigned long)units[2], (unsigned long)timed_ns[0],
           (unsigned long)timed_ns[1], (unsigned long)timed_ns[2], (unsigned long)thread_cpu_ns(),
           (unsigned long)state);
}

int main(int argc, char **argv)
{
    uint64_t start = now_ns(), length = length_ns(argc, argv);
    if (option(argc, argv, "--in-exec")) {
        struct party party = {in_exec, "", start + length, 0, SEED};
        work_as(&party);
    } else if (option(argc, argv, "--threads")) {
        run_threads(start, length);
    } else if (option(argc, argv, "--processes") || option(argc, argv, "--exec")) {
        run_processes(start, length, option(argc, argv, "--exec"));
    } else {
        run_mixed(start + length, number(argc, argv, "--units", 0));
    }
    return 0;
}
