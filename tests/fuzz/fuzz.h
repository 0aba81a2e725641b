/* fuzz.h - what every fuzz target shares: the entry, the check, and scripts.
 *
 * A target is one file fuzz_<name>.c with the one function below. It turns any bytes into
 * calls of the library and checks a rule after each. The same function is driven by libFuzzer,
 * which looks for bytes that break a rule, and by replay.c, which runs the bytes in the folder
 * corpus/<name> as plain tests.
 *
 * Where the input is a sequence of events it is a script: text with a letter for each event,
 * so that a corpus file can be written, read and cut down by hand. Every text is a script, and
 * what makes no sense in it is passed over. Blanks separate; '#' begins a comment that goes to
 * the end of the line. */
#ifndef RLK_TESTS_FUZZ_H
#define RLK_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/event.h"
#include "core/validity.h"

/* The entry that libFuzzer knows. Returns 0; a broken rule ends the process by abort(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rule, a sentence, must hold. */
#define FUZZ_CHECK(holds, rule) fuzz_check((holds), (rule), __FILE__, __LINE__)

void fuzz_check(bool holds, const char *rule, const char *file, int line);

/* The bytes as a text that ends with a NUL, in memory of exactly that size, so that a read beyond
 * its end is noticed. The caller frees it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* What is left of a script. */
struct fuzz_script {
    const uint8_t *at, *end;
};

/* The next letter; -1 at the end. */
int fuzz_letter(struct fuzz_script *s);

/* The next byte, whatever it is; -1 at the end. */
int fuzz_byte(struct fuzz_script *s);

/* The byte that an escape stands for, behind its backslash: r, n, xHH with small letters, or any
 * other byte itself. */
int fuzz_escaped(struct fuzz_script *s);

/* How many there are below 64. */
unsigned fuzz_open_descriptors(void);

/* The decimal number that comes next; 0 when no digit comes. '*' is the largest number, and so is
 * every number that is too large. */
uint64_t fuzz_number(struct fuzz_script *s);

/* The set of nodes that comes next, in hexadecimal; '*' has all 64 bits. */
uint64_t fuzz_mask(struct fuzz_script *s);

/* Voters: a set, and how many there are with those for which there is no node: 63 at most. */
struct rlk_voters fuzz_voters(struct fuzz_script *s);

/* How many nodes there are, 1 to 63. */
unsigned fuzz_count(struct fuzz_script *s);

/* The number of a node, 0 to 63: one more than there can be. */
unsigned fuzz_node(struct fuzz_script *s);

/* A time below RLK_NEVER, moved on by `by_us`; it saturates just below RLK_NEVER. */
uint64_t fuzz_later(uint64_t now_us, uint64_t by_us);

/* Move the time on to `to_us`, unless that is past or RLK_NEVER. */
void fuzz_move_to(uint64_t *now_us, uint64_t to_us);

/* A letter that stands for an event. What follows it in the script is read in the order of `reads`:
 *
 *     n  the number of a node            r, c  the nodes that are ready; connecting
 *     f  the fence that a vote brings    o     the round that it is for
 *     b  for how long we were suspended    p, l  the place in a list; what is left of the ttl
 *     h  the value that refused */
struct fuzz_event {
    int letter; /* 0 ends a table */
    const char *reads;
    struct rlk_event ev;
};

/* The event of this letter and of what follows it. Returns false when the letter is not in the
 * table. */
bool fuzz_event(struct fuzz_script *s, const struct fuzz_event *table, int letter,
                struct rlk_event *ret_ev);

/* The letters of time: '+' and a number; '@' to the deadline; '<' to just before it. Returns false
 * for any other letter. */
bool fuzz_time(struct fuzz_script *s, int letter, uint64_t *now_us, uint64_t deadline_us);

#endif
