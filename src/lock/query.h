/* query.h - asks all masters for a key, for a call of the user or for a list. */
#ifndef RLK_LOCK_QUERY_H
#define RLK_LOCK_QUERY_H

#include <redlock/query.h>

/* As redlock_query(), for a caller that has checked what is the same for all calls. 0,
 * REDLOCK_EINVAL (the key) or REDLOCK_ENOMEM. */
int rlk_query_begin(struct redlock *rl, const char *key, size_t key_len, redlock_query_cb *cb,
                    void *arg);

#endif
