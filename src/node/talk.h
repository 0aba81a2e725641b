/* talk.h - conversations with a master: commands that are sent in order, and what their replies
 * mean.
 *
 * A conversation is a table of lines. Every question that we ask a master is such a table: the
 * handshake, an inspection, a look at a key, a vote, a batch of renewals, a release.
 *
 *     rlk_talk_begin()      each line that this node is to get is written and appended
 *     a reply               belongs to the oldest line in flight, and goes to its `take`
 *     the last reply        -> done
 *     the connection ended  -> broken
 *
 * Of `done` and `broken` one is called, once, and never before rlk_talk_begin() has returned. If
 * it returns false, nothing of the conversation comes back.
 *
 * A line may run a script of src/scripts. It is sent as text (EVAL) until it has run once over this
 * connection, and by its SHA-1 (EVALSHA) from then on. A server that no longer knows it (SCRIPT
 * FLUSH, or its cache is full) replies NOSCRIPT and has done nothing: then `again` sends the text.
 * That is the same question, and its reply counts. A line that runs a script is a conversation by
 * itself. */
#ifndef RLK_NODE_TALK_H
#define RLK_NODE_TALK_H

#include <stdbool.h>
#include <stdint.h>

#include "node/command.h"
#include "node/inflight.h"
#include "node/link.h"

struct rlk_node;
struct rlk_reply;

struct rlk_line;

/* What a line is written from. */
struct rlk_say {
    const struct rlk_line *line;
    struct rlk_node *node;
    void *context;   /* of the conversation */
    uint32_t ttl_ms; /* how long keys shall live; 0: the line needs no ttl */
    unsigned form;   /* which form of the command: of a script 0 is the SHA-1, and 1 the text */
};

/* What comes back to it. */
struct rlk_heard {
    struct rlk_node *node;
    const struct rlk_exchange *exchange; /* the line in flight */
    void *context;                       /* of the conversation */
    const struct rlk_reply *reply;       /* valid during the call; `done` gets the last one, and
                                            `broken` NULL */
    uint64_t now_us;
};

struct rlk_line {
    /* The command: words, ended by NULL, or a function that writes it, perhaps from these words.
     * False: out of memory. */
    const char *const *words;
    bool (*format)(struct rlk_command *c, const struct rlk_say *say);
    /* What differs from node to node, at the end of the command. NULL: nothing. */
    void (*complete)(struct rlk_command *c, const struct rlk_node *n);
    /* Whether the line is sent; NULL: always. At least one line of a table must be. */
    bool (*when)(const struct rlk_say *say);
    /* The form that this node needs; NULL: form 0, or that of the script. */
    unsigned (*form)(const struct rlk_node *n);
    const struct rlk_script *script; /* NULL: it runs none */
    unsigned tag;                    /* a number for the functions of the table */
    /* The reply. NULL: it does not matter. */
    void (*take)(const struct rlk_heard *h);
};

struct rlk_talk {
    const struct rlk_line *lines;
    unsigned n_lines;
    bool in_handshake; /* part of the handshake: also sent before the node is UP */
    bool has_login;    /* one of its lines may have a password */
    bool leaves_keys;  /* of a lock: a release may have to be sent after it */
    /* The context begins with an `unsigned`, the references to it: the conversation has one until
     * its end. Called when the last was dropped. NULL: the context is not counted. */
    void (*free)(void *context);
    /* An error as the reply to a line. NULL: `take` gets it as well. */
    void (*refused)(const struct rlk_heard *h);
    /* All lines have their replies. NULL: there is nothing to do. */
    void (*done)(const struct rlk_heard *h);
    /* The connection ended before: the lines may or may not have been carried out. */
    void (*broken)(const struct rlk_heard *h);
    /* The server does not know the script of a line: send it again, by rlk_talk_text() or as
     * another conversation. False: it was not sent, so the error is the reply. NULL: likewise. */
    bool (*again)(const struct rlk_heard *h);
};

/* Lines in a table: RLK_LINES({...}, {...}) fills in `lines` and `n_lines`. */
#define RLK_LINES(...)                                                                             \
    .lines = (const struct rlk_line[]){__VA_ARGS__},                                               \
    .n_lines = sizeof((const struct rlk_line[]){__VA_ARGS__}) / sizeof(struct rlk_line)

