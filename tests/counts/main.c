/* counts/main.c - counts what cycles of one workload take, and prints the sums.
 *
 *     test_counts [--syscalls | --trap] WORKLOAD
 *     test_counts --list       the workloads
 *     test_counts --built      by which compiler, for which processor, with which OpenSSL; whether
 *                              callgrind may leave out the warm-up
 *
 * --syscalls counts these too, in a process that is traced. --trap ends the program by SIGTRAP when
 * memory is allocated or freed, so that a debugger shows by whom. run.py compares the sums with the
 * bounds; the instructions are counted by valgrind. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "counts/calls.h"
#include "counts/memory.h"
#include "counts/workload.h"
#include "lib/runner.h"
#ifdef WITH_TLS
#include <openssl/opensslv.h>
#endif

static void print(const char *what, uint64_t n)
{
    printf("%s %llu\n", what, (unsigned long long)n);
}

static void count(const struct workload *w)
{
    struct rig_counts c;

    rlk_test_begin("counts");
    c = workload_count(w);
    print("cycles", c.cycles);
    print("allocations", c.memory);
    print("commands", c.commands);
    print("sent", c.sent);
    print("received", c.received);
    rlk_test_end();
}

/* The compiler of the library is that of this file. */
static void print_built(void)
{
#ifdef __clang__
    printf("compiler: clang %d\n", __clang_major__);
#else
    printf("compiler: gcc %d\n", __GNUC__);
#endif
#ifdef __x86_64__
    puts("processor: x86_64");
#else
    puts("processor: another one");
#endif
#ifdef WITH_CALLGRIND
    puts("instrumented: after the warm-up");
#endif
#ifdef WITH_TLS
    printf("openssl: %d.%d\n", (int)(OPENSSL_VERSION_NUMBER >> 28),
           (int)(OPENSSL_VERSION_NUMBER >> 20 & 0xff));
#endif
}

/* What is asked about the program itself. Returns whether it was that. */
static bool answer(const char *question)
{
    if (strcmp(question, "--list") == 0) {
        workload_list();
    } else if (strcmp(question, "--built") == 0) {
        print_built();
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    const struct workload *w = argc > 1 ? workload_find(argv[argc - 1]) : NULL;

    if (argc == 2 && answer(argv[1])) {
        return 0;
    }
    if (w == NULL || argc > 3) {
        errx(1, "no such workload; --list prints all");
    }
    if (argc == 3 && strcmp(argv[1], "--syscalls") == 0) {
        calls_trace();
    } else if (argc == 3) {
        memory_trap();
    }
    count(w);
    return 0;
}
