-- keys.lua - compare the keys with the token of a claim.

-- Returns the keys whose value is the token, and the value of the first key with another value; nil
-- when no key has another one. For a key that is no string, or must not be read, that value is the
-- error; the other keys are compared all the same. A key with the value `free` counts as one that
-- is not there [H2]; nil: no value does.
local function compare_keys(token, free)
    local ours, other = {}, nil
    for _, key in ipairs(KEYS) do
        local value = redis.pcall('GET', key)
        if value == token then
            ours[#ours + 1] = key
        elseif value and value ~= free then
            other = other or value
        end
    end
    return ours, other
end
