/* rights.h - the commands that the library uses, and what does not work without each of them. */
#ifndef RLK_DOCTOR_RIGHTS_H
#define RLK_DOCTOR_RIGHTS_H

#include <redlock/examine.h>

struct rlk_right {
    unsigned bit; /* an enum redlock_right */
    enum redlock_severity severity;
    const char *command; /* for people */
    const char *acl;     /* for ACL SETUSER, after a '+' */
    const char *cost;
};

extern const struct rlk_right rlk_rights[];
extern const unsigned rlk_rights_count;

#endif
