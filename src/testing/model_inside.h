/* testing/model_inside.h - what the files of the model share. For model*.c only. */
#ifndef RLK_TESTING_MODEL_INSIDE_H
#define RLK_TESTING_MODEL_INSIDE_H

#include "testing/model.h"

#define MODEL_NEVER UINT64_MAX

#define MODEL_WRONGTYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

struct evbuffer;
struct model_member;
struct model_entry;

struct model_key {
    struct model_key *next;
    long db;
    char *name;
    uint32_t hash; /* of the name: quickly tells apart names that differ only at the end */
    char *value;
    size_t value_len;
    struct model_member *members; /* of a sorted set, which has no value */
    struct model_entry *entries;  /* of a stream, which has no value */
    bool is_stream;
    uint64_t until_ms;
};

/* One command: everything that its function needs. */
struct model_call {
    struct model *m;
    struct model_session *s;
    const struct resp_request *request;
    struct evbuffer *out;
};

/* Word `at` of the command, "" where it has none. */
const char *rlk_model_word(const struct model_call *c, size_t at);

/* Where the pointer to the key is, or the end of the list. Removes expired keys on the way. */
struct model_key **rlk_model_find(struct model *m, long db, const char *name);

/* Set a key. NULL: out of memory, and nothing has changed. */
struct model_key *rlk_model_put(struct model *m, long db, const char *name, const char *value,
                                size_t len, uint64_t ttl_ms);
void rlk_model_remove(struct model *m, struct model_key **at);

/* The ttl, as PTTL returns it. */
long long rlk_model_pttl(const struct model *m, const struct model_key *key);

/* model_sets.c */
void rlk_model_sorted_set(const struct model_call *c);
void rlk_model_free_members(struct model_key *key);

/* model_streams.c */
void rlk_model_stream(const struct model_call *c);
void rlk_model_free_entries(struct model_key *key);
bool rlk_model_is_string(const struct model_key *key);

/* model_script.c */
void rlk_model_script_load(const struct model_call *c);
void rlk_model_script_eval(const struct model_call *c);
void rlk_model_script_evalsha(const struct model_call *c);

/* model_watch.c. _changed, _all_changed: invalidate what is tracked. */
void rlk_model_subscribe(const struct model_call *c);
void rlk_model_do_publish(const struct model_call *c);
bool rlk_model_client_tracking(const struct model_call *c);
void rlk_model_exists(const struct model_call *c);
void rlk_model_note_read(const struct model_call *c, const char *name);
void rlk_model_changed(struct model *m, const char *key);
void rlk_model_all_changed(struct model *m);

/* model_info.c */
void rlk_model_info(const struct model_call *c);
void rlk_model_config(const struct model_call *c);

#endif
