-- fence.lua - let a Redis with data refuse a stale holder.
--
--     redis-cli -e --eval fence.lua KEY , FENCE           announce the token, and read the value
--     redis-cli -e --eval fence.lua KEY , FENCE VALUE     write the value
--
-- Run this on the server that has the data, not on the masters of the lock: their answers are
-- votes, and a minority of them may lose their data. The key is a hash of the value and the largest token
-- that was seen, so that both are kept, lost and restored together. The key must not expire.

-- tonumber() also accepts "nan", and nothing is smaller than that.
local fence = string.match(ARGV[1] or '', '^%d+$') and tonumber(ARGV[1])
if not fence or fence >= 2 ^ 53 then
    return redis.error_reply('NOFENCE a fencing token is a number below 2^53')
end

-- Lua's numbers are exact up to 2^53, so a comparison is exact. tostring() is not: it rounds to 14
-- digits, and a fencing token has 16.
local seen = tonumber(redis.call('HGET', KEYS[1], 'fence') or 0)
if fence < seen then
    return redis.error_reply(string.format(
        'STALE the token %.0f is stale: a later holder has been here with %.0f', fence, seen))
end
redis.call('HSET', KEYS[1], 'fence', string.format('%.0f', fence))
if ARGV[2] then
    redis.call('HSET', KEYS[1], 'value', ARGV[2])
end
return redis.call('HGET', KEYS[1], 'value')
