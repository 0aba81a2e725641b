-- queue.lua - the wait queue of a key: its name is that of the key with this behind it.
local waiting_suffix = ':redlock-waiting'
