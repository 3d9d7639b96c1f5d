-- crash
error("crash")
-- endless
while true do end

-- problem: add
local a, b = io.read("n", "n")
⟪!⟫
print(a ⟪+⟫⟪-⟫ b)

-- problem: reverse
local line = io.read("l")
⟪!⟫
print(line:⟪reverse⟫⟪upper⟫())

-- problem: primes
local n = io.read("n")
local primes = {}
for i = 2, n do
  local prime = true
  for j = 2, math.floor(math.sqrt(i)) ⟪⟫⟪- 1⟫ do
    if i % j == 0 then prime = false break end
  end
  ⟪!⟫
  if prime then primes[#primes + 1] = i end
end
print(table.concat(primes, " "))

-- problem: words
local counts, words = {}, {}
for line in io.lines() do
  for word in line:gmatch("%S+") do
    if not counts[word] then words[#words + 1] = word end
    counts[word] = ⟪(counts[word] or 0) + 1⟫⟪1⟫
  end
end
⟪!⟫
table.sort(words)
for _, word in ipairs(words) do print(word .. " " .. counts[word]) end

-- problem: matrix
local n = io.read("n")
local rows = {}
for i = 1, n do
  rows[i] = {}
  for j = 1, n do rows[i][j] = io.read("n") end
end
⟪!⟫
for i = 1, n do
  local column = {}
  for j = 1, n do column[j] = rows[⟪j⟫⟪1⟫][i] end
  print(table.concat(column, " "))
end

-- problem: fibonacci
local n = io.read("n")
local a, b = 0, ⟪1⟫⟪1.0⟫
for _ = 1, n do a, b = b, a + b end
⟪!⟫
print(a)

-- problem: gcd
local function gcd(a, b)
  ⟪!⟫
  if b == 0 then return ⟪a⟫⟪b⟫ end
  return gcd(b, a % b)
end
-- tests: gcd
local candidate = gcd
assert(candidate(12, 18) == 6)
assert(candidate(7, 13) == 1)
assert(candidate(100, 75) == 25)
assert(candidate(9, 9) == 9)

-- problem: palindrome
local function is_palindrome(text)
  local letters = text⟪:lower()⟫⟪⟫:gsub("%A", "")
  ⟪!⟫
  return letters == letters:reverse()
end
-- tests: palindrome
local failures = 0
local function check(text, expected)
  if is_palindrome(text) ~= expected then failures = failures + 1 end
end
check("A man, a plan, a canal: Panama!", true)
check("Hello", false)
check("x", true)
check("No 'x' in Nixon", true)
check("ab", false)
os.exit(failures)

-- problem: running_max
function running_max(values)
  local result = {}
  for i, value in ipairs(values) do
    ⟪!⟫
    result[i] = math.⟪max⟫⟪min⟫(value, result[i - 1] or value)
  end
  return result
end
-- tests: running_max
local function check(values, expected)
  local result = running_max(values)
  if #result ~= #expected then os.exit(1) end
  for i = 1, #expected do
    if result[i] ~= expected[i] then os.exit(1) end
  end
end
check({1, 3, 2, 5, 4}, {1, 3, 3, 5, 5})
check({-3}, {-3})
check({5, 4, 3}, {5, 5, 5})
check({-2, -5, -1}, {-2, -2, -1})

-- problem: fizzbuzz
function fizzbuzz(n)
  local result = {}
  for i = 1, n do
    ⟪!⟫
    local text = (i % 3 == 0 and "Fizz" or "") .. (i % ⟪5⟫⟪4⟫ == 0 and "Buzz" or "")
    result[i] = text ~= "" and text or tostring(i)
  end
  return result
end
-- tests: fizzbuzz
local texts = fizzbuzz(15)
assert(#texts == 15)
assert(texts[1] == "1")
assert(texts[3] == "Fizz")
assert(texts[5] == "Buzz")
assert(texts[15] == "FizzBuzz")
