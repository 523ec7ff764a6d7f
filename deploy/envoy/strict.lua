-- Refuses JSON bodies with fields that the contract does not have. Envoy's transcoder would drop them and say nothing, and
-- whoever misspelt a field would find out by the game that was made.
--
-- MESSAGES and BODIES stand above this line, written from the contract: which fields each message has (with the message that a
-- field holds, or false), and which message the body of a POST to a path is.

-- The position of the first character after white space.
local function skip(text, at)
  return text:find("[^ \t\r\n]", at) or #text + 1
end

-- The position after a string, and the string; nothing where it does not end.
local function string_at(text, at)
  local from = at + 1
  while true do
    local found = text:find('["\\]', from)
    if not found then return nil end
    if text:byte(found) == 34 then return found + 1, text:sub(at + 1, found - 1) end
    from = found + 2
  end
end

-- Walks over a value. Returns the position after it and nothing else, or false and the first unknown field with its message.
-- What is no JSON is left to the transcoder, which says what is wrong with it: nil.
local function walk(text, at, message, depth)
  at = skip(text, at)
  local byte = text:sub(at, at)
  if depth > 64 then return nil end
  if byte == '"' then return (string_at(text, at)) end
  if byte == "[" or byte == "{" then
    local close = byte == "[" and "]" or "}"
    at = skip(text, at + 1)
    if text:sub(at, at) == close then return at + 1 end
    while true do
      local held = message
      if byte == "{" then
        if text:sub(at, at) ~= '"' then return nil end
        local name
        at, name = string_at(text, at)
        if not at then return nil end
        if message then
          held = MESSAGES[message][name]
          if held == nil then return false, name, message end
        end
        at = skip(text, at)
        if text:sub(at, at) ~= ":" then return nil end
        at = at + 1
      end
      local unknown, of
      at, unknown, of = walk(text, at, held, depth + 1)
      if not at then return at, unknown, of end
      at = skip(text, at)
      local next = text:sub(at, at)
      at = skip(text, at + 1)
      if next == close then return at end
      if next ~= "," then return nil end
    end
  end
  return text:find("[,%]} \t\r\n]", at) or #text + 1
end

function envoy_on_request(handle)
  local headers = handle:headers()
  if headers:get(":method") ~= "POST" then return end
  local path = headers:get(":path"):gsub("%?.*", "")
  for pattern, message in pairs(BODIES) do
    if path:find(pattern) then
      local body = handle:body()
      if not body then return end
      local at, unknown, of = walk(body:getBytes(0, body:length()), 1, message, 0)
      if at == false then
        handle:respond({[":status"] = "400"}, 'Could not find field "' .. unknown:gsub('[%c"\\]', "?") .. '" in the type "' .. of .. '".')
      end
      return
    end
  end
end
