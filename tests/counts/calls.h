/* counts/calls.h - counts system calls by ptrace(2).
 *
 * The program forks: the child runs, and the parent sees each of its system calls. Only those
 * between calls_begin() and calls_end() are counted. Reading the clock is no system call. */
#ifndef RLK_TESTS_COUNTS_CALLS_H
#define RLK_TESTS_COUNTS_CALLS_H

/* Fork. Returns in the child only; the parent prints "syscalls N" when the child has ended, and
 * exits with its status. Where this system does not allow it, it prints nothing, and the child
 * goes on all the same. */
void calls_trace(void);

/* Do nothing unless the calls are traced. */
void calls_begin(void);
void calls_end(void);

#endif
