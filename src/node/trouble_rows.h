/* trouble_rows.h - all that can be wrong with a node: a row for each kind of trouble.
 *
 *     TROUBLE(kind, sentence, columns of struct rlk_trouble_row by name...)
 *
 * trouble.h makes the enum of the kinds from these rows, and trouble.c the table.
 *
 * Each sentence is about the master, and has no subject. # is replaced by the number, @ by the name
 * of the other master or of the file, & by the name of the user. $ is replaced by the words, or by
 * the meaning of the words, the fault, the reason or `unfit`. */

TROUBLE(RLK_TROUBLE_NONE, "")

/* The node is not connected. */
TROUBLE(RLK_TROUBLE_CONNECTING, "is still being connected")
TROUBLE(RLK_TROUBLE_NAME, "its name could not be resolved: $")
TROUBLE(RLK_TROUBLE_NAME_LATE, "its name could not be resolved within # ms; check the name servers "
                               "in /etc/resolv.conf")
TROUBLE(RLK_TROUBLE_CONNECT, "cannot be reached: $")
TROUBLE(RLK_TROUBLE_CONNECT_LATE, "could not be reached within # ms; its machine may be down, or a "
                                  "firewall may drop our packets")
/* fault: the TLS handshake failed, or TLS was broken later */
TROUBLE(RLK_TROUBLE_TLS, "$", .found = REDLOCK_FOUND_TLS)
TROUBLE(RLK_TROUBLE_TLS_BROKEN,
        "the connection broke during the TLS handshake: $; check that this port is its tls-port",
        .found = REDLOCK_FOUND_TLS)
TROUBLE(RLK_TROUBLE_TLS_PENDING,
        "has not finished the TLS handshake yet; check that this port is its tls-port",
        .found = REDLOCK_FOUND_TLS)
TROUBLE(RLK_TROUBLE_TLS_LATE,
        "did not finish the TLS handshake within # ms; check that this port is its tls-port",
        .found = REDLOCK_FOUND_TLS)
TROUBLE(RLK_TROUBLE_TLS_FILES, "is connected with the former certificates, because $",
        .found = REDLOCK_FOUND_TLS, .severity = REDLOCK_WARNING,
        .fix = "Put files in their place that belong together.")
TROUBLE(RLK_TROUBLE_SEVERAL, "its name has several addresses ($), which may be several servers",
        .advice = "give each server a name of its own, or list this one by one address",
        .found = REDLOCK_FOUND_SEVERAL)
TROUBLE(RLK_TROUBLE_HANDSHAKE_LATE, "did not finish the handshake within # ms",
        .advice = CHECK_WHY_SILENT, .found = REDLOCK_FOUND_UNRESPONSIVE)
/* fault: it broke before the server had sent anything */
TROUBLE(RLK_TROUBLE_HANDSHAKE_UNANSWERED, "closed the connection during the handshake ($)",
        .advice = "if this port is its tls-port, write rediss://; otherwise check what listens "
                  "there, perhaps a proxy")
TROUBLE(RLK_TROUBLE_HANDSHAKE_BROKEN, "the connection broke during the handshake: $",
        .advice = CHECK_WHAT_LISTENS)
TROUBLE(RLK_TROUBLE_BROKEN, "the connection broke: $")
TROUBLE(RLK_TROUBLE_UNASKED, "sent an unexpected reply: $")

/* The server refused the handshake. */
TROUBLE(RLK_TROUBLE_NOT_REDIS, "does not reply like a Redis server", .advice = CHECK_WHAT_LISTENS)
/* words: for another reason than those below */
TROUBLE(RLK_TROUBLE_HANDSHAKE_REFUSED, "refused the handshake: $")
TROUBLE(RLK_TROUBLE_PROTECTED, "accepts connections from its own machine only (protected mode)",
        .advice = "set a password on it (requirepass, or ACL), and give it to its clients",
        .found = REDLOCK_FOUND_LOGIN)
