/* contend.h - what the programs that contend for one key share.
 *
 * A program runs some contenders. Each of them, again and again: asks for the key and waits until
 * it holds it, holds it for a fixed time, calls the release, and when that has ended asks again.
 * bench/handover/run.py starts the programs and tells them what to do, a letter each, on their
 * standard input:
 *
 *     (the program prints "ready": all connections are there)
 *     g   go: everybody asks
 *     r   rest: who holds releases, and nobody asks again (the program prints "rested" when
 *         nobody holds or waits)
 *     end of the input: cancel who waits, print one line of JSON, end
 *
 * Each acquisition is a record at the end of a file, written when its release has ended, so that
 * the file is complete however the program ends. Its times are of a clock that all processes of
 * the machine share. */
#ifndef BENCH_HANDOVER_CONTEND_H
#define BENCH_HANDOVER_CONTEND_H

#include <stdint.h>

#include "../common.h"

struct contend_args {
    const char *nodes[BENCH_MAX_NODES];
    unsigned n_nodes;
    unsigned first;      /* the number of our first contender */
    unsigned contenders; /* how many are ours */
    uint64_t hold_ns;
    unsigned ttl_ms;
    const char *key;
    unsigned keys;     /* libredlock: so many keys, KEY:0 and so on, in turn; 1: KEY itself */
    unsigned managers; /* libredlock: so many managers, in turn; 0: one for each contender */
    bool watch;        /* libredlock: options.subscribe */
    uint64_t pause_ns; /* the floor: the mean time from a lost try to the next, */
    bool yields;       /* and from a release to the next try; otherwise that comes at once */
};

/* One acquisition; the bytes of the file, in the order of this machine. */
struct contend_record {
    uint32_t contender;
    uint32_t tries;
    uint64_t asked_ns;
    uint64_t held_ns;     /* the client said that the lock is held */
    uint64_t released_ns; /* just before the release was called */
};

/* Read the command line, and open the file of records; wrong usage ends the program. */
void contend_args_parse(struct contend_args *args, int argc, char **argv);

void contend_record(const struct contend_record *record);

/* Print a word on a line of its own, at once. */
void contend_say(const char *word);

/* The next letter of the standard input; 0 at its end. */
char contend_letter(void);

/* A timer for times below a millisecond: create it, and set it to a time of bench_now_ns()
 * (UINT64_MAX: never). It is readable when the time has come. */
int contend_timer(void);
void contend_timer_set(int fd, uint64_t at_ns);

/* The last line: how many contenders were still waiting, and how many acquisitions or releases
 * failed. */
void contend_print(unsigned waiting, uint64_t errors);

#endif
