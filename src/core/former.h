/* former.h - connections to one server process that ended with commands unanswered [S5].
 *
 * A command that was sent over such a connection may still be on its way, or lie in the socket of a
 * server that does not run at the moment. It must not be carried out after the pending releases
 * that the next connection sends. So the server is first told to end its former connections, with
 * CLIENT KILL. A former connection is kept here until the server has replied to that: the
 * connection over which CLIENT KILL was sent may break, too. */
#ifndef RLK_CORE_FORMER_H
#define RLK_CORE_FORMER_H

#include <stddef.h>
#include <stdint.h>

/* The most connections that are kept; when there are more, the oldest is dropped. */
#define RLK_FORMER_MAX 16

struct rlk_former {
    char run_id[48];             /* of the server process; "": none yet */
    int64_t ids[RLK_FORMER_MAX]; /* by CLIENT ID, the oldest first */
    unsigned count;
};

/* A connection has ended with so many commands unanswered. It is not kept when that is 0, nor when
 * the run or the id is unknown ("", 0). */
void rlk_former_ended(struct rlk_former *f, const char *run_id, int64_t id, size_t unanswered);

/* This run answers now. Connections to another run have ended with that process: drop them. */
void rlk_former_note_run(struct rlk_former *f, const char *run_id);

/* The server has replied to the CLIENT KILL of the oldest: drop it. */
void rlk_former_drop(struct rlk_former *f);

#endif