TROUBLE(RLK_TROUBLE_PASSWORD_MISSING,
        "requires a password, and none was given for it (in its URI, or for all masters)",
        .found = REDLOCK_FOUND_LOGIN)
TROUBLE(RLK_TROUBLE_LOGIN, "rejected our user or password (user &): $; give those that it accepts",
        .found = REDLOCK_FOUND_LOGIN)
TROUBLE(RLK_TROUBLE_LOGIN_FILE,
        "rejected our user or password (user &): $; write the password that it accepts to @, which "
        "we read again before each try",
        .found = REDLOCK_FOUND_LOGIN)
/* words: why the file cannot be read again */
TROUBLE(RLK_TROUBLE_LOGIN_UNREAD,
        "rejected our user or password (user &), and a new one could not be read from @: $",
        .found = REDLOCK_FOUND_LOGIN)
TROUBLE(RLK_TROUBLE_DATABASE, "refused database #: $",
        .advice = "use a database that it has (CONFIG GET databases shows how many)",
        .found = REDLOCK_FOUND_DATABASE)
TROUBLE(RLK_TROUBLE_DATABASE_DENIED, "refused database #: $",
        .advice = "allow our user this database (ACL SETUSER: +select, and db=... on Valkey 9.1 or "
                  "newer), or use another one",
        .found = REDLOCK_FOUND_DATABASE)
TROUBLE(RLK_TROUBLE_BUSY, "refuses all commands for now: $", .found = REDLOCK_FOUND_REFUSES)
TROUBLE(RLK_TROUBLE_LOADING, "is loading its data; retrying until it has finished",
        .found = REDLOCK_FOUND_LOADING)

/* The server must not vote [S10, S11]. After the second to fourth we reconnect. */
TROUBLE(RLK_TROUBLE_UNFIT, "$", .found = REDLOCK_FOUND_ROLE)
TROUBLE(RLK_TROUBLE_WAS_REPLICA,
        "was a replica for a while, so its data were replaced; we connect to it again")
TROUBLE(RLK_TROUBLE_DATA_REPLACED, "its data were deleted or replaced; we connect to it again")
TROUBLE(RLK_TROUBLE_NAMED, "tells us its run_id now; we connect to it again")
TROUBLE(RLK_TROUBLE_LEFT,
        "is no master any more, says the record of the masters; we connect to the "
        "server that took its place")
/* words: its place */
TROUBLE(RLK_TROUBLE_MOVED,
        "is no master any more; the server that took its place ($) cannot be used from "
        "here")
TROUBLE(RLK_TROUBLE_DUPLICATE, "is the same server as @ (run_id $...)", .advice = LIST_ONCE,
        .found = REDLOCK_FOUND_DUPLICATE)
/* Seen by our token in its key. */
TROUBLE(RLK_TROUBLE_VOTED_TWICE, "is a server that has already voted at another address",
        .advice = LIST_ONCE)

/* The node is connected, and replied with an error to this command, or to any. */
TROUBLE(RLK_TROUBLE_SET_REFUSED, "refused to set the key: $")
TROUBLE(RLK_TROUBLE_FENCE_REFUSED, "refused to raise the fencing token: $")
TROUBLE(RLK_TROUBLE_EXTEND_REFUSED, "refused to extend the lock: $")
TROUBLE(RLK_TROUBLE_RESTORE_REFUSED, "refused to restore the key: $")
TROUBLE(RLK_TROUBLE_RELEASE_REFUSED, "refused to release the key: $")
TROUBLE(RLK_TROUBLE_WAIT_REFUSED, "refused to queue us: $")
TROUBLE(RLK_TROUBLE_AUDIT_REFUSED, "adds nothing to the audit stream: $")
TROUBLE(RLK_TROUBLE_AUDIT_DENIED, "adds nothing to the audit stream: $",
        .advice = "allow our user XADD (ACL SETUSER: +xadd)")
