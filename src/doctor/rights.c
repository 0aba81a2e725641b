/* rights.c - the table of commands. */
#include "doctor/rights.h"

const struct rlk_right rlk_rights[] = {
    {REDLOCK_RIGHT_SET, REDLOCK_UNUSABLE, "SET", "set", "no lock can be acquired there"},
    {REDLOCK_RIGHT_GET, REDLOCK_UNUSABLE, "GET", "get", "no lock can be released or renewed there"},
    {REDLOCK_RIGHT_DEL, REDLOCK_UNUSABLE, "DEL", "del", "no lock can be released there"},
    {REDLOCK_RIGHT_PEXPIRE, REDLOCK_UNUSABLE, "PEXPIRE", "pexpire", "no lock can be renewed there"},
    {REDLOCK_RIGHT_PTTL, REDLOCK_UNUSABLE, "PTTL", "pttl", "no lock can be renewed there"},
    {REDLOCK_RIGHT_EVAL, REDLOCK_UNUSABLE, "EVAL", "eval",
     "no lock can be renewed there, and nobody sees when it loses its data"},
    {REDLOCK_RIGHT_EVALSHA, REDLOCK_UNUSABLE, "EVALSHA", "evalsha",
     "no lock can be released or renewed there"},
    {REDLOCK_RIGHT_SCRIPT_LOAD, REDLOCK_WARNING, "SCRIPT LOAD", "script|load",
     "the first release takes twice as long"},
    {REDLOCK_RIGHT_TIME, REDLOCK_WARNING, "TIME", "time", "nobody sees when its clock is set"},
    {REDLOCK_RIGHT_INFO, REDLOCK_WARNING, "INFO", "info",
     "nobody sees whether it restarted, is listed twice or, without HELLO, is a replica"},
    {REDLOCK_RIGHT_CLIENT_SETNAME, REDLOCK_FINE, "CLIENT SETNAME", "client|setname",
     "CLIENT LIST does not show our name"},
    {REDLOCK_RIGHT_CLIENT_KILL, REDLOCK_WARNING, "CLIENT KILL", "client|kill",
     "a late command of a broken connection may lock a key for its ttl"},
    {REDLOCK_RIGHT_CONFIG_GET, REDLOCK_FINE, "CONFIG GET", "config|get",
     "it is quarantined after each restart, even with appendfsync always"},
    {REDLOCK_RIGHT_HELLO, REDLOCK_WARNING, "HELLO", "hello",
     "without CLIENT ID, a late command of a broken connection may lock a key for its ttl"},
    {REDLOCK_RIGHT_PUBLISH, REDLOCK_FINE, "PUBLISH", "publish +subscribe &*redlock:wake:*",
     "nobody is woken there, and who waits for a lock polls"},
    {REDLOCK_RIGHT_CLIENT_TRACKING, REDLOCK_FINE, "CLIENT TRACKING",
     "client|tracking +client|caching +client|id +exists &__redis__:invalidate",
     "who waits learns late that a key has ended, or was deleted by another program"},
};

const unsigned rlk_rights_count = sizeof(rlk_rights) / sizeof(rlk_rights[0]);
