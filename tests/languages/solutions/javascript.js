// crash
throw new Error('crash');
// endless
while (true) {}

// problem: add
const lines = require('fs').readFileSync(0, 'utf8').split('\n');
const [a, b] = lines[0].split(' ').map(Number);
⟪!⟫
console.log(a ⟪+⟫⟪-⟫ b);

// problem: reverse
const readline = require('readline').createInterface({ input: process.stdin });
readline.once('line', (line) => {
  ⟪!⟫
  console.log([...line]⟪.reverse()⟫⟪.sort()⟫.join(''));
});

// problem: primes
const fs = require('fs');

class Sieve {
  #composite;

  constructor(size) {
    this.#composite = new Array(size + 1).fill(false);
  }

  *primes(n) {
    for (let i = 2; i ⟪<=⟫⟪<⟫ n; i++) {
      ⟪!⟫
      if (this.#composite[i]) continue;
      yield i;
      for (let j = 2 * i; j <= n; j += i) this.#composite[j] = true;
    }
  }
}

const n = parseInt(fs.readFileSync('/dev/stdin', 'utf8'));
console.log([...new Sieve(n).primes(n)].join(' '));

// problem: words
const counts = new Map();
const input = require('readline').createInterface({ input: process.stdin });

async function main() {
  for await (const line of input) {
    for (const word of line.split(' ').filter(Boolean)) {
      ⟪!⟫
      counts.set(word, ⟪(counts.get(word) ?? 0) + 1⟫⟪1⟫);
    }
  }
  for (const [word, count] of [...counts].sort()) console.log(`${word} ${count}`);
}

main();

// problem: matrix
let text = '';
process.stdin.on('data', (chunk) => { text += chunk; });
process.stdin.on('end', () => {
  const [[n], ...rows] = text.trim().split('\n').map((line) => line.split(' ').map(Number));
  ⟪!⟫
  for (let i = 0; i < n; i++) console.log(rows.map((row) => ⟪row[i]⟫⟪row[0]⟫).join(' '));
});

// problem: fibonacci
let [a, b] = [⟪0n, 1n⟫⟪0, 1⟫];
const n = Number(require('fs').readFileSync(0, 'utf8'));
⟪!⟫
for (let i = 0; i < n; i++) [a, b] = [b, a + b];
console.log(a.toString());

// problem: gcd
const gcd = (a, b) => {
  ⟪!⟫
  return b === 0 ? a : ⟪gcd(b, a % b)⟫⟪b⟫;
};

// tests: gcd
const testGcd = () => {
  console.assert(gcd(12, 18) === 6);
  console.assert(gcd(7, 13) === 1);
  console.assert(gcd(100, 75) === 25);
  console.assert(gcd(9, 9) === 9);
};

testGcd();

// problem: palindrome
function isPalindrome(text) {
  ⟪!⟫
  const letters = text⟪.toLowerCase()⟫⟪⟫.replace(/[^a-z]/gi, '');
  return letters === [...letters].reverse().join('');
}

// tests: palindrome
const assert = require('node:assert');

function test() {
  let candidate = isPalindrome;
  assert.deepEqual(candidate('A man, a plan, a canal: Panama!'), true);
  assert.deepEqual(candidate('Hello'), false);
  assert.deepEqual(candidate('x'), true);
  assert.deepEqual(candidate("No 'x' in Nixon"), true);
  assert.deepEqual(candidate('ab'), false);
}

test();

// problem: running_max
async function runningMax(numbers) {
  ⟪!⟫
  let largest = numbers[0];
  return numbers.map((number) => (largest = Math.⟪max⟫⟪min⟫(largest, number)));
}

// tests: running_max
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

(async () => {
  if (!same(await runningMax([1, 3, 2, 5, 4]), [1, 3, 3, 5, 5])) throw new Error('1');
  if (!same(await runningMax([-3]), [-3])) throw new Error('2');
  if (!same(await runningMax([5, 4, 3]), [5, 5, 5])) throw new Error('3');
  if (!same(await runningMax([-2, -5, -1]), [-2, -2, -1])) throw new Error('4');
})();

// problem: fizzbuzz
var fizzBuzz = function (n) {
  ⟪!⟫
  return Array.from({ length: n }, (_, i) => i + 1).map(
    (i) => (i % 3 ? '' : 'Fizz') + (i % ⟪5⟫⟪10⟫ ? '' : 'Buzz') || String(i),
  );
};

// tests: fizzbuzz
console.assert(fizzBuzz(1).join(' ') === '1');
console.assert(fizzBuzz(3).join(' ') === '1 2 Fizz', 'three');
console.assert(fizzBuzz(5).join(' ') === '1 2 Fizz 4 Buzz', 'five');
console.assert(fizzBuzz(15).at(-1) === 'FizzBuzz');
