// crash
raise Exception.Create('crash');
// endless
while true do;

// problem: add
program Add;
uses SysUtils;
var
  a, b: Int64;
begin
  Read(a, b);
  ⟪!⟫
  WriteLn(a ⟪+⟫⟪-⟫ b);
end.

// problem: reverse
program ReverseLine;
uses SysUtils, StrUtils;
var
  line: string;
begin
  ReadLn(line);
  ⟪!⟫
  WriteLn(⟪ReverseString⟫⟪UpperCase⟫(line));
end.

// problem: primes
uses SysUtils;

function IsPrime(i: Integer): Boolean;
var
  d: Integer;
begin
  for d := 2 to Trunc(Sqrt(i)) ⟪⟫⟪- 1⟫ do
    if i mod d = 0 then Exit(False);
  Result := True;
end;

var
  n, i: Integer;
  separator: string = '';
begin
  ReadLn(n);
  for i := 2 to n do
  begin
    ⟪!⟫
    if not IsPrime(i) then Continue;
    Write(separator, i);
    separator := ' ';
  end;
  WriteLn;
end.

// problem: words
{$mode objfpc}{$H+}
uses
  Classes, SysUtils;
var
  words, line: TStringList;
  text: string;
  i, count: Integer;
begin
  words := TStringList.Create;
  line := TStringList.Create;
  line.Delimiter := ' ';
  while not Eof do
  begin
    ReadLn(text);
    line.DelimitedText := text;
    for i := 0 to line.Count - 1 do
      if line[i] <> '' then words.Add(line[i]);
  end;
  words.Sort;
  ⟪!⟫
  count := 0;
  for i := 0 to words.Count - 1 do
  begin
    Inc(count);
    if (i = words.Count - 1) or (words[i] <> words[i + 1]) then
    begin
      WriteLn(words[i], ' ', count);
      count := ⟪0⟫⟪1⟫;
    end;
  end;
end.

// problem: matrix
program Transposed;
uses SysUtils;
var
  rows: array of array of Integer;
  n, i, j: Integer;
begin
  Read(n);
  SetLength(rows, n, n);
  for i := 0 to n - 1 do
    for j := 0 to n - 1 do
      Read(rows[i][j]);
  ⟪!⟫
  for i := 0 to n - 1 do
  begin
    for j := 0 to n - 1 do
    begin
      if j > 0 then Write(' ');
      Write(rows[⟪j⟫⟪0⟫][i]);
    end;
    WriteLn;
  end;
end.

// problem: fibonacci
program Fibonacci;
uses SysUtils;
var
  a: Int64 = 0;
  b: Int64 = ⟪1⟫⟪2⟫;
  next: Int64;
  n, i: Integer;
begin
  ReadLn(n);
  for i := 1 to n do
  begin
    next := a + b;
    a := b;
    b := next;
  end;
  ⟪!⟫
  WriteLn(a);
end.

// problem: gcd
uses SysUtils;

function Gcd(a, b: Integer): Integer;
begin
  ⟪!⟫
  if b = 0 then
    Result := ⟪a⟫⟪b⟫
  else
    Result := Gcd(b, a mod b);
end;
// tests: gcd
begin
  if Gcd(12, 18) <> 6 then Halt(1);
  if Gcd(7, 13) <> 1 then Halt(1);
  if Gcd(100, 75) <> 25 then Halt(1);
  if Gcd(9, 9) <> 9 then Halt(1);
end.

// problem: palindrome
{$mode delphi}
uses SysUtils;

function IsPalindrome(const text: string): Boolean;
var
  letters: string = '';
  c: Char;
  i: Integer;
begin
  for c in text do
    if c in ['a'..'z', 'A'..'Z'] then letters := letters + ⟪LowerCase(c)⟫⟪c⟫;
  ⟪!⟫
  Result := True;
  for i := 1 to Length(letters) do
    if letters[i] <> letters[Length(letters) + 1 - i] then Result := False;
end;
// tests: palindrome
begin
  Assert(True);
  if not IsPalindrome('A man, a plan, a canal: Panama!') then Halt(1);
  if IsPalindrome('Hello') then Halt(1);
  if not IsPalindrome('x') then Halt(1);
  if not IsPalindrome('No ''x'' in Nixon') then Halt(1);
  if IsPalindrome('ab') then Halt(1)
end.

// problem: running_max
uses SysUtils, Math;

type
  TIntegers = array of Integer;

function RunningMax(const values: TIntegers): TIntegers;
var
  i: Integer;
begin
  SetLength(Result, Length(values));
  ⟪!⟫
  for i := 0 to High(values) do
    if i = 0 then Result[i] := values[i]
    else Result[i] := ⟪Max⟫⟪Min⟫(values[i], Result[i - 1]);
end;
// tests: running_max
procedure Check(const values, expected: TIntegers);
var
  found: TIntegers;
  i: Integer;
begin
  found := RunningMax(values);
  for i := 0 to High(expected) do
    if found[i] <> expected[i] then raise Exception.Create('wrong');
end;

begin
  Check(TIntegers.Create(1, 3, 2, 5, 4), TIntegers.Create(1, 3, 3, 5, 5));
  Check(TIntegers.Create(-3), TIntegers.Create(-3));
  Check(TIntegers.Create(5, 4, 3), TIntegers.Create(5, 5, 5));
  Check(TIntegers.Create(-2, -5, -1), TIntegers.Create(-2, -2, -1));
end.

// problem: fizzbuzz
uses SysUtils;

function FizzBuzz(i: Integer): string;
begin
  ⟪!⟫
  if i mod ⟪15⟫⟪9⟫ = 0 then Result := 'FizzBuzz'
  else if i mod 3 = 0 then Result := 'Fizz'
  else if i mod 5 = 0 then Result := 'Buzz'
  else Result := IntToStr(i);
end;
// tests: fizzbuzz
begin
  if FizzBuzz(1) <> '1' then Halt(1);
  if FizzBuzz(3) <> 'Fizz' then Halt(1);
  if FizzBuzz(5) <> 'Buzz' then Halt(1);
  if FizzBuzz(15) <> 'FizzBuzz' then Halt(1);
end.
