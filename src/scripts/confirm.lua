-- confirm.lua - raise the counters to the fencing token that the masters have agreed on [S12].
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  the token
-- ARGV[2]  the fencing token
--
-- Answers  1  all keys have the token, and their counters are the fencing token now
--          0  a key lacks the token, or a counter is not below the fencing token; nothing is changed
--
-- So a counter reaches each number once: no two clients are told 1 for the same fencing token.
-- Uses: keys, counters

local ours = compare_keys(ARGV[1])
if #ours < #KEYS then
    return 0
end
for _, key in ipairs(KEYS) do
    local counter = counter_of(key)
    if not counter or counter >= tonumber(ARGV[2]) then
        return 0
    end
end
for _, key in ipairs(KEYS) do
    set_counter(key, ARGV[2])
end
return 1
