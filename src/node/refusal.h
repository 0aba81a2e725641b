/* refusal.h - the errors with which a server refuses commands because of its state: what each
 * means, and what to do about it.
 *
 * One table for every place that says so: redlock_get_node_info(), the details of a lock, the
 * doctor. docs/troubleshooting.md has the same for people. */
#ifndef RLK_NODE_REFUSAL_H
#define RLK_NODE_REFUSAL_H

struct rlk_refusal {
    const char *start; /* how the error begins */
    const char *means; /* a clause about "it", the server, and in brackets the word to search for in
                          manuals; NULL: the error says it best */
    const char *advice; /* what to do, in the imperative, without capital letter and full stop */
};

/* The row of an error; NULL when the table has none. Redis before 7.0 puts the place in the script
 * in front of an error from a script: that is skipped. */
const struct rlk_refusal *rlk_refusal_of(const char *error);

#endif
