/*
 * Leaf functions in assembly that no unwind table covers, among code that has tables.
 *
 *   tableless SECONDS
 *
 * `no_frame` leaves the frame pointer alone, `own_frame` sets up a frame and keeps a number that is
 * no address on top of it, `little_frame` is nothing but the setting up and taking down of one. Each
 * is called by one function only: calls_no_frame, calls_own_frame, calls_little_frame.
 *
 * Truth: each function's caller is the one of its name; the callers of that are level_01 ..
 * level_03 and main.
 */
#include "levels.h"

#define ASM_FUNCTION(name, body)                                                                  \
    __asm__(".text\n.p2align 6\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" body  \
            ".size " #name ", . - " #name "\n");                                                  \
    uint64_t name(uint64_t state);

#if defined(__x86_64__)
#define LOOP "movl $40000, %ecx\n0: leaq 3(%rdi,%rdi,4), %rdi\ndecl %ecx\njnz 0b\nmovq %rdi, %rax\n"
ASM_FUNCTION(no_frame, LOOP "ret\n")
ASM_FUNCTION(own_frame, "pushq %rbp\nmovq %rsp, %rbp\npushq $12345\n" LOOP "leave\nret\n")
ASM_FUNCTION(little_frame, "pushq %rbp\nmovq %rsp, %rbp\nleaq 1(%rdi), %rax\npopq %rbp\nret\n")
#elif defined(__aarch64__)
#define LOOP "mov w1, #40000\n0: add x0, x0, x0, lsl #2\nsubs w1, w1, #1\nb.ne 0b\n"
ASM_FUNCTION(no_frame, LOOP "ret\n")
ASM_FUNCTION(own_frame, "stp x29, x30, [sp, #-16]!\nmov x29, sp\n" LOOP "ldp x29, x30, [sp], #16\nret\n")
ASM_FUNCTION(little_frame, "stp x29, x30, [sp, #-16]!\nmov x29, sp\nldp x29, x30, [sp], #16\nret\n")
#else
#error "how does a leaf keep a frame here?"
#endif

KEEP uint64_t calls_no_frame(uint64_t state)
{
    return no_frame(state) + 1;
}

KEEP uint64_t calls_own_frame(uint64_t state)
{
    return own_frame(state) + 1;
}

KEEP uint64_t calls_little_frame(uint64_t state)
{
    for (int i = 0; i < 20000; i++)
        state = little_frame(state);
    return state;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = now_ns() + length_ns(argc, argv), state = SEED, rounds = 0;
    for (; now_ns() < end_ns; rounds++) {
        state = level_03(calls_no_frame, state);
        state = level_03(calls_own_frame, state);
        state = level_03(calls_little_frame, state);
    }
    printf("truth rounds=%lu\n", (unsigned long)rounds);
    return 0;
}
