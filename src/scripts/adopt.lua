-- adopt.lua - extend the keys of a lock, and raise their counters [S12].
--
-- This is the vote for a lock that is taken over by its token, and gets a new fencing token. All
-- counters become one number, as in vote.lua. A key that is not there is never set, and the ttl of
-- none is shortened [S7].
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV     as of vote.lua
--
-- Answers  {counter, 1}  all keys have the token, and the counters are set
--          {counter, 0}  the same, and the incarnation key is not as expected
--          0             a key is not there, and no key has another value; nothing is changed
--          a value       the value of a key that somebody else has; nothing is changed
--          -FENCE        a counter has no number left, or is not a string; nothing is changed
--          {error, answer}  the answer, and why no entry could be added to the audit stream
-- Uses: effects, keys, counters, due, renewal, audit

local ours, other = compare_keys(ARGV[1])
if other or #ours < #KEYS then
    return other or 0
end
-- Uses: fencing
for _, key in ipairs(keys_that_end_before(ARGV[2])) do
    redis.call('PEXPIRE', key, ARGV[2])
end
for _, key in ipairs(KEYS) do
    set_counter(key, text)
end
return audit(6, {fence, same}, text)
