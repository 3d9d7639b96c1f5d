// crash
if (Date.now() > 0) throw new Error('crash');
// endless
while (Date.now() > 0) {}

// problem: add
import * as fs from 'fs';

const [a, b]: number[] = fs.readFileSync(0, 'utf8').split('\n')[0].split(' ').map(Number);
⟪!⟫
console.log(a ⟪+⟫⟪-⟫ b);

// problem: reverse
import * as readline from 'node:readline';

const input: readline.Interface = readline.createInterface({ input: process.stdin });
input.once('line', (line: string): void => {
  ⟪!⟫
  console.log([...line]⟪.reverse()⟫⟪.sort()⟫.join(''));
});

// problem: primes
import { readFileSync } from 'fs';

class Sieve {
  private readonly composite: boolean[];

  constructor(private size: number) {
    this.composite = new Array<boolean>(size + 1).fill(false);
  }

  *primes(): Generator<number> {
    for (let i = 2; i ⟪<=⟫⟪<⟫ this.size; i++) {
      ⟪!⟫
      if (this.composite[i]) continue;
      yield i;
      for (let j = 2 * i; j <= this.size; j += i) this.composite[j] = true;
    }
  }
}

console.log([...new Sieve(parseInt(readFileSync('/dev/stdin', 'utf8'))).primes()].join(' '));

// problem: words
import readline from 'readline';

type Entry = { word: string; count: number };

const counts = new Map<string, number>();

async function main(): Promise<void> {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    for (const word of line.split(' ').filter((one) => one.length > 0)) {
      ⟪!⟫
      counts.set(word, ⟪(counts.get(word) ?? 0) + 1⟫⟪1⟫);
    }
  }
  const entries: Entry[] = [...counts].sort().map(([word, count]) => ({ word, count }));
  for (const { word, count } of entries) console.log(`${word} ${count}`);
}

main();

// problem: matrix
const input = require('fs').readFileSync(0, 'utf8').trim().split('\n');
const n: number = Number(input[0]);
const rows: number[][] = input.slice(1).map((line) => line.split(' ').map(Number));
⟪!⟫
for (let i = 0; i < n; i++) console.log(rows.map((row) => ⟪row[i]⟫⟪row[0]⟫).join(' '));

// problem: fibonacci
function fibonacci(n: number): ⟪bigint⟫⟪number⟫ {
  let [a, b] = [⟪0n, 1n⟫⟪0, 1⟫];
  for (let i = 0; i < n; i++) [a, b] = [b, a + b];
  return a;
}

const n: number = Number(require('fs').readFileSync(0, 'utf8'));
⟪!⟫
console.log(fibonacci(n).toString());

// problem: gcd
function gcd(a: number, b: number): number {
  ⟪!⟫
  return b === 0 ? a : ⟪gcd(b, a % b)⟫⟪b⟫;
}

// tests: gcd
declare var require: any;
const assert = require('node:assert');

function test() {
  let candidate = gcd;
  assert.deepEqual(candidate(12, 18), 6);
  assert.deepEqual(candidate(7, 13), 1);
  assert.deepEqual(candidate(100, 75), 25);
  assert.deepEqual(candidate(9, 9), 9);
}

test();

// problem: palindrome
const isPalindrome = (text: string): boolean => {
  ⟪!⟫
  const letters: string = text⟪.toLowerCase()⟫⟪⟫.replace(/[^a-z]/gi, '');
  return letters === [...letters].reverse().join('');
};

// tests: palindrome
console.assert(isPalindrome('A man, a plan, a canal: Panama!') === true);
console.assert(isPalindrome('Hello') === false);
console.assert(isPalindrome('x') === true);
console.assert(isPalindrome("No 'x' in Nixon") === true);
console.assert(isPalindrome('ab') === false);

// problem: running_max
export function runningMax<T extends number>(numbers: readonly T[]): T[] {
  ⟪!⟫
  return numbers.map((_, i) => Math.⟪max⟫⟪min⟫(...numbers.slice(0, i + 1)) as T);
}

// tests: running_max
import { deepStrictEqual } from 'node:assert';

deepStrictEqual(runningMax([1, 3, 2, 5, 4]), [1, 3, 3, 5, 5]);
deepStrictEqual(runningMax([-3]), [-3]);
deepStrictEqual(runningMax([5, 4, 3]), [5, 5, 5]);
deepStrictEqual(runningMax([-2, -5, -1]), [-2, -2, -1]);

// problem: fizzbuzz
enum Word { Fizz = 'Fizz', Buzz = 'Buzz' }

function fizzBuzz(n: number): string[] {
  ⟪!⟫
  return Array.from({ length: n }, (_, i) => {
    const words = [(i + 1) % 3 === 0 && Word.Fizz, (i + 1) % ⟪5⟫⟪10⟫ === 0 && Word.Buzz];
    return words.filter(Boolean).join('') || String(i + 1);
  });
}

// tests: fizzbuzz
const check = (n: number, expected: string): void => {
  if (fizzBuzz(n).join(' ') !== expected) throw new Error(`fizzBuzz(${n})`);
};

check(1, '1');
check(3, '1 2 Fizz');
check(5, '1 2 Fizz 4 Buzz');
check(15, '1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz 11 Fizz 13 14 FizzBuzz');
