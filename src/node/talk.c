/* talk.c - writes the lines of a conversation, and passes each reply to its line. */
#include "node/talk.h"

#include "base/rare.h"
#include "base/wipe.h"
#include "core/classify.h"
#include "node/link.h"

/* ---- drafts ---- */

void rlk_draft_init(struct rlk_draft *d, void *context, uint32_t ttl_ms)
{
    d->context = context;
    d->ttl_ms = ttl_ms;
    d->used = d->next = 0;
    d->slot[0].line = NULL;
}

void rlk_draft_end(struct rlk_draft *d)
{
    unsigned i;

    for (i = 0; i < d->used; i++) {
        rlk_command_end(&d->slot[i].command);
    }
    d->used = 0;
}

/* A free slot, or the one that was filled first. */
static unsigned slot_for(struct rlk_draft *d)
{
    unsigned i = d->next++ % RLK_DRAFT_SLOTS;

    if (i < d->used) {
        rlk_command_end(&d->slot[i].command);
    } else {
        d->used++;
    }
    rlk_command_init(&d->slot[i].command);
    return i;
}

static struct rlk_command *write_line(struct rlk_draft *d, struct rlk_node *n,
                                      const struct rlk_line *line, unsigned form)
{
    const struct rlk_say say = {line, n, d->context, d->ttl_ms, form};
    unsigned i = slot_for(d);
    struct rlk_command *c = &d->slot[i].command;
    bool written = line->format ? line->format(c, &say) : rlk_command_words(c, line->words) == 0;

    d->slot[i].line = written ? line : NULL;
    d->slot[i].form = form;
    return written ? c : NULL;
}

/* NULL: out of memory. */
static struct rlk_command *command_of(struct rlk_draft *d, struct rlk_node *n,
                                      const struct rlk_line *line, unsigned form)
{
    unsigned i;

    for (i = 0; i < d->used; i++) {
        if (d->slot[i].line == line && d->slot[i].form == form) {
            return &d->slot[i].command;
        }
    }
    return write_line(d, n, line, form);
}

/* ---- sending ---- */

RLK_RARE static bool note_unsent(struct rlk_link *l, const struct rlk_talk *talk, size_t len)
{
    if (!talk->in_handshake) {
        l->owner->unsent(l, l->inflight.ring.count >= RLK_INFLIGHT_MAX ||
                                l->conn.out_len + len > RLK_CONN_OUT_MAX);
    }
    return false;
}

static bool send_line(struct rlk_draft *d, struct rlk_link *l, const struct rlk_talk *talk,
                      unsigned at, unsigned form, uint64_t now_us)
{
    const struct rlk_line *line = &talk->lines[at];
    struct rlk_command *c = command_of(d, l->node, line, form);

    if (c && line->complete) {
        line->complete(c, l->node);
    }
    if (c == NULL || !rlk_inflight_reserve(&l->inflight) || !rlk_conn_reserve(&l->conn, c->len)) {
        return note_unsent(l, talk, c ? c->len : 0);
    }
    rlk_talk_push(d, l, talk, at, form, c, now_us);
    return true;
}

static bool is_due(const struct rlk_line *line, const struct rlk_draft *d, struct rlk_node *n)
{
    return line->when == NULL ||
           line->when(&(struct rlk_say){.line = line, .node = n, .context = d->context});
}

static bool send_lines(struct rlk_draft *d, struct rlk_link *l, const struct rlk_talk *talk,
                       uint64_t now_us)
{
    unsigned i;

    for (i = 0; i < talk->n_lines; i++) {
        const struct rlk_line *line = &talk->lines[i];

        if (is_due(line, d, l->node) && !send_line(d, l, talk, i, rlk_talk_form(l, line), now_us)) {
            return false;
        }
    }
    rlk_inflight_mark_last(&l->inflight); /* if the last line was not due */
    return true;
}

/* Drop the replies to what could only be sent in part. */
RLK_RARE static bool send_several(struct rlk_draft *d, struct rlk_link *l,
                                  const struct rlk_talk *talk, uint64_t now_us)
{
    size_t count = l->inflight.ring.count;
    bool sent = send_lines(d, l, talk, now_us);

    if (!sent) {
        rlk_inflight_mute(&l->inflight, count);
    }
    return sent;
}

