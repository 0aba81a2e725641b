-- may_write.lua - whether a script that has asked for the time or a ttl may write.
--
-- redlock doctor asks this. A renewal needs it, and Redis below 3.2 refuses it. Each right is asked
-- for by a command of its own, so a command that is refused here for another reason does not count.
--
-- KEYS[1]  a key, which may be there or not
--
-- Answers  0     yes
--          -ERR  no
-- Uses: effects

redis.pcall('TIME')
redis.pcall('PTTL', KEYS[1])
local reply = redis.pcall('PEXPIRE', KEYS[1], 10)
if type(reply) == 'table' and string.find(reply.err or '', 'non deterministic') then
    return redis.error_reply('ERR scripts may not write after PTTL or TIME there: ' ..
        'use Redis 3.2 or newer')
end
return 0
