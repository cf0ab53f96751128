/*
 * Time spent in the kernel: reads from /dev/zero, with work in user space in between.
 *
 *   syscalls SECONDS
 *
 * Truth: `reads_zero` (mostly its read(2), which runs in the kernel) takes `kernel_ns`, and
 * `in_user_space` takes `user_ns` of the thread's CPU time, both below 15 frames. How often each is
 * called in turn is drawn at random, so no sampling period can march in step.
 */
#include "levels.h"

#include <fcntl.h>
#include <unistd.h>

LEAF(in_user_space)

enum { READ_BYTES = 1 << 20, MOST_TURNS = 16 };
static int zero;
static char *buffer;
static uint64_t kernel_ns, user_ns;

static unsigned drawn_turns(void)
{
    static uint64_t random = SEED;
    random = random * 6364136223846793005u + 1442695040888963407u;
    return 1 + (unsigned)(random >> 60) % MOST_TURNS;
}

KEEP uint64_t reads_zero(uint64_t state)
{
    for (unsigned turns = drawn_turns(); turns > 0; turns--)
        state += (uint64_t)read(zero, buffer, READ_BYTES);
    return state;
}

KEEP uint64_t both(uint64_t state)
{
    uint64_t start = thread_cpu_ns();
    state = reads_zero(state);
    uint64_t between = thread_cpu_ns();
    for (unsigned turns = drawn_turns(); turns > 0; turns--)
        state = in_user_space(state);
    kernel_ns += between - start;
    user_ns += thread_cpu_ns() - between;
    return state;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = now_ns() + length_ns(argc, argv), state = SEED;
    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    buffer = malloc(READ_BYTES);
    must(zero >= 0 && buffer != NULL, "/dev/zero");
    while (now_ns() < end_ns)
        state = level_15(both, state);
    printf("truth kernel_ns=%lu user_ns=%lu state=%lu\n", (unsigned long)kernel_ns, (unsigned long)user_ns,
           (unsigned long)state);
    return 0;
}