bool rlk_talk_write(struct rlk_draft *d, struct rlk_link *l, const struct rlk_talk *talk,
                    uint64_t now_us)
{
    if (!rlk_talk_may_begin(l, talk) ||
        !(talk->n_lines == 1 ? send_line(d, l, talk, 0, rlk_talk_form(l, talk->lines), now_us)
                             : send_several(d, l, talk, now_us))) {
        return false;
    }
    rlk_talk_ref(talk, d->context);
    return true;
}

/* No copy of a login stays below us, nor in the registers, which the dynamic linker may save. Here,
 * as the wipe does not reach below the draft from further up. */
bool rlk_talk_begin(struct rlk_link *l, const struct rlk_talk *talk, void *context, uint64_t now_us)
{
    struct rlk_draft d;
    bool begun;

    rlk_draft_init(&d, context, 0);
    begun = rlk_talk_share(&d, l, talk, now_us);
    rlk_draft_end(&d);
    if (talk->has_login) {
        rlk_wipe_stack();
    }
    return begun;
}

bool rlk_talk_text(struct rlk_link *l, const struct rlk_exchange *x, uint32_t ttl_ms,
                   uint64_t now_us)
{
    struct rlk_draft d;
    bool sent;

    rlk_draft_init(&d, x->context, ttl_ms);
    sent = rlk_talk_may_begin(l, x->talk) && send_line(&d, l, x->talk, x->line, 1, now_us);
    rlk_draft_end(&d);
    if (sent) {
        rlk_talk_ref(x->talk, x->context);
    }
    return sent;
}

/* ---- replies ---- */

static inline void unref_context(const struct rlk_exchange *x)
{
    if (x->talk->free && --*(unsigned *)x->context == 0) {
        x->talk->free(x->context);
    }
}

/* Returns whether the script was sent again. A NOSCRIPT in reply to the text itself, which no Redis
 * sends, is an error like any other. */
RLK_COLD static bool send_again(struct rlk_link *l, const struct rlk_script *script,
                                const struct rlk_heard *h)
{
    const struct rlk_exchange *x = h->exchange;

    if (!rlk_classify_no_script(h->reply)) {
        return false;
    }
    l->scripts &= ~script->bit;
    return x->form == 0 && x->talk->again && x->talk->again(h);
}

/* Whether the reply to a script is the answer to the line. */
static inline bool is_answer(struct rlk_link *l, const struct rlk_script *script,
                             const struct rlk_heard *h)
{
    if (h->reply->type == RLK_REPLY_ERROR) {
        return !send_again(l, script, h);
    }
    l->scripts |= script->bit;
    return true;
}

static inline void take(const struct rlk_talk *talk, const struct rlk_line *line,
                        const struct rlk_heard *h)
{
    if (talk->refused && h->reply->type == RLK_REPLY_ERROR) {
        talk->refused(h);
    } else if (line->take) {
        line->take(h);
    }
}

/* Its conversation did not begin, or was abandoned. */
static bool is_muted(const struct rlk_exchange *x)
{
    return x->talk == NULL;
}

void rlk_talk_reply(struct rlk_link *l, const struct rlk_exchange *x, const struct rlk_reply *reply,
                    uint64_t now_us)
{
    const struct rlk_heard h = {l->node, x, x->context, reply, now_us};
    const struct rlk_talk *talk = x->talk;
    const struct rlk_line *line;
    bool answered;

    if (is_muted(x)) {
        return;
    }
    line = &talk->lines[x->line];
    answered = line->script == NULL || is_answer(l, line->script, &h);
    if (answered) {
        take(talk, line, &h);
    }
    if (!x->last) {
        return;
    }
    if (talk->done && answered) {
        talk->done(&h);
    }
    unref_context(x);
}

void rlk_talk_abandon(struct rlk_link *l, void *context)
{
    struct rlk_exchange x;
    size_t at = 0;

    while (rlk_inflight_mute_context(&l->inflight, context, &at, &x)) {
        if (x.last) {
            unref_context(&x);
        }
    }
}

void rlk_talk_break(struct rlk_link *l, uint64_t now_us)
{
    struct rlk_exchange x;

    while (rlk_inflight_pop(&l->inflight, &x)) {
        if (!is_muted(&x) && x.last) {
            if (x.talk->broken) {
                x.talk->broken(&(struct rlk_heard){l->node, &x, x.context, NULL, now_us});
            }
            unref_context(&x);
        }
    }
    rlk_inflight_end(&l->inflight);
}
