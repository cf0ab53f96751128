/*
 * Code from a file that has no path.
 *
 *   memfd SECONDS                   copies itself into a memfd and executes that
 *   memfd SECONDS --load PLUGIN     loads PLUGIN, a library built from plugin.h, from a memfd
 *
 * Truth: all time in `in_memfd_program`, or in PLUGIN's hot function below `plugin_entry`; the
 * mapping is called `/memfd:workload (deleted)`.
 */
#include "levels.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

LEAF(in_memfd_program)

/* A memfd that holds what the file at `path` holds. */
static int copy_of(const char *path)
{
    struct stat info;
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("workload", MFD_CLOEXEC);
    must(from >= 0 && to >= 0 && fstat(from, &info) == 0, path);
    for (off_t left = info.st_size; left > 0;) {
        ssize_t sent = sendfile(to, from, NULL, (size_t)left);
        must(sent > 0, "sendfile");
        left -= sent;
    }
    close(from);
    return to;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = now_ns() + length_ns(argc, argv), state = SEED;
    const char *plugin = option(argc, argv, "--load");
    work_fn *work = in_memfd_program;
    if (plugin) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", copy_of(plugin));
        void *library = dlopen(path, RTLD_NOW);
        must(library != NULL, path);
        work = (work_fn *)(uintptr_t)dlsym(library, "plugin_entry");
        must(work != NULL, "dlsym");
    } else if (!option(argc, argv, "--inside")) {
        char *arguments[] = {"in-memfd", argv[1], "--inside", NULL};
        fexecve(copy_of("/proc/self/exe"), arguments, environ);
        must(0, "fexecve");
    }
    while (now_ns() < end_ns)
        state = level_15(work, state);
    printf("truth kind=%s cpu_ns=%lu\n", plugin ? "library" : "program", (unsigned long)thread_cpu_ns());
    return 0;
}