TROUBLE(RLK_TROUBLE_REFUSES, "refuses our commands: $", .found = REDLOCK_FOUND_REFUSES)
TROUBLE(RLK_TROUBLE_NONSENSE, "sent a reply that no Redis server sends",
        .advice = "if it is a proxy, list the masters behind it")

/* The subscriber connection (node/subscriber.h) failed; a node does not keep these. */
TROUBLE(RLK_TROUBLE_SUBSCRIBER_BROKEN, "the subscriber connection broke: $")
TROUBLE(RLK_TROUBLE_SUBSCRIBER_REFUSED, "refused the subscriber connection, so waiting polls: $")
TROUBLE(RLK_TROUBLE_SUBSCRIBER_LATE,
        "did not finish the handshake of the subscriber connection within # ms")
TROUBLE(RLK_TROUBLE_SUBSCRIBER_UNASKED,
        "sent an unexpected message over the subscriber connection: $")

/* We do not know what the node said about a lock. */
TROUBLE(RLK_TROUBLE_UNANSWERED, "did not reply in time")
TROUBLE(RLK_TROUBLE_UNANSWERED_YET, "has not replied yet")
TROUBLE(RLK_TROUBLE_ANSWER_BROKEN, "the connection broke before it replied")
TROUBLE(RLK_TROUBLE_NOT_ASKED, "was not asked: it was not connected when the round was decided")
TROUBLE(RLK_TROUBLE_NONE_ASKED, "was not asked: too few masters are up for a majority")
TROUBLE(RLK_TROUBLE_DID_NOT_COUNT,
        "granted the lock while in quarantine, so its vote did not count")
TROUBLE(RLK_TROUBLE_UNCONFIRMED, "granted the lock, but did not confirm the fencing token")
TROUBLE(RLK_TROUBLE_ERROR, "replied with an error")
TROUBLE(RLK_TROUBLE_NOT_ASKED_AGAIN, "was not asked again before our key expired there")
TROUBLE(RLK_TROUBLE_QUERY_REFUSED, "refused the query: $")
TROUBLE(RLK_TROUBLE_SCAN_REFUSED, "refused to name its keys: $")
TROUBLE(RLK_TROUBLE_SCAN_DENIED, "refused to name its keys: $",
        .advice = "allow our user SCAN (ACL SETUSER: +scan)")
TROUBLE(RLK_TROUBLE_SCAN_TOO_LONG, "has too many keys with long names in one place to name them")
TROUBLE(RLK_TROUBLE_SCAN_UNFINISHED, "has not named all its keys in time")
TROUBLE(RLK_TROUBLE_HISTORY_REFUSED, "refused to read its audit stream: $")
TROUBLE(RLK_TROUBLE_HISTORY_DENIED, "does not let our user read its audit stream",
        .advice = "allow our user XREVRANGE, EVAL and EVALSHA (ACL SETUSER: +xrevrange)")
TROUBLE(RLK_TROUBLE_HISTORY_UNFINISHED, "has not read its audit stream in time")
TROUBLE(RLK_TROUBLE_DELETE_REFUSED, "refused to delete the record: $")
TROUBLE(RLK_TROUBLE_ANSWER_LOST, "its reply was dropped: out of memory")

/* A command could not be sent. */
TROUBLE(RLK_TROUBLE_TOO_MANY, "too many requests are pending for it")
TROUBLE(RLK_TROUBLE_NO_MEMORY, "out of memory: a request to it was not sent")
TROUBLE(RLK_TROUBLE_NO_MEMORY_FOR_HANDSHAKE, "out of memory: the handshake was not sent")
TROUBLE(RLK_TROUBLE_NO_MEMORY_TO_INSPECT, "out of memory: it could not be inspected")
TROUBLE(RLK_TROUBLE_NO_MEMORY_TO_SUBSCRIBE,
        "out of memory for the subscriber connection, so waiting polls")
TROUBLE(RLK_TROUBLE_NOT_EXAMINED,
        "could not be asked: too many requests are pending for it, or out of memory")
TROUBLE(RLK_TROUBLE_RELEASES_MANY, "too many releases are pending for it; the oldest were dropped, "
                                   "and their keys expire with their ttl")
