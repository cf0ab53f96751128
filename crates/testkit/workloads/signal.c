/*
 * A hot function inside a signal handler.
 *
 *   signal SECONDS [--alternate-stack]
 *
 * `raises_signal`, below 15 frames, raises SIGUSR1 again and again; the handler `on_signal` calls
 * `in_handler`, which takes nearly all time. With --alternate-stack the handler has a stack of its
 * own (sigaltstack(2)), so that the walk must cross from one to the other.
 *
 * Truth: `in_handler` takes `handler_cpu_ns` of `cpu_ns`; its callers are on_signal, the kernel's
 * signal frame, the C library's raise, raises_signal, level_01 .. level_15, main.
 */
#include "levels.h"

#include <signal.h>

LEAF(in_handler)

static volatile uint64_t handler_state = SEED, handler_cpu_ns;

static void on_signal(int number)
{
    (void)number;
    uint64_t start = thread_cpu_ns();
    for (int i = 0; i < 10; i++)
        handler_state = in_handler(handler_state);
    handler_cpu_ns += thread_cpu_ns() - start;
}

KEEP uint64_t raises_signal(uint64_t state)
{
    raise(SIGUSR1);
    return state + 1;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = now_ns() + length_ns(argc, argv), state = 0;
    struct sigaction action = {.sa_handler = on_signal};
    if (option(argc, argv, "--alternate-stack")) {
        stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
        must(stack.ss_sp != NULL && sigaltstack(&stack, NULL) == 0, "sigaltstack");
        action.sa_flags = SA_ONSTACK;
    }
    must(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
    while (now_ns() < end_ns)
        state = level_15(raises_signal, state);
    printf("truth signals=%lu handler_cpu_ns=%lu cpu_ns=%lu\n", (unsigned long)state, (unsigned long)handler_cpu_ns,
           (unsigned long)thread_cpu_ns());
    return 0;
}