#define RLK_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Commands for many nodes, each written when a node first needs it in that form. */
#define RLK_DRAFT_SLOTS 4

struct rlk_draft {
    void *context;
    uint32_t ttl_ms;
    unsigned used, next;
    struct {
        const struct rlk_line *line;
        unsigned form;
        struct rlk_command command;
    } slot[RLK_DRAFT_SLOTS];
};

void rlk_draft_init(struct rlk_draft *d, void *context, uint32_t ttl_ms);
void rlk_draft_end(struct rlk_draft *d);

/* Begin a conversation over a link. False: the node is not UP, a limit is reached [S13], or out of
 * memory; the owner of the link is told so, unless it is a conversation of the handshake. */
bool rlk_talk_begin(struct rlk_link *l, const struct rlk_talk *talk, void *context,
                    uint64_t now_us);

/* ---- the same from a draft that several nodes share ---- */

static inline bool rlk_talk_may_begin(const struct rlk_link *l, const struct rlk_talk *talk)
{
    return l->state == RLK_LINK_UP || (l->state == RLK_LINK_HANDSHAKE && talk->in_handshake);
}

static inline unsigned rlk_talk_form(const struct rlk_link *l, const struct rlk_line *line)
{
    if (line->script) {
        return (l->scripts & line->script->bit) == 0;
    }
    return line->form ? line->form(l->node) : 0;
}

/* For the two below: a command for which there is room is in flight. */
static inline void rlk_talk_push(const struct rlk_draft *d, struct rlk_link *l,
                                 const struct rlk_talk *talk, unsigned at, unsigned form,
                                 const struct rlk_command *c, uint64_t now_us)
{
    rlk_inflight_push(&l->inflight, &(struct rlk_exchange){.talk = talk,
                                                           .context = d->context,
                                                           .sent_us = now_us,
                                                           .len = (uint32_t)c->len,
                                                           .line = (uint8_t)at,
                                                           .form = (uint8_t)form,
                                                           .last = at + 1 == talk->n_lines,
                                                           .leaves_keys = talk->leaves_keys});
    rlk_conn_append(&l->conn, c->bytes, c->len);
}

/* A conversation has begun. */
static inline void rlk_talk_ref(const struct rlk_talk *talk, void *context)
{
    if (talk->free) {
        ++*(unsigned *)context;
    }
}

/* Write what is not written yet, and send it. */
bool rlk_talk_write(struct rlk_draft *d, struct rlk_link *l, const struct rlk_talk *talk,
                    uint64_t now_us);

/* The same, but quick for the second and each further node if nothing in the line differs there. */
static inline bool rlk_talk_share(struct rlk_draft *d, struct rlk_link *l,
                                  const struct rlk_talk *talk, uint64_t now_us)
{
    const struct rlk_line *line = talk->lines;
    const struct rlk_command *c = &d->slot[0].command;

    if (d->slot[0].line != line || talk->n_lines > 1 || line->complete ||
        d->slot[0].form != rlk_talk_form(l, line) || l->state != RLK_LINK_UP ||
        !rlk_inflight_reserve(&l->inflight) || !rlk_conn_reserve(&l->conn, c->len)) {
        return rlk_talk_write(d, l, talk, now_us);
    }
    rlk_talk_push(d, l, talk, 0, d->slot[0].form, c, now_us);
    rlk_talk_ref(talk, d->context);
    return true;
}

/* Nobody waits for the conversations with this context any more: none of their functions is called,
 * except that the reference to the context is dropped. The commands stay in flight. */
void rlk_talk_abandon(struct rlk_link *l, void *context);

/* For `again`: send the text of a script, as the same question. False: as rlk_talk_begin(). */
bool rlk_talk_text(struct rlk_link *l, const struct rlk_exchange *x, uint32_t ttl_ms,
                   uint64_t now_us);

/* For the owner of a link. _reply: to a line that was in flight. _break: no reply will come to any
 * line that is in flight. */
void rlk_talk_reply(struct rlk_link *l, const struct rlk_exchange *x, const struct rlk_reply *reply,
                    uint64_t now_us);
void rlk_talk_break(struct rlk_link *l, uint64_t now_us);

#endif
