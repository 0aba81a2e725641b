/* test_sim_lists.c - the waiting lists of the simulator do what the scripts do on the model of a
 * server, which unit-lists compares with a real one. */
#include <event2/buffer.h>
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/prng.h"
#include "testing/model.h"
#include "lib/test.h"
#include "scripts/scripts.h"
#include "sim/server.h"
#include "sim/trace.h"
#include "sim/wakes.h"
#include "sim/wire.h"

SUITE("sim-lists");

#define CHANNELS 5
#define TEXT 1024
#define STREAM "s"

/* Claims, whose tokens are the values of keys: the one that is released, somebody else's, and the
 * reservation for which it is handed over. */
enum {
    OURS,
    OTHERS,
    RESERVED,
    CLAIMS
};

#define RESERVED_MS 9000

static struct claim claims[CLAIMS] = {[OURS] = {.token = "x", .reservation = RESERVED},
                                      [OTHERS] = {.token = "y"},
                                      [RESERVED] = {.token = "for:x:z", .reservation = OURS}};
static struct world world;
static struct wire wires[CHANNELS + 1];
static struct model model;
static struct model_session session, listeners[CHANNELS + 1];
static char told[TEXT], published[TEXT];

/* ---- what the lists need of the simulator ---- */

unsigned server_look_up(struct world *w, unsigned server, unsigned key)
{
    return w->servers[server].keys[key].claim;
}

unsigned server_value(const struct world *w, unsigned server, unsigned key)
{
    return w->servers[server].keys[key].claim;
}

void trace_line(const struct world *w, const char *format, ...)
{
    (void)w, (void)format;
}

/* The connection has the number of its channel. */
void wire_push(struct world *w, unsigned wire, enum push_kind kind, unsigned key, uint64_t late_us)
{
    size_t len = strlen(told);

    (void)w;
    ck_assert_uint_eq(late_us, 0);
    if (kind == PUSH_RESERVED) {
        snprintf(told + len, TEXT - len, "%u h%s k%u\n", wire, claims[key >> 4].token, key & 15);
    } else {
        snprintf(told + len, TEXT - len, "%u %ck%u\n", wire, kind == PUSH_TURN ? 't' : 'n', key);
    }
}

/* ---- messages ---- */

/* "*3 $7 message $N channel $N text", each with its line. The text of a hand-over is "hMS
 * RESERVATION", a line end and the key. */
static void pushed(struct model_session *s)
{
    size_t len = strlen(published), n = evbuffer_get_length(s->out);
    char line[TEXT], channel[64], text[64], reserved[64], key[64];
    unsigned ms;

    evbuffer_remove(s->out, line, n);
    line[n] = '\0';
    ck_assert_int_eq(
        sscanf(line, "*3\r\n$7\r\nmessage\r\n$%*u\r\n%63s\r\n$%*u\r\n%63[^\r]\r\n", channel, text),
        2);
    if (text[0] == 'h') {
        ck_assert_int_eq(sscanf(text, "h%u %63s\n%63s", &ms, reserved, key), 3);
        ck_assert_uint_eq(ms, RESERVED_MS);
        snprintf(text, sizeof(text), "h%.30s %.30s", reserved, key);
    }
    snprintf(published + len, TEXT - len, "%s %s\n", channel, text);
}

static void set_clocks(uint64_t us)
{
    clock_init(&world.servers[0].clock, 0, 0, (int64_t)us);
    model.clock_us = us;
}

static void begin(void)
{
    unsigned i;

    rlk_model_init(&model);
    rlk_model_stop_clock(&model); /* no time passes in the simulator's world */
    set_clocks(WORLD_EPOCH_US);
    world.healed = true;
    world.wires = wires;
    world.n_wires = CHANNELS + 1;
    world.o.clients = CHANNELS;
    world.o.listed = SIM_LISTED;
    world.claims = claims;
    world.n_claims = CLAIMS;
    for (i = 0; i < SIM_KEYS; i++) {
        world.servers[0].keys[i].claim = NONE;
    }
    for (i = 1; i <= CHANNELS; i++) {
        snprintf(listeners[i].channels[0], sizeof(listeners[i].channels[0]), "%u", i);
        rlk_model_session_join(&model, &listeners[i], evbuffer_new(), pushed);
        wires[i].channel = i;
        world.clients[i - 1].nodes = 1;
        world.clients[i - 1].peers[0].watch_wire = i;
    }
}

static void end(void)
{
    unsigned i;

    for (i = 1; i <= CHANNELS; i++) {
        evbuffer_free(listeners[i].out);
    }
    rlk_model_free(&model);
}

/* ---- the same on both ---- */

static void change_key(unsigned key, unsigned claim)
{
    char name[] = {'k', (char)('0' + key), '\0'};
    struct value *v = &world.servers[0].keys[key];

    v->claim = claim;
    v->expires_ms = clock_wall(&world.servers[0].clock, 0) / 1000 + 90000;
    rlk_model_del(&model, name);
    if (claim != NONE) {
        rlk_model_set(&model, name, claims[claim].token, 90000);
    }
}

