/*
 * Libraries that come and go while the program runs.
 *
 *   dlopen SECONDS PLUGIN_A PLUGIN_B
 *
 * Opens PLUGIN_A, spends half of the time in its function, closes it, opens PLUGIN_B and spends
 * the other half there. The loader maps the second one where the first one was.
 *
 * Truth: half of the samples each in `hot_in_a` and `hot_in_b` (`cpu_ns`), both below 15 frames
 * and `plugin_entry` of their library; `same_place` says whether B lay over A's addresses.
 */
#include "levels.h"

#include <dlfcn.h>

/* Works in the library at `path` for `ns`; returns the address of its entry. */
static uintptr_t work_in(const char *path, uint64_t ns, uint64_t *cpu_ns)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    uintptr_t entry = (uintptr_t)dlsym(library, "plugin_entry");
    must(entry != 0, "dlsym");
    uint64_t end_ns = now_ns() + ns, start_cpu = thread_cpu_ns(), state = SEED;
    while (now_ns() < end_ns)
        state = level_15((work_fn *)entry, state);
    *cpu_ns = thread_cpu_ns() - start_cpu;
    dlclose(library);
    return entry;
}

int main(int argc, char **argv)
{
    uint64_t half = length_ns(argc, argv) / 2, cpu_ns[2];
    if (argc < 4) {
        fprintf(stderr, "usage: %s SECONDS PLUGIN_A PLUGIN_B\n", argv[0]);
        return 2;
    }
    uintptr_t first = work_in(argv[2], half, &cpu_ns[0]);
    uintptr_t second = work_in(argv[3], half, &cpu_ns[1]);
    printf("truth cpu_ns=%lu,%lu same_place=%d\n", (unsigned long)cpu_ns[0], (unsigned long)cpu_ns[1],
           first == second);
    return 0;
}
