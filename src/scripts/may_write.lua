-- may_write.lua - may a script still write after it has read the time or a ttl?
--
-- redlock doctor runs this. Renewals need it, and Redis below 3.2 rejects it. Other commands check
-- the rights of the user, so a command that is rejected here for another reason is ignored.
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