/* EVAL text n keys... arguments..., and the reply as text. */
static void run_model(const struct rlk_script *script, unsigned keys, const char *const *arguments,
                      char *out)
{
    static const char *const names[SIM_KEYS] = {"k0", "k1", "k2"};
    char eval[] = "EVAL", n[4], *argv[24] = {eval, (char *)(uintptr_t)script->text};
    size_t len[24] = {0};
    struct resp_request request = {.argc = 3, .argv = argv, .len = len};
    struct evbuffer *reply = evbuffer_new();
    uint64_t left = keys;
    unsigned key;
    size_t i;

    snprintf(n, sizeof(n), "%u", rlk_mask_count(keys));
    argv[2] = n;
    RLK_MASK_EACH (key, left) {
        argv[request.argc++] = (char *)(uintptr_t)names[key];
    }
    for (; *arguments; arguments++) {
        argv[request.argc++] = (char *)(uintptr_t)*arguments;
    }
    for (i = 0; i < request.argc; i++) {
        len[i] = strlen(argv[i]);
    }
    rlk_model_run(&model, &session, &request, reply);
    i = evbuffer_get_length(reply);
    evbuffer_remove(reply, out, i);
    out[i] = '\0';
    evbuffer_free(reply);
}

static void compare_wait(unsigned keys, unsigned channel, uint64_t waited_us, bool yields)
{
    struct message m = {.kind = MESSAGE_WAIT, .keys = keys, .channel = channel, .yields = yields};
    char name[] = {(char)('0' + channel), '\0'}, reply[TEXT];
    char waited[24];
    long long place, left;

    m.ttl_ms = 10000;
    m.waited_us = waited_us;
    snprintf(waited, sizeof(waited), "%llu", (unsigned long long)waited_us);
    wakes_wait(&world, 0, &m);
    run_model(&rlk_script_wait, keys,
              (const char *const[]){name, waited, yields ? "1" : "0", "10000", NULL}, reply);
    ck_assert_int_eq(sscanf(reply, "*3\r\n:%lld\r\n:%lld\r\n", &place, &left), 2);
    ck_assert_int_eq(m.answer, ANSWER_POSITION);
    ck_assert_int_eq(m.integer, place);
    ck_assert_int_eq(m.left_ms > 0 ? 1 : m.left_ms, left > 0 ? 1 : left);
    ck_assert_int_eq(m.holder == NONE, strstr(reply, "$0\r\n") != NULL);
}

static void compare_leave(unsigned keys, unsigned channel)
{
    struct message m = {.kind = MESSAGE_LEAVE, .keys = keys, .channel = channel};
    char name[] = {(char)('0' + channel), '\0'}, reply[TEXT];
    long long woken;

    wakes_leave(&world, 0, &m);
    run_model(&rlk_script_leave, keys, (const char *const[]){name, NULL}, reply);
    ck_assert_int_eq(sscanf(reply, ":%lld\r\n", &woken), 1);
    ck_assert_int_eq(m.integer, woken);
}

/* How many entries the stream has. */
static unsigned entries(void)
{
    static const struct rlk_script count = {.text = "return redis.call('XLEN', '" STREAM "')"};
    char reply[TEXT];
    unsigned n;

    run_model(&count, 0, (const char *const[]){NULL}, reply);
    ck_assert_int_eq(sscanf(reply, ":%u\r\n", &n), 1);
    return n;
}

/* What becomes of the keys, as server.c has it. Returns the answer, except that it does not know
 * whether somebody was woken; *ret_ours: the keys that had the token. */
static int release_keys(unsigned keys, unsigned then, unsigned *ret_ours)
{
    uint64_t left = keys;
    int answer = 1;
    unsigned key;

    *ret_ours = 0;
    RLK_MASK_EACH (key, left) {
        struct value *v = &world.servers[0].keys[key];

        if (v->claim == OURS) {
            *ret_ours |= 1U << key;
            v->claim = then;
        } else if (v->claim != NONE) {
            answer = -1;
        } else if (answer == 1) {
            answer = 0;
        }
    }
    return answer;
}

static void run_release(const struct message *m, bool audited, char *out)
{
    bool hands_over = m->kind == MESSAGE_HAND_OVER;
    char channel[] = {(char)('0' + m->channel), '\0'}, ms[12];
    const char *words[12] = {claims[OURS].token, m->channel ? channel : ""};
    unsigned n = 2;

    snprintf(ms, sizeof(ms), "%u", RESERVED_MS);
    if (hands_over) {
        words[n++] = claims[RESERVED].token;
        words[n++] = ms;
    }
    if (audited) {
        static const char *const entry[] = {STREAM, "100000", "event", "released", "id", "7f"};

        memcpy(&words[n], entry, sizeof(entry));
    }
    run_model(hands_over ? &rlk_script_hand_over : &rlk_script_release, claims[OURS].keys, words,
              out);
}

