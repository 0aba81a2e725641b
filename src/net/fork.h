/* fork.h - tells whether this process is a forked child, without a system call for each check.
 *
 * A page of memory holds a 1, and the kernel clears that page in a child (MADV_WIPEONFORK). On
 * kernels before 4.14 the process id is compared instead. */
#ifndef RLK_NET_FORK_H
#define RLK_NET_FORK_H

#include <stdbool.h>
#include <sys/types.h>

struct rlk_fork {
    unsigned char *page; /* NULL: compare the pid */
    pid_t pid;
};

void rlk_fork_init(struct rlk_fork *f);
void rlk_fork_end(struct rlk_fork *f);

/* Whether this process is not the one that called rlk_fork_init. */
bool rlk_fork_is_child(const struct rlk_fork *f);

#endif
