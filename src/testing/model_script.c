/* testing/model_script.c - runs scripts in Lua 5.1, as a server does. redis.call() runs commands of
 * the model. */
#include <ctype.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>

#include "testing/memory.h"
#include "testing/model_inside.h"
#include "testing/sha1.h"

#define MOST_WORDS 256 /* as many as a request has: MGET of a batch of renewals */

/* One call of a script. */
struct run {
    const struct model_call *c;
    struct evbuffer *reply;  /* to the last command that the script called */
    bool replicates_effects; /* the script has called redis.replicate_commands() */
    bool is_random;          /* the script has called TIME or PTTL */
};

static struct run *run_of(lua_State *lua)
{
    struct run *run;

    lua_getfield(lua, LUA_REGISTRYINDEX, "run");
    run = lua_touserdata(lua, -1);
    lua_pop(lua, 1);
    return run;
}

/* ---- redis.call() and the other functions for scripts ---- */

static const char *push_reply(lua_State *lua, const char *reply);

static const char *push_array(lua_State *lua, const char *elements, long long n)
{
    int i;

    lua_newtable(lua);
    for (i = 1; i <= n; i++) {
        elements = push_reply(lua, elements);
        lua_rawseti(lua, -2, i);
    }
    return elements;
}

/* Convert the reply at the start of `reply` as servers do, and push it. Returns where the next one
 * starts. */
static const char *push_reply(lua_State *lua, const char *reply)
{
    const char *text = reply + 1, *end = strstr(reply, "\r\n"), *next = end + 2;
    long long n = strtoll(text, NULL, 10);

    switch (*reply) {
    case ':':
        lua_pushnumber(lua, (lua_Number)n);
        return next;
    case '*':
        return push_array(lua, next, n);
    case '$':
        if (n < 0) {
            lua_pushboolean(lua, false);
            return next;
        }
        lua_pushlstring(lua, next, (size_t)n);
        return next + n + 2;
    default:
        lua_newtable(lua);
        lua_pushlstring(lua, text, (size_t)(end - text));
        lua_setfield(lua, -2, *reply == '+' ? "ok" : "err");
        return next;
    }
}

/* Borrows the words from the stack of Lua. */
static void take_words(lua_State *lua, struct resp_request *ret)
{
    int i, n = lua_gettop(lua);

    if (n < 1 || n > MOST_WORDS) {
        luaL_error(lua, "the model calls no command of %d words", n);
    }
    for (i = 1; i <= n; i++) {
        char number[32];

        if (lua_type(lua, i) == LUA_TNUMBER) {
            snprintf(number, sizeof(number), "%.17g", lua_tonumber(lua, i));
            lua_pushstring(lua, number);
            lua_replace(lua, i);
        }
        ret->argv[i - 1] = (char *)(uintptr_t)luaL_checklstring(lua, i, &ret->len[i - 1]);
    }
    ret->argc = (size_t)n;
}

static bool is_one_of(const struct resp_request *r, const char *const *commands)
{
    while (*commands && !rlk_resp_is(r, 0, *commands)) {
        commands++;
    }
    return *commands != NULL;
}

static bool may_not_write(struct run *run, const struct resp_request *r)
{
    static const char *const random[] = {"TIME", "PTTL", NULL};
    static const char *const writes[] = {"SET", "DEL", "PEXPIRE", "ZADD", "ZREM", "XADD", NULL};

    run->is_random = run->is_random || is_one_of(r, random);
    return run->c->m->whole_scripts && !run->replicates_effects && run->is_random &&
           is_one_of(r, writes);
}

/* Leaves the reply on the stack; returns whether it is an error. */
static bool call(lua_State *lua)
{
    struct run *run = run_of(lua);
    char *words[MOST_WORDS];
    size_t len[MOST_WORDS];
    struct resp_request request = {0, words, len};
    const char *reply;

    take_words(lua, &request);
    evbuffer_drain(run->reply, evbuffer_get_length(run->reply));
    if (may_not_write(run, &request)) {
        rlk_resp_put_error(run->reply,
                           "ERR Write commands not allowed after non deterministic commands.");
    } else {
        rlk_model_run(run->c->m, run->c->s, &request, run->reply);
    }
    rlk_testing_memory_note(evbuffer_add(run->reply, "", 1) == 0);
    reply = (const char *)evbuffer_pullup(run->reply, -1);
    if (rlk_testing_memory_failed()) {
        rlk_testing_memory_note(false);
        luaL_error(lua, "out of memory");
    }
    push_reply(lua, reply);
    return *reply == '-';
}

static int redis_call(lua_State *lua)
{
    return call(lua) ? lua_error(lua) : 1;
}

