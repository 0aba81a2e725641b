/* rights.h - the commands that the library uses, and what does not work without each of them. */
#ifndef RLK_DOCTOR_RIGHTS_H
#define RLK_DOCTOR_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include <redlock/examine.h>

struct rlk_right {
    unsigned bit; /* an enum redlock_right */
    enum redlock_severity severity;
    const char *command; /* for people */
    const char *acl;     /* for ACL SETUSER */
    const char *cost;
};

/* docs/acl.md explains them. */
extern const struct rlk_right rlk_rights[];
extern const unsigned rlk_rights_count;

/* For whom the minimum permissions are to be written. */
struct rlk_rights_user {
    const char *name, *key_prefix;
    unsigned database;
    bool channels;      /* the server knows rights to channels: not Redis 6.0 */
    bool selectors;     /* it knows selectors: Redis from 7.0 on, Valkey */
    bool audit;         /* there is an audit stream, which its user may read, too */
    const char *native; /* the rule that grants the command that deletes by value; "": the server
                           has no such command */
};

/* Write the ACL SETUSER command that gives all of these rights and no others; "" when it does not
 * fit. */
void rlk_rights_write(const struct rlk_rights_user *user, char *out, size_t size);

#endif
