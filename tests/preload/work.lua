local x, t, n = 1, {}, 0
for i = 1, 400000 do
  x = (x * 1103515245 + 12345) % 2147483648
  t[x % 20000] = { i, tostring(x), string.rep("z", x % 50) }
end
for k = 0, 19999 do if t[k] then n = n + #t[k][2] + #t[k][3] end end
local parts = {}
for i = 1, 50000 do parts[#parts + 1] = ("%d:%s"):format(i, i % 7) end
print(n, #table.concat(parts, ","))
