-- vote.lua - set all keys to our token for ttl, or none of them, and raise their counters [S12].
--
-- This is the vote for a lock with a fencing token. All counters become one number, which is above
-- each of them and at least the hint. A hint more than a minute ahead of this master's clock is
-- cut: a client's clock may show any year. The vote also tells whether the data of this master are
-- still those that we know [S11].
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  the token
-- ARGV[2]  ttl, in milliseconds
-- ARGV[3]  the hint, a number
-- ARGV[4]  the name of the incarnation key; empty when ARGV[5] is
-- ARGV[5]  what the value of that key should begin with; empty: do not read it
-- ARGV[6]  the reservation that names us: a key with this value counts as free [H2]; left out, or '':
--          none
-- ARGV[7]  the entry for the audit stream (audit.lua), or left out
--
-- Answers  {counter, 1}  the keys and their counters are set
--          {counter, 0}  the same, and the incarnation key is not as expected
--          2             some keys had the token already; nothing is changed
--          a value       the value of a key that somebody else has; nothing is changed
--          -FENCE        a counter has no number left, or is not a string; nothing is changed
--          {error, answer}  the answer, and why no entry could be added to the audit stream
-- Uses: effects, counters

-- compare_keys() makes a function and a table. Each vote runs this, and may stop at the first refusal.
local ours
for i = 1, #KEYS do
    local value = redis.pcall('GET', KEYS[i])
    if value == ARGV[1] then
        ours = true
    elseif value and (value ~= ARGV[6] or value == '') then
        return value
    end
end
if ours then
    return 2
end
-- Uses: fencing
for i = 1, #KEYS do
    redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2])
    set_counter(KEYS[i], text)
end
if ARGV[7] then
    -- Uses: audit
    return audit(7, {fence, same}, text)
end
return {fence, same}