static int redis_pcall(lua_State *lua)
{
    call(lua);
    return 1;
}

static int redis_error_reply(lua_State *lua)
{
    lua_newtable(lua);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, "err");
    return 1;
}

static int redis_replicate_commands(lua_State *lua)
{
    run_of(lua)->replicates_effects = true;
    lua_pushboolean(lua, true);
    return 1;
}

/* ---- what a script returns ---- */

static void put_value(struct evbuffer *out, lua_State *lua);

static void put_array(struct evbuffer *out, lua_State *lua)
{
    struct evbuffer *elements = evbuffer_new();
    size_t n = 0;

    if (!rlk_testing_memory_note(elements != NULL)) {
        return;
    }
    for (lua_rawgeti(lua, -1, 1); !lua_isnil(lua, -1); lua_rawgeti(lua, -1, (int)n + 1)) {
        put_value(elements, lua);
        n++;
    }
    lua_pop(lua, 1);
    rlk_resp_put_array(out, n);
    rlk_testing_memory_note(evbuffer_add_buffer(out, elements) == 0);
    evbuffer_free(elements);
}

static void put_table(struct evbuffer *out, lua_State *lua)
{
    lua_getfield(lua, -1, "err");
    lua_getfield(lua, -2, "ok");
    if (lua_isstring(lua, -2)) {
        rlk_resp_put_error(out, lua_tostring(lua, -2));
    } else if (lua_isstring(lua, -1)) {
        rlk_resp_put_status(out, lua_tostring(lua, -1));
    } else {
        lua_pop(lua, 2);
        put_array(out, lua);
        return;
    }
    lua_pop(lua, 2);
}

/* Pop a value, and append it as servers convert it to a reply. */
static void put_value(struct evbuffer *out, lua_State *lua)
{
    size_t len;
    const char *bytes;

    switch (lua_type(lua, -1)) {
    case LUA_TNUMBER:
        rlk_resp_put_int(out, (long long)lua_tonumber(lua, -1));
        break;
    case LUA_TSTRING:
        bytes = lua_tolstring(lua, -1, &len);
        rlk_resp_put_bulk(out, bytes, len);
        break;
    case LUA_TTABLE:
        put_table(out, lua);
        break;
    default:
        if (lua_toboolean(lua, -1)) {
            rlk_resp_put_int(out, 1);
        } else {
            rlk_resp_put_nil(out);
        }
    }
    lua_pop(lua, 1);
}

/* ---- loaded scripts ---- */

/* Creates the strings "err" and "ok" now. Then put_table() needs no memory for them, and no error
 * of Lua can end it half way. */
static int open_libraries(lua_State *lua)
{
    static const lua_CFunction libraries[] = {luaopen_base, luaopen_table, luaopen_string,
                                              luaopen_math};
    static const char *const names[] = {"", "table", "string", "math"}, *const known[] = {"err",
                                                                                          "ok"};
    static const luaL_Reg redis[] = {{"call", redis_call},
                                     {"pcall", redis_pcall},
                                     {"error_reply", redis_error_reply},
                                     {"replicate_commands", redis_replicate_commands},
                                     {NULL, NULL}};
    size_t i;

    for (i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        lua_pushcfunction(lua, libraries[i]);
        lua_pushstring(lua, names[i]);
        lua_call(lua, 1, 0);
    }
    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        lua_pushboolean(lua, true);
        lua_setfield(lua, LUA_REGISTRYINDEX, known[i]);
    }
    luaL_register(lua, "redis", redis);
    return 0;
}

/* NULL: out of memory. */
static lua_State *lua_of(struct model *m)
{
    if (!m->lua) {
        m->lua = luaL_newstate();
        if (m->lua && lua_cpcall(m->lua, open_libraries, NULL) != 0) {
            rlk_model_forget_scripts(m);
        }
        rlk_testing_memory_note(m->lua != NULL);
    }
    return m->lua;
}

void rlk_model_forget_scripts(struct model *m)
{
    if (m->lua) {
        lua_close(m->lua);
        m->lua = NULL;
    }
}

/* Push the script with this SHA-1, in upper or lower case; or nil, and return false. */
static bool push_script(lua_State *lua, const char *sha)
{
    char lower[41] = "";
    size_t i;

    for (i = 0; i < 40 && sha[i]; i++) {
        lower[i] = (char)tolower((unsigned char)sha[i]);
    }
    lua_getfield(lua, LUA_REGISTRYINDEX, lower);
    return lua_isfunction(lua, -1);
}

/* Compile the script in this word of the command, and push it. False: it is not Lua, and an error
 * message is pushed instead. */
