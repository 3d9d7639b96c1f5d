-- crash
SELECT abs(-9223372036854775808);
-- endless
WITH RECURSIVE turns(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM turns) SELECT count(*) FROM turns;

-- problem: add
⟪!⟫
SELECT substr(line, 1, instr(line, ' ')) ⟪+⟫⟪-⟫ substr(line, instr(line, ' ')) FROM input;

-- problem: reverse
⟪!⟫
WITH RECURSIVE reversed(rest, text) AS (
  SELECT line, '' FROM input
  UNION ALL
  SELECT substr(rest, 2), ⟪substr(rest, 1, 1) || text⟫⟪text || substr(rest, 1, 1)⟫
  FROM reversed WHERE rest <> ''
)
SELECT text FROM reversed WHERE rest = '';

-- problem: primes
⟪!⟫
WITH RECURSIVE numbers(i) AS (
  SELECT 2 UNION ALL SELECT i + 1 FROM numbers, input WHERE i < CAST(line AS INTEGER)
)
SELECT group_concat(i, ' ') FROM numbers AS n
WHERE NOT EXISTS (SELECT 1 FROM numbers AS d WHERE d.i * d.i ⟪<=⟫⟪<⟫ n.i AND n.i % d.i = 0);

-- problem: words
⟪!⟫
WITH words AS (
  SELECT value AS word
  FROM input, json_each('["' || replace(trim(line), ' ', '","') || '"]')
  WHERE value <> ''
)
SELECT word || ' ' || count(⟪*⟫⟪DISTINCT word⟫) FROM words GROUP BY word ORDER BY word;

-- problem: matrix
⟪!⟫
WITH cells AS (
  SELECT input.rowid AS i, key AS j, value
  FROM input, json_each('[' || replace(line, ' ', ',') || ']')
  WHERE input.rowid > 1
  ORDER BY i, j
)
SELECT group_concat(value, ' ') FROM cells GROUP BY ⟪j⟫⟪i⟫;

-- problem: fibonacci
⟪!⟫
WITH RECURSIVE f(i, a, b) AS (
  SELECT 0, 0, ⟪1⟫⟪1.0⟫ UNION ALL SELECT i + 1, b, a + b FROM f WHERE i < 90
)
SELECT a FROM f, input WHERE i = CAST(line AS INTEGER);

-- problem: gcd
CREATE TABLE pairs (a INTEGER, b INTEGER);
⟪!⟫
CREATE VIEW gcds AS
WITH RECURSIVE steps(a, b, x, y) AS (
  SELECT a, b, a, b FROM pairs
  UNION ALL
  SELECT a, b, y, x % y FROM steps WHERE y > 0
)
SELECT a, b, max(⟪x⟫⟪y⟫) AS gcd FROM steps WHERE y = 0 GROUP BY a, b;
-- tests: gcd
INSERT INTO pairs VALUES (12, 18), (7, 13), (100, 75), (9, 9);
CREATE TABLE checked (a, gcd, expected, CHECK (gcd = expected));
INSERT INTO checked SELECT a, gcd, 6 FROM gcds WHERE a = 12;
INSERT INTO checked SELECT a, gcd, 1 FROM gcds WHERE a = 7;
INSERT INTO checked SELECT a, gcd, 25 FROM gcds WHERE a = 100;
INSERT INTO checked SELECT a, gcd, 9 FROM gcds WHERE a = 9;
INSERT INTO checked SELECT 0, count(*), 4 FROM gcds;

-- problem: palindrome
CREATE TABLE texts (text TEXT);
⟪!⟫
CREATE VIEW palindromes AS
WITH RECURSIVE steps(text, rest, letters, reversed) AS (
  SELECT text, ⟪lower(text)⟫⟪text⟫, '', '' FROM texts
  UNION ALL
  SELECT text, substr(rest, 2),
    letters || iif(rest GLOB '[a-zA-Z]*', substr(rest, 1, 1), ''),
    iif(rest GLOB '[a-zA-Z]*', substr(rest, 1, 1), '') || reversed
  FROM steps WHERE rest <> ''
)
SELECT text, letters = reversed AS is_palindrome FROM steps WHERE rest = '';
-- tests: palindrome
INSERT INTO texts VALUES ('A man, a plan, a canal: Panama!'), ('Hello'), ('x'), ('No ''x'' in Nixon');
CREATE TABLE checked (found TEXT, expected TEXT, CHECK (found IS expected));
INSERT INTO checked
SELECT group_concat(text, '/'), 'A man, a plan, a canal: Panama!/No ''x'' in Nixon/x'
FROM (SELECT text FROM palindromes WHERE is_palindrome ORDER BY text);

-- problem: running_max
CREATE TABLE readings (place INTEGER, value INTEGER);
⟪!⟫
CREATE VIEW running AS
SELECT place, ⟪max⟫⟪min⟫(value) OVER (ORDER BY place) AS largest FROM readings;
-- tests: running_max
INSERT INTO readings VALUES (1, 1), (2, 3), (3, 2), (4, 5), (5, 4);
CREATE TABLE checked (found TEXT, expected TEXT, CHECK (found IS expected));
INSERT INTO checked
SELECT group_concat(largest, ' '), '1 3 3 5 5' FROM (SELECT largest FROM running ORDER BY place);

-- problem: fizzbuzz
⟪!⟫
WITH RECURSIVE numbers(i) AS (
  SELECT 1 UNION ALL SELECT i + 1 FROM numbers, input WHERE i < CAST(line AS INTEGER)
)
SELECT group_concat(
  CASE WHEN i % ⟪15⟫⟪1⟫ = 0 THEN 'FizzBuzz' WHEN i % 3 = 0 THEN 'Fizz'
    WHEN i % 5 = 0 THEN 'Buzz' ELSE i END, ' ')
FROM numbers;
