/* trouble.h - what is wrong with a node: a kind of trouble_rows.h with its details.
 *
 * A node keeps the last thing that went wrong. Decisions use the kind. The texts are for people:
 * redlock_get_node_info(), the details of a lock, the findings of the doctor. */
#ifndef RLK_NODE_TROUBLE_H
#define RLK_NODE_TROUBLE_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/examine.h>

#include "core/server.h"
#include "core/quarantine.h"
#include "net/fault.h"

enum rlk_trouble_kind {
#define TROUBLE(kind, ...) kind,
#include "node/trouble_rows.h"
#undef TROUBLE
    RLK_TROUBLES
};

/* What is the same for all troubles of a kind. */
struct rlk_trouble_row {
    const char *sentence;
    const char *advice; /* what to do, where it does not depend on what $ stands for, or NULL */

    /* What the doctor finds when this trouble keeps a master from replying; 0: the state of the
     * connection says that. */
    enum redlock_finding_kind found;
    enum redlock_severity severity; /* 0: that of the finding */
    const char *fix;                /* a sentence, where there is no advice; NULL: the finding's */
};

extern const struct rlk_trouble_row rlk_trouble_rows[RLK_TROUBLES];

struct rlk_trouble {
    enum rlk_trouble_kind kind;
    enum rlk_fault_kind fault;
    enum rlk_unfit unfit;
    enum rlk_quarantine_reason reason;
    uint64_t number;
    const char *other; /* the name of another node, or of a file */
    const char *user;  /* that we logged in as; NULL: default */
    const char *words; /* the text of the server, or of a fault; NULL: none */
};

/* The most bytes of words that a node keeps. */
#define RLK_TROUBLE_WORDS 240

/* Room for a sentence; a longer one is cut. */
#define RLK_TROUBLE_TEXT 256

/* Write what is wrong and, after a semicolon, what to do: without its subject, printable and cut to
 * size; "" for RLK_TROUBLE_NONE. */
void rlk_trouble_write(const struct rlk_trouble *t, char *out, size_t size);

/* The two parts alone. The advice is a sentence; "" for no advice. */
void rlk_trouble_write_finding(const struct rlk_trouble *t, char *out, size_t size);
void rlk_trouble_write_advice(const struct rlk_trouble *t, char *out, size_t size);

#endif
