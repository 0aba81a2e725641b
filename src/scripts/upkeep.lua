-- upkeep.lua - may scripts renew and release locks here?
--
-- The handshake and redlock doctor run this. It tries each command that renewals and releases need,
-- on a key that is not there, so nothing changes. Redis below 3.2 rejects a write after the time or
-- a ttl was read.
--
-- KEYS[1]  a key that is not there
--
-- Answers  0        yes
--          command  no: our user may not use this command, or the server does not know it
--          -ERR     no: the server is too old
-- Uses: effects

-- Why the server rejects the command; '' when it does not.
local function try(...)
    local reply = redis.pcall(...)
    return type(reply) == 'table' and reply.err or ''
end

try('TIME')
for _, call in ipairs({{'GET', KEYS[1]}, {'PTTL', KEYS[1]}, {'PEXPIRE', KEYS[1], 10}, {'DEL', KEYS[1]}}) do
    local why = try(unpack(call))
    if string.find(why, 'non deterministic') then
        return redis.error_reply('ERR scripts may not write after PTTL or TIME there: ' ..
            'use Redis 3.2 or newer')
    end
    if string.find(why, ' run th') or string.find(why, 'nknown .*command') then
        return call[1]
    end
end
return 0
