-- keep.lua - let our keys live for ttl, if they do not live longer already [S7].
--
-- It renews a lock that is held, and adopts one without a fencing token. It never sets a key that is not there, and never shortens one.
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  the token
-- ARGV[2]  ttl, in milliseconds
-- ARGV[3]  the fencing token; left out, or '', for a lock without one
-- ARGV[4]  the entry for the audit stream (audit.lua), or left out
--
-- The keys are read in their order, and the first one without the token decides the answer:
--
-- Answers  1        all keys have the token, and live for ttl or longer
--          0        that key is not there; nothing is changed
--          a value  the value of that key, which somebody else has; nothing is changed
--          {error, answer}  the answer, and why no entry could be added to the audit stream
--
-- With a fencing token, the counters of the keys are at least the fencing token afterwards [S12].
-- Uses: effects, counters, due, renewal, audit

for _, key in ipairs(KEYS) do
    local value = redis.call('GET', key)
    if value ~= ARGV[1] then
        return value or 0
    end
end
local short = keys_that_end_before(ARGV[2])
local due = keys_with_counter_due(ARGV[3])
for _, key in ipairs(short) do
    redis.call('PEXPIRE', key, ARGV[2])
end
for _, key in ipairs(due) do
    set_counter(key, ARGV[3])
end
return audit(4, 1)
