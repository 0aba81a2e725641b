/* tls.h - TLS under a connection: a context for each master, and a session for each connection.
 *
 *   commands --rlk_tls_write()--> session --rlk_tls_wire()----> bytes to send
 *   replies <--rlk_tls_read()---- session <--rlk_tls_receive()-- bytes received
 *
 * A session touches no socket: it turns the bytes of one side into those of the other. So nothing
 * here can wait, raise SIGPIPE or be cut short by a full socket; net/conn.c sends and receives.
 *
 *   HANDSHAKE --rlk_tls_read()--> READY --the server ends it, or bad bytes--> ended
 *
 * OpenSSL is behind net/tls_calls.h. The first rlk_tls_new() of a process looks for it. */
#ifndef RLK_NET_TLS_H
#define RLK_NET_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "net/fault.h"

struct rlk_tls;
struct rlk_tls_session;
struct rlk_uri;

/* The most bytes of a sentence about TLS. */
#define RLK_TLS_WHY 240

/* The most bytes that rlk_tls_read() writes at once: one record. */
#define RLK_TLS_READ 16384

/* Make the context of a master: its CAs, and our certificate. Reads files. uri: borrowed until
 * rlk_tls_free(). other: a context of the same manager whose CAs this one may share, or NULL; it
 * may be freed first. 0; REDLOCK_ENOMEM; or REDLOCK_EINVAL, and `why` says what to do, also when
 * there is no TLS. From any thread. */
int rlk_tls_new(const struct rlk_uri *uri, const struct rlk_tls *other, struct rlk_tls **ret,
                char *why, size_t size);

/* Accepts NULL. All its sessions have ended. */
void rlk_tls_free(struct rlk_tls *t);

/* Why files that were replaced since are not used; then the former ones are. "": they are used. */
const char *rlk_tls_complaint(const struct rlk_tls *t);

/* Begin a session: the first bytes to send are in rlk_tls_wire(). Files that were replaced are read
 * anew, and after a handshake that failed all of them. NULL: out of memory. */
struct rlk_tls_session *rlk_tls_begin(struct rlk_tls *t);

/* Accepts NULL. */
void rlk_tls_end(struct rlk_tls_session *s);

/* Take bytes that were received. All of them: rlk_tls_read() must have returned 0 before. False:
 * out of memory. */
bool rlk_tls_receive(struct rlk_tls_session *s, const char *bytes, size_t len);

/* Go on, as far as the received bytes allow. How many bytes of replies were written to `plain`,
 * which has room for RLK_TLS_READ; 0: more bytes are needed; -1: the session has ended, and
 * rlk_tls_fault() says why. There may be bytes to send after each of them. */
int rlk_tls_read(struct rlk_tls_session *s, char *plain);

/* The handshake has ended well, and no message of one is half received: rlk_tls_write() may be
 * called. */
bool rlk_tls_is_ready(const struct rlk_tls_session *s);

/* Encrypt all bytes, at least one. False: the session has ended. */
bool rlk_tls_write(struct rlk_tls_session *s, const char *bytes, size_t len);

/* Say goodbye to the server, if the handshake has ended. */
void rlk_tls_close(struct rlk_tls_session *s);

/* The bytes to send, and that so many of them were sent. */
const char *rlk_tls_wire(const struct rlk_tls_session *s, size_t *ret_len);
void rlk_tls_sent(struct rlk_tls_session *s, size_t len);

/* Why the session has ended. Its text lives as long as the session. */
struct rlk_fault rlk_tls_fault(const struct rlk_tls_session *s);

/* Why the connection has ended, when it is not the session that ended it: `fault`, unless more is
 * known, such as that the server wants a certificate of us, or that the handshake had not ended. */
struct rlk_fault rlk_tls_fault_of_end(struct rlk_tls_session *s, const struct rlk_fault *fault);

/* Whether a record that begins with this byte is an alert. */
static inline bool rlk_tls_is_alert(char first)
{
    return first == 0x15;
}

/* "TLSv1.3, verified". Static. "": not ready. */
const char *rlk_tls_describe(const struct rlk_tls_session *s);

#endif
