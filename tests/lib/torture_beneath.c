/* lib/torture_beneath.c - counts what the library allocates, and makes it fail.
 *
 * The library's own allocations fail one by one. So do those of libevent while the library is
 * inside one of its functions, through libevent's own hook; those that libevent makes when it runs
 * the loop do not fail. hiredis has no such hook before 1.0, so its functions fail as a whole, as
 * they do when they are out of memory. Only calls of the library come here, never those of the
 * tests. */
#include <errno.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <execinfo.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/torture.h"

/* The return types of two versions of hiredis. */
typedef __typeof__(redisFormatCommandArgv(NULL, 0, NULL, NULL)) format_result;

/* The linker's names. */
__typeof__(posix_memalign) __wrap_posix_memalign;
__typeof__(realloc) __wrap_realloc;
__typeof__(event_new) __wrap_event_new;
__typeof__(event_free) __wrap_event_free;
__typeof__(event_add) __wrap_event_add;
__typeof__(evdns_base_new) __wrap_evdns_base_new;
__typeof__(evdns_base_free) __wrap_evdns_base_free;
__typeof__(evdns_base_resolv_conf_parse) __wrap_evdns_base_resolv_conf_parse;
__typeof__(evdns_base_set_option) __wrap_evdns_base_set_option;
__typeof__(evdns_getaddrinfo) __wrap_evdns_getaddrinfo;
__typeof__(redisReaderCreateWithFunctions) __wrap_redisReaderCreateWithFunctions;
__typeof__(redisReaderFree) __wrap_redisReaderFree;
__typeof__(redisReaderFeed) __wrap_redisReaderFeed;
__typeof__(redisFormatCommandArgv) __wrap_redisFormatCommandArgv;
__typeof__(redisFreeCommand) __wrap_redisFreeCommand;

static long memory, events, dns_bases, readers, commands;

/* How deep the library is in functions of libevent. */
static _Thread_local int in_libevent;

static bool may_allocate(void)
{
    struct torture_run *r = torture_run;
    unsigned n;

    if (!torture_is_here()) {
        return true;
    }
    torture_is_thread();
    n = __atomic_add_fetch(&r->allocations, 1, __ATOMIC_RELAXED);
    if (r->k == 0 || n < r->k || (n > r->k && !r->and_later)) {
        return true;
    }
    if (r->failed++ == 0) {
        r->deep = backtrace(r->stack, TORTURE_STACK);
    }
    errno = ENOMEM;
    return false;
}

/* Count what was allocated, or freed. Returns what was allocated. */
static void *taken(void *thing, long *count)
{
    if (thing) {
        __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
    }
    return thing;
}

static void returned(const void *thing, long *count)
{
    if (thing) {
        __atomic_sub_fetch(count, 1, __ATOMIC_RELAXED);
    }
}

const char *torture_beneath_live(void)
{
    static char text[160];

    torture_run->live = memory + events + dns_bases + readers + commands;
    snprintf(text, sizeof(text),
             "%ld allocations, %ld events, %ld resolvers, %ld readers, %ld commands", memory,
             events, dns_bases, readers, commands);
    return text;
}

/* ---- the library's own ---- */

void *__wrap_calloc(size_t n, size_t size)
{
    return may_allocate() ? taken(calloc(n, size), &memory) : NULL;
}

void *__wrap_realloc(void *old, size_t size)
{
    if (!may_allocate()) {
        return NULL;
    }
    return old ? realloc(old, size) : taken(malloc(size), &memory);
}

int __wrap_posix_memalign(void **ret, size_t alignment, size_t size)
{
    int status = may_allocate() ? posix_memalign(ret, alignment, size) : ENOMEM;

    if (status == 0) {
        taken(*ret, &memory);
    }
    return status;
}

void __wrap_free(void *thing)
{
    returned(thing, &memory);
    free(thing);
}

/* ---- libevent ---- */

static void *event_malloc(size_t size)
{
    return in_libevent == 0 || may_allocate() ? malloc(size) : NULL;
}

static void *event_realloc(void *old, size_t size)
{
    return in_libevent == 0 || may_allocate() ? realloc(old, size) : NULL;
}

/* The first backtrace of a process allocates memory itself. */
void torture_beneath_init(void)
{
    void *stack[1];

    backtrace(stack, 1);
    event_set_mem_functions(event_malloc, event_realloc, free);
}

struct event *__wrap_event_new(struct event_base *base, evutil_socket_t fd, short what,
                               event_callback_fn cb, void *arg)
{
    struct event *event;

    in_libevent++;
    event = event_new(base, fd, what, cb, arg);
    in_libevent--;
    return taken(event, &events);
}

void __wrap_event_free(struct event *event)
{
    returned(event, &events);
    event_free(event);
}

int __wrap_event_add(struct event *event, const struct timeval *after)
{
    int status;

    in_libevent++;
    status = event_add(event, after);
    in_libevent--;
    return status;
}

struct evdns_base *__wrap_evdns_base_new(struct event_base *base, int flags)
{
    struct evdns_base *dns;

    in_libevent++;
    dns = evdns_base_new(base, flags);
    in_libevent--;
    return taken(dns, &dns_bases);
}

void __wrap_evdns_base_free(struct evdns_base *dns, int fail_requests)
{
    returned(dns, &dns_bases);
    evdns_base_free(dns, fail_requests);
}

int __wrap_evdns_base_resolv_conf_parse(struct evdns_base *dns, int flags, const char *file)
{
    int status;

    in_libevent++;
    status = evdns_base_resolv_conf_parse(dns, flags, file);
    in_libevent--;
    return status;
}

int __wrap_evdns_base_set_option(struct evdns_base *dns, const char *option, const char *value)
{
    int status;

    in_libevent++;
    status = evdns_base_set_option(dns, option, value);
    in_libevent--;
    return status;
}

struct evdns_getaddrinfo_request *__wrap_evdns_getaddrinfo(struct evdns_base *dns, const char *name,
                                                           const char *service,
                                                           const struct evutil_addrinfo *hints,
                                                           evdns_getaddrinfo_cb cb, void *arg)
{
    struct evdns_getaddrinfo_request *request;

    in_libevent++;
    request = evdns_getaddrinfo(dns, name, service, hints, cb, arg);
    in_libevent--;
    return request;
}

/* ---- hiredis ---- */

redisReader *__wrap_redisReaderCreateWithFunctions(redisReplyObjectFunctions *functions)
{
    return may_allocate() ? taken(redisReaderCreateWithFunctions(functions), &readers) : NULL;
}

void __wrap_redisReaderFree(redisReader *reader)
{
    returned(reader, &readers);
    redisReaderFree(reader);
}

int __wrap_redisReaderFeed(redisReader *reader, const char *bytes, size_t len)
{
    if (reader->err == 0 && !may_allocate()) {
        reader->err = REDIS_ERR_OOM;
        snprintf(reader->errstr, sizeof(reader->errstr), "Out of memory");
        return REDIS_ERR;
    }
    return redisReaderFeed(reader, bytes, len);
}

format_result __wrap_redisFormatCommandArgv(char **ret, int argc, const char **argv,
                                            const size_t *lens)
{
    format_result len = may_allocate() ? redisFormatCommandArgv(ret, argc, argv, lens) : -1;

    if (len >= 0) {
        taken(*ret, &commands);
    }
    return len;
}

void __wrap_redisFreeCommand(char *command)
{
    returned(command, &commands);
    redisFreeCommand(command);
}
