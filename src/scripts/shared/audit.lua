-- audit.lua - the audit stream: who has acquired, released or broken which lock.
--
-- A script that writes an entry has these arguments behind its own, from ARGV[first] on: the name
-- of the stream, how many entries it keeps, and the fields of the entry, each with its value.
-- Without an audit stream they are left out.

-- Adds the entry, with the fencing token that a vote has worked out and the keys of the lock.
-- Returns the answer of the script, or {error, answer}: that there is no entry changes nothing else.
local function audit(first, answer, fence)
    if not ARGV[first] then
        return answer
    end
    local fields = {unpack(ARGV, first + 2)}
    if fence then
        fields[#fields + 1] = 'fence'
        fields[#fields + 1] = fence
    end
    for _, key in ipairs(KEYS) do
        fields[#fields + 1] = 'key'
        fields[#fields + 1] = key
    end
    local added = redis.pcall('XADD', ARGV[first], 'MAXLEN', '~', ARGV[first + 1], '*', unpack(fields))
    return type(added) == 'table' and {added, answer} or answer
end
