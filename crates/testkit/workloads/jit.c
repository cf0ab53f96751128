/*
 * Generated code, as a just-in-time compiler makes it.
 *
 *   jit SECONDS [--no-map]
 *
 * Writes two functions into anonymous memory, names them in /tmp/perf-PID.map (unless --no-map),
 * and calls the first three times as often as the second, in random order. The map stays behind:
 * `map` in the truth says where, and whoever ran the program removes it.
 *
 * Truth: 75 % in `three_quarters`, 25 % in `one quarter (generated)`, both below 15 frames. The
 * code keeps a frame pointer and has no unwind tables.
 */
#include "levels.h"

#include <sys/mman.h>
#include <unistd.h>

/* Counts the argument down to zero below a frame of its own, returns zero. */
#if defined(__x86_64__)
static const unsigned char code[] = {
    0x55,                   /* push %rbp */
    0x48, 0x89, 0xe5,       /* mov %rsp, %rbp */
    0x48, 0x89, 0xf8,       /* mov %rdi, %rax */
    0x48, 0x83, 0xe8, 0x01, /* 1: sub $1, %rax */
    0x75, 0xfa,             /* jne 1b */
    0x5d,                   /* pop %rbp */
    0xc3,                   /* ret */
};
#elif defined(__aarch64__)
static const unsigned char code[] = {
    0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, #-16]! */
    0xfd, 0x03, 0x00, 0x91, /* mov x29, sp */
    0x00, 0x04, 0x00, 0xd1, /* 1: sub x0, x0, #1 */
    0xe0, 0xff, 0xff, 0xb5, /* cbnz x0, 1b */
    0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], #16 */
    0xc0, 0x03, 0x5f, 0xd6, /* ret */
};
#else
#error "no generated code for this architecture"
#endif

enum { STRIDE = 256, ROUNDS = 100000 };
static work_fn *functions[2];
static uint64_t calls[2];

/* Calls the functions 3 : 1; `state` draws which one is called alone. */
KEEP uint64_t call_generated(uint64_t state)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    unsigned alone = (unsigned)(state >> 32) % 4;
    for (unsigned i = 0; i < 4; i++) {
        functions[i == alone](ROUNDS);
        calls[i == alone]++;
    }
    return state;
}

int main(int argc, char **argv)
{
    static const char *const names[2] = {"three_quarters", "one quarter (generated)"};
    uint64_t end_ns = now_ns() + length_ns(argc, argv), state = SEED;
    unsigned char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED, "mmap");
    char path[64] = "";
    FILE *map = NULL;
    if (!option(argc, argv, "--no-map")) {
        snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
        map = fopen(path, "w");
        must(map != NULL, path);
    }
    for (int i = 0; i < 2; i++) {
        unsigned char *at = memory + i * STRIDE;
        memcpy(at, code, sizeof code);
        functions[i] = (work_fn *)(uintptr_t)at;
        if (map)
            fprintf(map, "%lx %lx %s\n", (unsigned long)(uintptr_t)at, (unsigned long)sizeof code, names[i]);
    }
    if (map)
        fclose(map);
    must(mprotect(memory, 4096, PROT_READ | PROT_EXEC) == 0, "mprotect");
    __builtin___clear_cache((char *)memory, (char *)memory + 4096);
    while (now_ns() < end_ns)
        state = level_15(call_generated, state);
    printf("truth calls=%lu,%lu map=%s\n", (unsigned long)calls[0], (unsigned long)calls[1], path);
    return 0;
}
