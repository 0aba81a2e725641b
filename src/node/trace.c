/* trace.c - completes a trace event, hides secrets in it, and passes it to callback and probes. */
#include "node/trace.h"

#include <string.h>

#include "net/clock.h"
#include "net/reply_text.h"
#include "node/claim.h"
#include "node/probes.h"

/* How many characters of a token are shown. */
#define SHOWN 8

/* How many bytes of the keys. */
#define KEYS_SHOWN 128

/* ---- texts without secrets ---- */

struct texts {
    char key[KEYS_SHOWN];
    char token[SHOWN + 1];
};

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static size_t hex_len(const char *text)
{
    size_t len = 0;

    while (is_hex(text[len])) {
        len++;
    }
    return len;
}

/* A token of another library may be any text, even a password: show none of it. */
static void show_token(const struct rlk_claim *claim, char out[SHOWN + 1])
{
    if (hex_len(rlk_claim_token(claim)) >= RLK_TOKEN_HEX) {
        memcpy(out, rlk_claim_token(claim), SHOWN);
        out[SHOWN] = '\0';
    } else {
        strcpy(out, claim->token_len > 0 ? "?" : "");
    }
}

static void show_keys(const struct rlk_claim *claim, char out[KEYS_SHOWN])
{
    const char *key = rlk_claim_keys(claim);
    size_t used = 0;
    unsigned i;

    for (i = 0; i < claim->n_keys && used + 8 < KEYS_SHOWN; i++) {
        struct rlk_reply bytes = {RLK_REPLY_STRING, claim->key_len[i], key, claim->key_len[i]};

        if (i > 0) {
            out[used++] = '+';
        }
        rlk_reply_show(&bytes, out + used, KEYS_SHOWN - used);
        used += strlen(out + used);
        key += claim->key_len[i] + 1;
    }
}

/* A server that does not know a command quotes all its arguments. */
static void cut_arguments(char *text)
{
    char *arguments = strstr(text, ", with args beginning with:");

    if (arguments) {
        *arguments = '\0';
    }
}

/* A token may be incomplete: the server cuts what it quotes, and we cut what it says. An owner may
 * have any character, so its end is not known: cut the rest of the text. */
void rlk_trace_mask(char *text)
{
    cut_arguments(text);
    while (*text) {
        size_t digits = hex_len(text);
        const char *behind = text + digits;

        if (digits > SHOWN) {
            behind += *behind == ':' && digits >= RLK_TOKEN_HEX ? strlen(behind) : 0;
            text += SHOWN;
            memmove(text, behind, strlen(behind) + 1);
        } else {
            text += digits + (text[digits] != '\0');
        }
    }
}

/* ---- emitting ---- */

static void fill_in(struct redlock_trace *ev, const struct rlk_claim *claim, struct texts *texts)
{
    texts->key[0] = texts->token[0] = '\0';
    if (claim) {
        show_keys(claim, texts->key);
        show_token(claim, texts->token);
    }
    ev->size = sizeof(*ev);
    ev->time_us = rlk_clock_us();
    ev->key = texts->key;
    ev->token = texts->token;
    ev->text = ev->text ? ev->text : "";
}

void rlk_trace_emit(const struct rlk_options *o, const struct rlk_claim *claim,
                    struct redlock_trace *ev)
{
    struct rlk_tracer *t = o->tracer;
    struct texts texts;

    fill_in(ev, claim, &texts);
    if (o->vacant) {
        ev->node = ev->node < 0 ? ev->node : (int)rlk_options_number(o, (unsigned)ev->node);
        ev->nodes = rlk_options_numbers(o, ev->nodes);
    }
    rlk_probes_fire(ev);
    if (t) {
        t->in_callback = true;
        t->cb(ev, t->arg);
        t->in_callback = false;
    }
}