/* A release, or a hand-over. The simulator has no stream here; the answer must be the same with
 * one, and there is an entry when a key had the token. */
static void compare_release(unsigned keys, unsigned channel, bool hands_over, bool audited)
{
    struct message m = {.kind = hands_over ? MESSAGE_HAND_OVER : MESSAGE_RELEASE,
                        .claim = OURS,
                        .channel = channel,
                        .wakes = true,
                        .reservation = hands_over ? RESERVED : NONE};
    unsigned before = entries();
    char reply[TEXT];
    int answer, modelled;
    unsigned ours;
    bool woken;

    claims[OURS].keys = keys;
    answer = release_keys(keys, hands_over ? RESERVED : NONE, &ours);
    woken = wakes_release(&world, 0, &m, hands_over ? ours : 0);
    run_release(&m, audited, reply);
    ck_assert_int_eq(sscanf(reply, ":%d\r\n", &modelled), 1);
    ck_assert_int_eq(answer == 1 && woken ? 2 : answer, modelled);
    ck_assert_uint_eq(entries(), before + (audited && ours != 0));
}

static void compare_keys(void)
{
    unsigned key;

    for (key = 0; key < SIM_KEYS; key++) {
        unsigned claim = world.servers[0].keys[key].claim;
        char name[] = {'k', (char)('0' + key), '\0'};

        ck_assert_pstr_eq(rlk_model_get(&model, name), claim == NONE ? NULL : claims[claim].token);
    }
}

static void compare_lists(void)
{
    unsigned key, i;

    for (key = 0; key < SIM_KEYS; key++) {
        const struct list *list = &world.servers[0].lists[key];
        char name[] = {'k', (char)('0' + key), '\0'}, channel[24];

        for (i = 0; i < list->n; i++) {
            snprintf(channel, sizeof(channel), "%u", (unsigned)list->channels[i]);
            ck_assert_ptr_nonnull(rlk_model_waiter(&model, name, i + 1));
            ck_assert_str_eq(rlk_model_waiter(&model, name, i + 1), channel);
        }
        ck_assert_ptr_null(rlk_model_waiter(&model, name, list->n + 1));
    }
    ck_assert_str_eq(told, published);
    told[0] = published[0] = '\0';
}

static unsigned draw(struct rlk_prng *p, unsigned n)
{
    return (unsigned)(rlk_prng_next(p) % n);
}

FIXTURE(begin, end);

/* _i: the seed. */
TEST_LOOP(the_lists_of_the_simulator_are_those_of_the_model, 0, 6)
{
    struct rlk_prng p;
    unsigned i;

    rlk_prng_seed(&p, (uint64_t)_i);
    for (i = 0; i < 2000; i++) {
        unsigned channel = 1 + draw(&p, CHANNELS), step = draw(&p, 14);

        if (draw(&p, 50) == 0) {
            set_clocks(WORLD_EPOCH_US - 4000000 + draw(&p, 8000000));
        } else if (step == 0) {
            wires[channel].server_open = !wires[channel].server_open;
            listeners[channel].n_channels = wires[channel].server_open;
        } else if (step < 4) {
            static const unsigned values[] = {NONE, NONE, OURS, OURS, OTHERS};

            change_key(draw(&p, SIM_KEYS), values[draw(&p, 5)]);
        } else if (step < 8) {
            uint64_t second_us = draw(&p, 20) ? 1 : 1000000;

            compare_wait(1 + draw(&p, 7), channel, draw(&p, 500000) * second_us, draw(&p, 3) == 0);
        } else if (step < 10) {
            compare_leave(1 + draw(&p, 7), channel);
        } else {
            compare_release(1 + draw(&p, 7), draw(&p, 6) ? channel : 0, step < 12, draw(&p, 2));
        }
        compare_keys();
        compare_lists();
    }
}

TEST(a_list_has_room_for_so_many)
{
    struct message m = {.kind = MESSAGE_WAIT, .keys = 1, .ttl_ms = 10000};
    unsigned i;

    change_key(0, OTHERS);
    for (i = 1; i <= SIM_LISTED + 1; i++) {
        m.channel = i;
        wakes_wait(&world, 0, &m);
        ck_assert_int_eq(m.integer, i <= SIM_LISTED ? (int64_t)i : -1);
        ck_assert_uint_eq(m.holder, OTHERS);
    }
    world.now_us += 10002000;
    wakes_wait(&world, 0, &m);
    ck_assert_int_eq(m.integer, 1);
    wakes_forget_lists(&world, 0);
    wakes_wait(&world, 0, &m);
    ck_assert_int_eq(m.integer, 1);
}
