/* fork.h - notices that the process is a forked child, without a system call per question.
 *
 * A page that the kernel wipes in the child (MADV_WIPEONFORK) holds a mark; kernels before
 * 4.14 compare process ids instead. */
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