static bool add_script(lua_State *lua, const struct model_call *c, size_t word, char sha[41])
{
    const char *text = c->request->argv[word];
    size_t len = c->request->len[word];

    rlk_sha1_hex(text, len, sha);
    if (!push_script(lua, sha)) {
        if (luaL_loadbuffer(lua, text, len, "@user_script") != 0) {
            return false;
        }
        lua_pushvalue(lua, -1);
        lua_setfield(lua, LUA_REGISTRYINDEX, sha);
    }
    return true;
}

/* ---- running scripts ---- */

static void set_words(lua_State *lua, const char *name, const struct model_call *c, size_t first,
                      size_t n)
{
    size_t i;

    lua_createtable(lua, (int)n, 0);
    for (i = 0; i < n; i++) {
        lua_pushlstring(lua, c->request->argv[first + i], c->request->len[first + i]);
        lua_rawseti(lua, -2, (int)i + 1);
    }
    lua_setglobal(lua, name);
}

/* Servers tell scripts their version since 7.0. */
static void set_version(lua_State *lua, int major)
{
    lua_getglobal(lua, "redis");
    if (major >= 7) {
        lua_pushinteger(lua, major << 16);
    } else {
        lua_pushnil(lua);
    }
    lua_setfield(lua, -2, "REDIS_VERSION_NUM");
    lua_pop(lua, 1);
}

static void say_broken(const struct model_call *c, lua_State *lua)
{
    char text[512];

    snprintf(text, sizeof(text), "ERR Error running script: %s", lua_tostring(lua, -1));
    rlk_resp_put_error(c->out, text);
}

/* Run the script on top of the stack. A failed redis.call() raises a table with its reply; an error
 * of Lua itself is a string. */
static void run_script(struct run *run, lua_State *lua)
{
    const struct model_call *c = run->c;
    size_t n = strtoul(rlk_model_word(c, 2), NULL, 10), argc = c->request->argc;
    int status;

    if (argc < 3 || n > argc - 3) {
        rlk_resp_put_error(c->out, "ERR Number of keys can't be greater than number of args");
        return;
    }
    set_words(lua, "KEYS", c, 3, n);
    set_words(lua, "ARGV", c, 3 + n, argc - 3 - n);
    set_version(lua, c->m->major);
    lua_pushlightuserdata(lua, run);
    lua_setfield(lua, LUA_REGISTRYINDEX, "run");
    status = lua_pcall(lua, 0, 1, 0);
    rlk_testing_memory_note(status != LUA_ERRMEM);
    if (status != 0 && lua_isstring(lua, -1)) {
        say_broken(c, lua);
    } else {
        put_value(c->out, lua);
    }
}

/* ---- the commands ---- */

static int load(lua_State *lua)
{
    const struct run *run = lua_touserdata(lua, 1);
    const struct model_call *c = run->c;
    char sha[41];

    if (!rlk_resp_is(c->request, 1, "LOAD") || c->request->argc != 3) {
        rlk_resp_put_error(c->out, "ERR unknown subcommand. Try SCRIPT HELP.");
    } else if (add_script(lua, c, 2, sha)) {
        rlk_resp_put_text(c->out, sha);
    } else {
        say_broken(c, lua);
    }
    return 0;
}

static int eval(lua_State *lua)
{
    struct run *run = lua_touserdata(lua, 1);
    const struct model_call *c = run->c;
    char sha[41];

    if (c->request->argc < 3) {
        rlk_resp_put_error(c->out, "ERR wrong number of arguments for 'eval' command");
    } else if (add_script(lua, c, 1, sha)) {
        run_script(run, lua);
    } else {
        say_broken(c, lua);
    }
    return 0;
}

static int evalsha(lua_State *lua)
{
    struct run *run = lua_touserdata(lua, 1);

    if (push_script(lua, rlk_model_word(run->c, 1))) {
        run_script(run, lua);
    } else {
        rlk_resp_put_error(run->c->out, "NOSCRIPT No matching script. Please use EVAL.");
    }
    return 0;
}

/* Out of memory, Lua would abort the process without this. */
static void run_protected(const struct model_call *c, lua_CFunction function)
{
    struct run run = {.c = c, .reply = evbuffer_new()};
    lua_State *lua = lua_of(c->m);

    if (rlk_testing_memory_note(run.reply != NULL) && lua) {
        rlk_testing_memory_note(lua_cpcall(lua, function, &run) == 0);
        lua_settop(lua, 0);
    }
    if (run.reply) {
        evbuffer_free(run.reply);
    }
}

void rlk_model_script_load(const struct model_call *c)
{
    run_protected(c, load);
}

void rlk_model_script_eval(const struct model_call *c)
{
    run_protected(c, eval);
}

void rlk_model_script_evalsha(const struct model_call *c)
{
    run_protected(c, evalsha);
}