TROUBLE(RLK_TROUBLE_RELEASES_NO_MEMORY, "out of memory for its pending releases; the oldest were "
                                        "dropped, and their keys expire with their ttl")

/* The state of the node now; these are not kept. */
TROUBLE(RLK_TROUBLE_HANDSHAKE, "is connected, but has not finished the handshake for # ms",
        .advice = CHECK_WHY_SILENT, .found = REDLOCK_FOUND_UNRESPONSIVE)
TROUBLE(RLK_TROUBLE_UNRESPONSIVE, "has not replied for # ms",
        .advice = CHECK_WHY_SILENT) /* [S14] */
/* reason; words: the error, when the reason is UNREAD. The first while the reason lasts. */
TROUBLE(RLK_TROUBLE_QUARANTINE, "does not vote: $")
TROUBLE(RLK_TROUBLE_QUARANTINE_PASSES, "does not vote for another # s (quarantine; see max-ttl): $")
TROUBLE(RLK_TROUBLE_UNCONFIRMED_RECORD,
        "does not vote: too few masters reply to confirm the record of the masters")
/* words: a command that renewals and releases need; for the last: how it refused a script */
TROUBLE(RLK_TROUBLE_UPKEEP_DENIED, "does not vote, because it denies our user $, " FOR_UPKEEP,
        .advice = "allow it (redlock doctor prints the ACL SETUSER for that)",
        .found = REDLOCK_FOUND_RIGHTS)
TROUBLE(RLK_TROUBLE_UPKEEP_UNKNOWN, "does not vote, because it does not know $, " FOR_UPKEEP,
        .advice = "remove its rename-command; if it is a proxy, list the masters behind it",
        .found = REDLOCK_FOUND_RIGHTS)
TROUBLE(RLK_TROUBLE_UPKEEP_IN_SCRIPTS, "does not vote, because it denies $ to scripts, " FOR_UPKEEP,
        .advice = "allow it (redlock doctor prints the ACL SETUSER for that), or remove its "
                  "rename-command",
        .found = REDLOCK_FOUND_RIGHTS)
TROUBLE(RLK_TROUBLE_UPKEEP_REFUSED, "does not vote, because it runs no scripts, " FOR_UPKEEP ": $",
        .found = REDLOCK_FOUND_RIGHTS,
        .fix = "Use a server that runs Lua scripts: Redis 3.2 or newer, or Valkey.")
TROUBLE(RLK_TROUBLE_MARK_DENIED,
        "does not vote, because it no longer lets us see whether it lost its data: $",
        .advice = "allow us EVAL with GET, SET and TIME on " MARK, .found = REDLOCK_FOUND_RIGHTS)
TROUBLE(RLK_TROUBLE_RECORD_DENIED,
        "does not vote, because it no longer shows us the record of the masters",
        .advice = "allow us GET and SET on " RECORD, .found = REDLOCK_FOUND_RIGHTS)
/* It votes, but there is something that we cannot see. */
TROUBLE(RLK_TROUBLE_BLIND_TO_RESTART,
        "has restarts that we cannot see, so it votes without quarantine",
        .advice = "allow us INFO")
TROUBLE(RLK_TROUBLE_BLIND_TO_ROLE,
        "has restarts and a role that we cannot see, so it votes without quarantine, even as a "
        "writable replica",
        .advice = "allow us INFO; if it is a proxy, list the masters behind it")
TROUBLE(RLK_TROUBLE_BLIND_TO_DATA,
        "can lose its data without our seeing it, so it votes without quarantine",
        .advice = "allow us EVAL with GET, SET and TIME on " MARK)
TROUBLE(RLK_TROUBLE_MARK_SPOILT,
        "can lose its data without our seeing it, because its key " MARK " is not a string; so it "
        "votes without quarantine",
        .advice = "delete that key", .found = REDLOCK_FOUND_REFUSES, .severity = REDLOCK_WARNING)
