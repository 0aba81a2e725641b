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
--
-- Answers  {counter, 1}  the keys and their counters are set
--          {counter, 0}  the same, and the incarnation key is not as expected
--          2             some keys had the token already; nothing is changed
--          a value       the value of a key that somebody else has; nothing is changed
--          -FENCE        a counter has no number left, or is not a string; nothing is changed
-- Uses: effects, keys, counters

local ours, other = compare_keys(ARGV[1])
if other then
    return other
end
if #ours > 0 then
    return 2
end
-- Cut to a whole second, so that masters whose clocks differ by ms answer the same number. 2^52, a
-- clock of 2112, is half of all numbers: the other half is left to counters that grow by one, also
-- where our user may not ask for the time.
local hint = math.min(tonumber(ARGV[3]), 4503599627370495)
local time = redis.pcall('TIME')
if time[1] then
    hint = math.min(hint, (time[1] + 60) * 1000000)
end
local fence = hint
for _, key in ipairs(KEYS) do
    local counter = counter_of(key)
    if not counter then
        return redis.error_reply('FENCE the counter of the key is not a string: delete KEY:redlock-fence')
    elseif counter >= fence then
        fence = counter + 1
    end
end
-- 2^53: below this Lua counts exactly, and so does every client. No hint leads here.
if fence >= 9007199254740992 then
    return redis.error_reply('FENCE the counter has no numbers left: ' ..
        'delete KEY:redlock-fence when nothing remembers its fences')
end
local same = 1
if ARGV[5] ~= '' then
    local value = redis.call('GET', ARGV[4]) or ''
    same = string.sub(value, 1, #ARGV[5]) == ARGV[5] and 1 or 0
end
for _, key in ipairs(KEYS) do
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
end
set_counters(KEYS, fence == tonumber(ARGV[3]) and ARGV[3] or string.format('%.0f', fence))
return {fence, same}
