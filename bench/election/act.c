/* act.c - what a leader does: note, once in a millisecond, that it acts.
 *
 *   election-act RECORDS CANDIDATE [--input]
 *
 * A candidate runs this program while it leads. Each record holds the time by the clock that all
 * processes share, so the file RECORDS, to which all leaders append, shows who acted when, and
 * whether two acted at once.
 *
 * The program ends by a signal, or when the benchmark no longer holds its lock (flock) on RECORDS:
 * so it does not outlive the benchmark, however that ends. With --input it begins at the first line
 * of its standard input, and ends with that.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "../common.h"

/* figures.py and Latch.java know this layout. */
struct record {
    uint64_t ns;
    uint64_t term;     /* 0: the candidate's program does not know it */
    uint32_t instance; /* of the leader's program; here its process id */
    uint32_t candidate;
};

/* A number that grows from leader to leader: the first of these variables that is set. */
static uint64_t read_term(void)
{
    static const char *const names[] = {"REDLOCK_TERM", "REDLOCK_FENCING_TOKEN", "ETCD_LOCK_REV"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = getenv(names[i]);

        if (text) {
            return strtoull(text, NULL, 10);
        }
    }
    return 0;
}

static bool benchmark_ended(int fd)
{
    return flock(fd, LOCK_SH | LOCK_NB) == 0;
}

/* Wait a millisecond. Returns whether the input has ended meanwhile. */
static bool input_ends(struct pollfd *input)
{
    char text[256];

    return poll(input, 1, 1) > 0 && read(input->fd, text, sizeof(text)) <= 0;
}

static void act(int fd, struct record record, struct pollfd *input)
{
    do {
        record.ns = bench_now_ns();
        if (write(fd, &record, sizeof(record)) != sizeof(record)) {
            errx(1, "write: %s", strerror(errno));
        }
    } while (!input_ends(input) && !benchmark_ended(fd));
}

int main(int argc, char **argv)
{
    bool reads = argc == 4 && !strcmp(argv[3], "--input");
    struct pollfd input = {.fd = reads ? STDIN_FILENO : -1, .events = POLLIN};
    struct record record = {.term = read_term(), .instance = (uint32_t)getpid()};
    char first;
    int fd;

    if (argc != 3 && !reads) {
        errx(1, "usage: election-act RECORDS CANDIDATE [--input]");
    }
    record.candidate = (uint32_t)strtoul(argv[2], NULL, 10);
    fd = open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0) {
        errx(1, "%s: %s", argv[1], strerror(errno));
    }
    if (!reads || read(STDIN_FILENO, &first, 1) == 1) {
        act(fd, record, &input);
    }
    return 0;
}
