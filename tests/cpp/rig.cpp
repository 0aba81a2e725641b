/* rig.cpp - see rig.hpp. */
#include "cpp/rig.hpp"

#include <cstring>

rig::rig() : masters_{}
{
    for (master *&one : masters_) {
        one = master_start(nullptr);
    }
    m = redlockpp::manager(options());
}

rig::~rig()
{
    m = {};
    for (master *one : masters_) {
        master_free(one);
    }
}

redlockpp::options rig::options() const
{
    redlockpp::options o;

    for (const master *one : masters_) {
        o.nodes.push_back(master_uri(one));
    }
    o.quarantine = REDLOCK_QUARANTINE_OFF;
    o.node_timeout = 10s;
    return o;
}

void rig::stop_masters()
{
    for (master *one : masters_) {
        master_stop(one);
    }
}

void rig::continue_masters()
{
    for (master *one : masters_) {
        master_continue(one);
    }
}

void rig::delete_key(const char *key)
{
    for (master *one : masters_) {
        master_ask(one, "DEL %s", key);
    }
}

void rig::set_key_on_one(const char *key, const char *value)
{
    master_ask(masters_.back(), "SET %s %s", key, value);
}

void rig::expect_clean()
{
    for (master *one : masters_) {
        wait_until([one] { return std::strcmp(master_ask(one, "DBSIZE"), "0") == 0; });
    }
}

redlockpp::request once(const char *key)
{
    redlockpp::request r(key);

    r.ttl = 2min;
    r.renew = false;
    return r;
}
