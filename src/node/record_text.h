/* record_text.h - a record of the masters as text.
 *
 *     1 NUMBER ID EPOCH MAX_TTL                    the version of the form, the ballot, ...
 *     MARK FROM UNTIL ADDRESS                      a line for each master
 *
 * ID and MARK are 16 hex digits. UNTIL is - while it is a master; N when it is one up to epoch N
 * on; N! when that is because it lost its data. Each line ends with a line feed. */
#ifndef RLK_NODE_RECORD_TEXT_H
#define RLK_NODE_RECORD_TEXT_H

#include <stdbool.h>

#include "base/text.h"
#include "core/record.h"

/* Read a text that ends with NUL. False: it is no record, or one in a format that we do not know.
 * The addresses are borrowed from it. */
bool rlk_record_read(const char *text, struct rlk_record *ret_record);

/* Whether it is in a later format: a later version of the library wrote it. */
bool rlk_record_is_of_later_form(const char *text);

void rlk_record_write(const struct rlk_record *r, struct rlk_text *out);

/* Read the value of the key on a master: the ballot that it has promised, since when it has had the
 * record (by its own clock, in microseconds), and the record, if it has one.
 *
 *     NUMBER ID SINCE
 */
bool rlk_record_read_kept(const char *text, struct rlk_ballot *ret_promised, uint64_t *ret_since_us,
                          const char **ret_record);

#endif
