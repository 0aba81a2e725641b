/* scripts.h - the scripts that run inside the masters.
 *
 * Each is a file of this folder: NAME.lua says at its top what rlk_script_NAME does, its keys, its
 * arguments and every answer. embed.py makes these constants of the files. */
#ifndef RLK_SCRIPTS_SCRIPTS_H
#define RLK_SCRIPTS_SCRIPTS_H

#include <stddef.h>

/* No text is longer, its NUL included. */
#define RLK_SCRIPT_SIZE 1536

struct rlk_script {
    char text[RLK_SCRIPT_SIZE];
    char sha[41]; /* SHA-1 of the text, in hex: how a server that has run it calls it */
    size_t len;
    unsigned bit; /* of this script in a set of scripts */
};

/* On all keys of a claim. Everything is read before anything is written. */
extern const struct rlk_script rlk_script_release;
extern const struct rlk_script rlk_script_take;
extern const struct rlk_script rlk_script_keep;
extern const struct rlk_script rlk_script_vote;
extern const struct rlk_script rlk_script_confirm;

/* On one key. */
extern const struct rlk_script rlk_script_incarnation;
extern const struct rlk_script rlk_script_may_write;

#endif
