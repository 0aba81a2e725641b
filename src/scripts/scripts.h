/* scripts.h - the Lua scripts that run inside the masters.
 *
 * rlk_script_NAME is the file NAME.lua in this folder, which says at its top what it does, its
 * keys, its arguments and every answer. embed.py turns the files into these constants. */
#ifndef RLK_SCRIPTS_SCRIPTS_H
#define RLK_SCRIPTS_SCRIPTS_H

#include <stddef.h>

/* More than the longest text needs, with its NUL. */
#define RLK_SCRIPT_SIZE 3328

struct rlk_script {
    char text[RLK_SCRIPT_SIZE];
    char sha[41]; /* the SHA-1 of the text, in hex: for EVALSHA */
    size_t len;   /* of the text, without the NUL */
    unsigned bit; /* stands for this script in a set of scripts */
};

/* These work on all keys of a claim. All but the release read everything before they write
 * anything. */
extern const struct rlk_script rlk_script_release;
extern const struct rlk_script rlk_script_hand_over;
extern const struct rlk_script rlk_script_set_all;
extern const struct rlk_script rlk_script_keep;
extern const struct rlk_script rlk_script_vote;
extern const struct rlk_script rlk_script_confirm;
extern const struct rlk_script rlk_script_adopt;

/* This one works on one key of a lock that somebody else holds. */
extern const struct rlk_script rlk_script_swap;

/* This one works on the keys of several claims. */
extern const struct rlk_script rlk_script_keep_all;

/* These work on the wait queues of the keys, which no vote depends on. */
extern const struct rlk_script rlk_script_wait;
extern const struct rlk_script rlk_script_leave;

/* These work on one key. */
extern const struct rlk_script rlk_script_incarnation;
extern const struct rlk_script rlk_script_masters;
extern const struct rlk_script rlk_script_upkeep;

/* This one reads the audit stream. */
extern const struct rlk_script rlk_script_history;

/* No script has this SHA-1. A server that lets us call EVALSHA answers NOSCRIPT. */
#define RLK_SCRIPT_NO_SHA "0000000000000000000000000000000000000000"

#endif
