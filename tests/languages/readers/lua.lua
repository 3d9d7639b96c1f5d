for i, name in ipairs({"a", "b", "c", "d"}) do
  local file = io.open("given/" .. name)
  local number = file:read("n")
  assert(number == i)
  print(number)
end
