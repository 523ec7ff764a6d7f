-- Refuses bodies that are not JSON by the letter, or have fields that the contract does not have, or one twice. Envoy's
-- transcoder would read some of it otherwise than it was meant, drop the rest and say nothing, and whoever misspelt a field
-- would find out by the game that was made. Whether values fit their fields is left to the transcoder.
--
-- Lets no header through that the service does not read. HTTP allows names, values and sizes that gRPC refuses as an error of its
-- own, some headers mean something else there, and cookies are none of the service's business.
--
-- MESSAGES and BODIES stand above this line, written from the contract: which fields each message has (each with its name in
-- the contract and the message that it holds, "bool", or false), and which message the body of a POST to a path is. Fields of the
-- path are none of the body.

local DEEPEST = 64

local function refuse(sentence, field)
  error({sentence = sentence, field = field}, 0)
end

local function not_json(at)
  refuse("The body is not JSON: see its byte " .. at .. ".")
end

-- A name as it may be told: what others wrote is not to be repeated as it is.
local function told(name)
  return (name:sub(1, 64):gsub("[^%w_.%-]", "?"))
end

-- The position of the first character after white space.
local function skip(text, at)
  return text:find("[^ \t\r\n]", at) or #text + 1
end

-- The position after a string, and what is between its quotes.
local function string_at(text, at)
  local from = at + 1
  while true do
    local found = text:find('[%z\1-\31"\\]', from)
    local byte = found and text:byte(found)
    if byte == 34 then return found + 1, text:sub(at + 1, found - 1) end
    if byte ~= 92 then not_json(found or #text + 1) end
    local _, last = text:find('^["\\/bfnrt]', found + 1)
    if not last then _, last = text:find("^u%x%x%x%x", found + 1) end
    if not last then not_json(found) end
    from = last + 1
  end
end

-- The position after a number or a word.
local function scalar_at(text, at)
  for _, word in ipairs({"^true", "^false", "^null"}) do
    local _, last = text:find(word, at)
    if last then return last + 1 end
  end
  local _, last = text:find("^%-?0", at)
  if not last then _, last = text:find("^%-?[1-9]%d*", at) end
  if not last then not_json(at) end
  for _, more in ipairs({"^%.%d+", "^[eE][+-]?%d+"}) do
    local _, later = text:find(more, last + 1)
    last = later or last
  end
  return last + 1
end

-- Reads the name of a field of an object, and its colon. Returns the position after them, the message that the field holds
-- and the path to it.
local function name_at(text, at, message, path, seen)
  if text:byte(at) ~= 34 then not_json(at) end
  local after, name = string_at(text, at)
  -- Names are letters, digits and underscores: no other escape can be part of one.
  name = name:gsub("\\u00(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end)
  local held = false
  if message then
    local field = MESSAGES[message][name]
    if not field then refuse("There is no field " .. told(name) .. " in " .. message .. ".", path .. told(name)) end
    name, held = field[1], field[2]
  end
  if seen[name] then refuse("The field " .. told(name) .. " is there twice.", path .. told(name)) end
  seen[name] = true
  after = skip(text, after)
  if text:byte(after) ~= 58 then not_json(after) end
  return after + 1, held, path .. told(name) .. "."
end

-- The position after a value.
local function walk(text, at, message, path, depth)
  at = skip(text, at)
  if depth > DEEPEST then refuse("The body is nested too deeply.") end
  local byte = text:sub(at, at)
  if byte == '"' then
    if message == "bool" then
      local field = path:sub(1, -2)
      refuse(field .. " must be true or false, without quotes.", field)
    end
    return (string_at(text, at))
  end
  if byte ~= "[" and byte ~= "{" then return scalar_at(text, at) end
  local close = byte == "[" and "]" or "}"
  at = skip(text, at + 1)
  if text:sub(at, at) == close then return at + 1 end
  local seen = {}
  while true do
    local held, of = message, path
    if byte == "{" then
      at, held, of = name_at(text, at, message, path, seen)
    elseif text:sub(at, at) == "[" then
      refuse("No field holds a list of lists.")
    end
    at = skip(text, walk(text, at, held, of, depth + 1))
    local next = text:sub(at, at)
    if next == close then return at + 1 end
    if next ~= "," then not_json(at) end
    at = skip(text, at + 1)
  end
end

-- Refuses a body that is not a message of this kind.
local function check(text, message)
  local after = skip(text, walk(text, 1, message, "", 0))
  if after <= #text then not_json(after) end
end

local KEPT = {}
for name in ([[
  accept authorization content-length content-type origin te traceparent tracestate transfer-encoding user-agent x-api-key
  x-forwarded-for x-forwarded-proto x-game-id x-request-id
]]):gmatch("%S+") do KEPT[name] = true end

-- gRPC begins to refuse at 8192 bytes, counting 32 more for each header. Envoy adds a few of its own, and the path again.
local MOST_HEADER_BYTES = 7168

-- Removes the headers that do not go on. Returns the size of the rest, as gRPC counts it.
local function strip(headers)
  local dropped, size = {}, 0
  for name, value in pairs(headers) do
    if KEPT[name] or name:sub(1, 1) == ":" then
      size = size + #name + #value + 32
    else
      dropped[#dropped + 1] = name
    end
  end
  for _, name in ipairs(dropped) do headers:remove(name) end
  return size + #headers:get(":path")
end

local function read(body)
  return body and body:length() > 0 and body:getBytes(0, body:length()) or ""
end

local function judge(method, path, query, text)
  if method ~= "POST" then
    if text ~= "" then refuse("This call takes no body: its fields go into the path and the query.") end
    return
  end
  for pattern, message in pairs(BODIES) do
    if path:find(pattern) then
      if query ~= "" then refuse("This call takes no query: its fields go into the body.") end
      if text ~= "" then check(text, message) end
      return
    end
  end
end

function envoy_on_request(handle)
  local headers = handle:headers()
  local path, query = headers:get(":path"):match("^([^?]*)%??(.*)$")
  path = path:gsub("/+$", "") -- the transcoder forgives slashes at the end
  if not path:find("^/v1/") then return end
  if strip(headers) > MOST_HEADER_BYTES then
    handle:respond({[":status"] = "431"}, "")
    return
  end
  local well, problem = pcall(judge, headers:get(":method"), path, query, read(handle:body()))
  if well then return end
  if type(problem) ~= "table" then error(problem, 0) end
  local violations = ""
  if problem.field then
    violations = string.format(
      ',{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"%s","description":"%s"}]}',
      problem.field, problem.sentence)
  end
  -- The mark leaves the answer as it is written here.
  handle:streamInfo():dynamicMetadata():set("soda-fountain", "refused", true)
  handle:respond({[":status"] = "400", ["content-type"] = "application/json"}, string.format(
    '{"code":3,"message":"%s","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"MALFORMED","domain":"%s","metadata":{}}%s]}',
    problem.sentence, DOMAIN, violations))
end
