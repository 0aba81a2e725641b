/* testing/tally.c - see tally.h. */
#include "testing/tally.h"

#include <stdlib.h>
#include <string.h>

#include "testing/memory.h"

struct tally_key {
    struct tally_key *next;
    uint64_t counts[MODEL_DEEDS];
    char name[];
};

static struct tally_key *find_tally(const struct tally *tally, const char *name)
{
    struct tally_key *key = tally->keys;

    while (key && strcmp(key->name, name) != 0) {
        key = key->next;
    }
    return key;
}

static struct tally_key *add_tally(struct tally *tally, const char *name)
{
    struct tally_key *key = rlk_testing_memory_new(sizeof(*key) + strlen(name) + 1);

    if (key) {
        strcpy(key->name, name);
        key->next = tally->keys;
        tally->keys = key;
    }
    return key;
}

void rlk_testing_tally_add(struct tally *tally, enum model_deed deed, const char *key)
{
    struct tally_key *found = find_tally(tally, key);

    found = found ? found : add_tally(tally, key);
    if (found) {
        found->counts[deed]++;
    }
}

uint64_t rlk_testing_tally_count(const struct tally *tally, enum model_deed deed, const char *key)
{
    const struct tally_key *found = find_tally(tally, key);

    return found ? found->counts[deed] : 0;
}

void rlk_testing_tally_free(struct tally *tally)
{
    struct tally_key *key;

    while ((key = tally->keys)) {
        tally->keys = key->next;
        free(key);
    }
}
