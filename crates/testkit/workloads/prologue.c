/*
 * Tiny functions that are little more than prologue and epilogue, called without end.
 *
 *   prologue SECONDS
 *
 * Truth: every sample lies in `tiny_a`, `tiny_b`, `tiny_c` or their caller `calls_tiny`, and every
 * stack holds calls_tiny below main, also where the sample hit a function whose frame is not yet
 * set up or no longer there.
 */
#include "workload.h"

/* What the callee must save: the compiler pushes and pops all of it. */
#if defined(__x86_64__)
#define SAVE_REGISTERS __asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15")
#elif defined(__aarch64__)
#define SAVE_REGISTERS __asm__ volatile("" ::: "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26")
#else
#error "which registers does a callee save here?"
#endif

#define TINY(name)                     \
    KEEP uint64_t name(uint64_t state) \
    {                                  \
        SAVE_REGISTERS;                \
        return state + 1;              \
    }

TINY(tiny_a)
TINY(tiny_b)
TINY(tiny_c)

KEEP uint64_t calls_tiny(uint64_t state)
{
    for (int i = 0; i < 100000; i++)
        state = tiny_c(tiny_b(tiny_a(state)));
    return state;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = now_ns() + length_ns(argc, argv), calls = 0;
    work_until(calls_tiny, end_ns, &calls);
    printf("truth calls=%lu\n", (unsigned long)calls);
    return 0;
}
