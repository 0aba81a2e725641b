-- leave.lua - do not wait any more, and pass on a turn that we do not use.
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  our channel
--
-- Answers  1  somebody else was woken
--          0  nobody was woken
--
-- Our channel is in no list of the keys afterwards. For a key that is free, the first of its list
-- is woken.
-- Uses: effects, queue, waiting

local woken = 0
for _, key in ipairs(KEYS) do
    if leave(key, ARGV[1], not redis.pcall('GET', key)) then
        woken = 1
    end
end
return woken
