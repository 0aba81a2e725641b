/* main.c - redlock-sim: runs the library through histories full of faults, and checks what must
 * hold.
 *
 * See docs/simulator.md. A run is its seed and the commit: the same on every machine. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/history.h"
#include "sim/run.h"

static const char usage_text[] =
    "usage: redlock-sim [--seeds N] [--from S] [--seconds T] [--jobs J] [--break ASSUMPTION]\n"
    "                   [--violations FILE] [--resizes] [--coverage]\n"
    "                   [--ledger FILE [--build NAME]]\n"
    "       redlock-sim --seed S [--trace | --svg FILE [-- --key K --since T --until T]]\n"
    "                   [--break ASSUMPTION]\n"
    "       redlock-sim --hunt N [--from S] [--break ASSUMPTION] [--resizes]\n"
    "       redlock-sim --file SEEDS\n"
    "       redlock-sim --mutants [NAME...]\n"
    "\n"
    "  --seeds N      that many histories (1000)\n"
    "  --seconds T    instead, as many as fit in T seconds\n"
    "  --from S       the first seed (1)\n"
    "  --jobs J       processes (1)\n"
    "  --violations FILE  write each violation there, in the form of a file of seeds\n"
    "  --ledger FILE  go on where the last run with this file, build and options ended, and add\n"
    "                 a line to it, also when interrupted\n"
    "  --build NAME   of the build in the ledger (a hash of the program)\n"
    "  --resizes      skip seeds of histories in which no masters are added and removed\n"
    "  --coverage     print which events came to which states of the library's machines\n"
    "  --seed S       this history only\n"
    "  --trace        print everything that happens in it\n"
    "  --svg FILE     draw it: of the locks that a violation names, or of a key and a time\n"
    "  --hunt N       stop at the first violation within N histories\n"
    "  --file SEEDS   the histories of a file: a seed a line, and why\n"
    "  --mutants      show that every known bug is found (tests/mutants)\n"
    "  --break A      break an assumption of the fault model on purpose:\n"
    "                 ";

static int usage(FILE *f, int status)
{
    unsigned i;

    fputs(usage_text, f);
    for (i = 1; i < ASSUME_KINDS; i++) {
        fprintf(f, "%s%s", i > 1 ? ", " : "", options_assumption_name((enum assumption)i));
    }
    fputs("\n\nExit status: 0 no violation, 1 a violation, 64 wrong usage.\n", f);
    return status;
}

/* A script draws what the trace says. */
static int draw_history(const struct run *r, uint64_t seed, char **window)
{
    const char *argv[16] = {"python3", "-B", SIM_PICTURE, NULL};
    char program[300], number_text[24];
    ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
    unsigned n = 3;

    program[len > 0 ? len : 0] = '\0';
    snprintf(number_text, sizeof(number_text), "%llu", (unsigned long long)seed);
    argv[n++] = program;
    argv[n++] = number_text;
    argv[n++] = r->svg;
    if (r->broken != ASSUME_ALL) {
        argv[n++] = "--break";
        argv[n++] = options_assumption_name(r->broken);
    }
    while (*window && n < 15) {
        argv[n++] = *window++;
    }
    execvp("python3", (char *const *)(uintptr_t)argv);
    perror("redlock-sim: python3");
    return 71;
}

/* A script runs the table, because it builds every mutant. */
static int run_mutants(char **names)
{
    const char *argv[64] = {"python3", "-B", SIM_MUTANTS, NULL};
    unsigned n = 3;

    if (names[0]) {
        argv[n++] = "--only";
    }
    while (*names && n < 63) {
        argv[n++] = *names++;
    }
    execvp("python3", (char *const *)(uintptr_t)argv);
    perror("redlock-sim: python3");
    return 71;
}

static bool number(const char *text, uint64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && end != text && text[0] != '-';
}

enum {
    SEEDS = 256,
    FROM,
    SECONDS,
    JOBS,
    VIOLATIONS,
    LEDGER,
    BUILD,
    RESIZES,
    COVERAGE,
    SEED,
    TRACE,
    SVG,
    HUNT,
    FILE_OF,
    BREAK,
    MUTANTS,
    HELP
};

static const struct option long_options[] = {
    {"seeds", required_argument, NULL, SEEDS},
    {"from", required_argument, NULL, FROM},
    {"seconds", required_argument, NULL, SECONDS},
    {"jobs", required_argument, NULL, JOBS},
    {"violations", required_argument, NULL, VIOLATIONS},
    {"ledger", required_argument, NULL, LEDGER},
    {"build", required_argument, NULL, BUILD},
    {"resizes", no_argument, NULL, RESIZES},
    {"coverage", no_argument, NULL, COVERAGE},
    {"seed", required_argument, NULL, SEED},
    {"trace", no_argument, NULL, TRACE},
    {"svg", required_argument, NULL, SVG},
    {"hunt", required_argument, NULL, HUNT},
    {"file", required_argument, NULL, FILE_OF},
    {"break", required_argument, NULL, BREAK},
    {"mutants", no_argument, NULL, MUTANTS},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

struct command {
    struct run run;
    enum {
        MANY,
        ONE,
        HUNTING,
        OF_FILE,
        OF_MUTANTS,
        HELPING
    } what;
    uint64_t seed;
    bool trace;
    const char *file;
};

static bool take(struct command *c, int option)
{
    switch (option) {
    case SEEDS:
        return number(optarg, &c->run.histories);
    case FROM:
        return number(optarg, &c->run.from);
    case SECONDS:
        return number(optarg, &c->run.seconds) && c->run.seconds > 0;
    case JOBS:
        return number(optarg, &c->run.jobs) && c->run.jobs >= 1 && c->run.jobs <= 256;
    case VIOLATIONS:
        c->run.violations = optarg;
        return true;
    case LEDGER:
        c->run.ledger = optarg;
        return true;
    case BUILD:
        c->run.build = optarg;
        return *optarg && strlen(optarg) < 64 && strpbrk(optarg, " \t\n#") == NULL;
    case RESIZES:
        c->run.resizes = true;
        return true;
    case COVERAGE:
        c->run.coverage = true;
        return true;
    case SEED:
        c->what = ONE;
        return number(optarg, &c->seed);
    case TRACE:
        c->trace = true;
        return true;
    case SVG:
        c->run.svg = optarg;
        return true;
    case HUNT:
        c->what = HUNTING;
        return number(optarg, &c->run.histories);
    case FILE_OF:
        c->what = OF_FILE;
        c->file = optarg;
        return true;
    case BREAK:
        c->run.broken = options_assumption(optarg);
        return c->run.broken != ASSUME_KINDS;
    case MUTANTS:
        c->what = OF_MUTANTS;
        return true;
    case HELP:
        c->what = HELPING;
        return true;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    struct command c = {.run = {.histories = 1000, .from = 1, .jobs = 1}};
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (!take(&c, option)) {
            return usage(stderr, 64);
        }
    }
    if (optind < argc && c.what != OF_MUTANTS && c.run.svg == NULL) {
        return usage(stderr, 64);
    }
    switch (c.what) {
    case ONE:
        if (c.run.svg) {
            return draw_history(&c.run, c.seed, argv + optind);
        }
        return run_one(c.seed, c.run.broken, c.trace);
    case HUNTING:
        return run_hunt(&c.run);
    case OF_FILE:
        return run_file(c.file);
    case OF_MUTANTS:
        return run_mutants(argv + optind);
    case HELPING:
        return usage(stdout, 0);
    case MANY:
        break;
    }
    return run_many(&c.run);
}
