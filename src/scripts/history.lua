-- history.lua - read a part of the audit stream, from the newest entry on: what is about one key.
--
-- KEYS[1]  the audit stream
-- ARGV[1]  the key
-- ARGV[2]  the newest id to look at, or '+'
-- ARGV[3]  the oldest id to look at, or '-'
-- ARGV[4]  how many entries to look at, at most
-- ARGV[5]  how many entries to answer with, at most
--
-- Answers  {next, oldest, there, ...}  a part of the stream
--          -ERR                        it cannot be read (WRONGTYPE, no right to do it)
--
-- `next` is ARGV[2] for the next part, or '' when this was the last one; `oldest` is the id of the
-- last entry that was looked at, or ''; `there` is 0 when there is no stream. For each entry follow
-- its id and its fields event, id, owner, by, fence and ttl: '' where it lacks one. Instead of `by`
-- an entry of a hand-over has `to`, which comes in its place. Servers before 6.2 know no range without
-- its ends, so `next` is the id before the last one.

local places = {event = 1, id = 2, owner = 3, by = 4, to = 4, fence = 5, ttl = 6}

-- Returns the values of the fields; nil when the entry is about other keys.
local function values_of(fields)
    local values, found = {'', '', '', '', '', ''}, false
    for i = 1, #fields, 2 do
        local place = places[fields[i]]
        if place then
            values[place] = string.sub(fields[i + 1], 1, 255)
        end
        found = found or (fields[i] == 'key' and fields[i + 1] == ARGV[1])
    end
    return found and values
end

-- The decimal number before this one, which is not 0. Lua counts exactly to 2^53 only, and an id may
-- be larger.
local function before(number)
    local head, digit, zeros = string.match(number, '^(%d-)([1-9])(0*)$')
    return (string.gsub(head .. digit - 1 .. string.rep('9', #zeros), '^0+(%d)', '%1'))
end

local function id_before(id)
    local ms, seq = string.match(id, '^(%d+)-(%d+)$')
    if seq ~= '0' then
        return ms .. '-' .. before(seq)
    end
    return before(ms)
end

local entries = redis.call('XREVRANGE', KEYS[1], ARGV[2], ARGV[3], 'COUNT', ARGV[4])
local answer = {'', '', redis.pcall('EXISTS', KEYS[1]) == 0 and 0 or 1}
local most = 3 + 7 * ARGV[5]
for i, entry in ipairs(entries) do
    local values = values_of(entry[2])
    for k = values and 0 or 1, values and 6 or 0 do
        answer[#answer + 1] = k == 0 and entry[1] or values[k]
    end
    answer[2] = entry[1]
    if #answer == most or i == tonumber(ARGV[4]) then
        answer[1] = id_before(entry[1])
        return answer
    end
end
return answer
