// crash
if std::env::args().count() > 0 { panic!("crash"); }
// endless
loop { if std::env::args().count() == 0 { break; } }

// problem: add
use std::io;

fn main() {
    let mut line = String::new();
    io::stdin().read_line(&mut line).unwrap();
    let numbers: Vec<i64> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
    ⟪!⟫
    println!("{}", numbers[0] ⟪+⟫⟪-⟫ numbers[1]);
}

// problem: reverse
use std::io::{self, BufRead};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let line = io::stdin().lock().lines().next().ok_or("no line")??;
    ⟪!⟫
    println!("{}", line.chars()⟪.rev()⟫⟪.skip(1)⟫.collect::<String>());
    Ok(())
}

// problem: primes
use std::io::Read;

struct Sieve {
    composite: Vec<bool>,
}

impl Sieve {
    fn new(size: usize) -> Self {
        Sieve { composite: vec![false; size + 1] }
    }
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let n: usize = text.trim().parse().unwrap();
    let mut sieve = Sieve::new(n);
    let mut primes = Vec::new();
    for i in 2..⟪=⟫⟪⟫n {
        ⟪!⟫
        if sieve.composite[i] {
            continue;
        }
        primes.push(i.to_string());
        for j in (2 * i..=n).step_by(i) {
            sieve.composite[j] = true;
        }
    }
    println!("{}", primes.join(" "));
}

// problem: words
use std::collections::BTreeMap;
use std::io;

fn main() {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for line in io::stdin().lines() {
        for word in line.unwrap().split_whitespace() {
            ⟪!⟫
            *counts.entry(word.to_string()).or_default() ⟪+=⟫⟪=⟫ 1;
        }
    }
    for (word, count) in &counts {
        println!("{word} {count}");
    }
}

// problem: matrix
use std::io::{self, prelude::*};

fn main() {
    let stdin = io::stdin();
    let mut lines = stdin.lock().lines().map(|line| line.unwrap());
    let n: usize = lines.next().unwrap().trim().parse().unwrap();
    let rows: Vec<Vec<i32>> = lines
        .take(n)
        .map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect())
        .collect();
    ⟪!⟫
    for i in 0..n {
        let column: Vec<String> = rows.iter().map(|row| row[⟪i⟫⟪0⟫].to_string()).collect();
        println!("{}", column.join(" "));
    }
}

// problem: fibonacci
fn fibonacci(n: u32) -> ⟪u64⟫⟪u32⟫ {
    (0..n).fold((0, 1), |(a, b): (⟪u64⟫⟪u32⟫, ⟪u64⟫⟪u32⟫), _| (b, a.wrapping_add(b))).0
}

fn main() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a line");
    ⟪!⟫
    println!("{}", fibonacci(line.trim().parse().unwrap()));
}

// problem: gcd
fn gcd(a: isize, b: isize) -> isize {
    ⟪!⟫
    if b == 0 { a } else { ⟪gcd(b, a % b)⟫⟪b⟫ }
}

// tests: gcd
fn main() {
    let candidate = gcd;
    assert_eq!(candidate(12, 18), 6);
    assert_eq!(candidate(7, 13), 1);
    assert_eq!(candidate(100, 75), 25);
    assert_eq!(candidate(9, 9), 9);
}

// problem: palindrome
fn is_palindrome(text: &str) -> bool {
    ⟪!⟫
    let letters: Vec<char> = text.chars().filter(|c| c.is_alphabetic())⟪.map(|c| c.to_ascii_lowercase())⟫⟪⟫.collect();
    letters.iter().eq(letters.iter().rev())
}

// tests: palindrome
fn main() {
    assert!(is_palindrome("A man, a plan, a canal: Panama!"));
    assert!(!is_palindrome("Hello"));
    assert!(is_palindrome("x"));
    assert!(is_palindrome("No 'x' in Nixon"));
    assert!(!is_palindrome("ab"));
}

// problem: running_max
fn running_max(numbers: Vec<isize>) -> Vec<isize> {
    ⟪!⟫
    numbers
        .iter()
        .scan(numbers[0], |largest, &number| {
            *largest = (*largest).⟪max⟫⟪min⟫(number);
            Some(*largest)
        })
        .collect()
}

// tests: running_max
fn main() -> Result<(), String> {
    if running_max(vec![1, 3, 2, 5, 4]) != vec![1, 3, 3, 5, 5] {
        return Err("first".into());
    }
    assert_eq!(running_max(vec![-3]), vec![-3]);
    assert_eq!(running_max(vec![5, 4, 3]), vec![5, 5, 5]);
    assert_eq!(running_max(vec![-2, -5, -1]), vec![-2, -2, -1]);
    Ok(())
}

// problem: fizzbuzz
pub fn fizz_buzz(n: u32) -> Vec<String> {
    ⟪!⟫
    (1..=n)
        .map(|i| match (i % 3, i % ⟪5⟫⟪10⟫) {
            (0, 0) => "FizzBuzz".to_string(),
            (0, _) => "Fizz".to_string(),
            (_, 0) => "Buzz".to_string(),
            _ => format!("{i}"),
        })
        .collect()
}

// tests: fizzbuzz
fn main() {
    assert_eq!(fizz_buzz(1), ["1"]);
    assert_eq!(fizz_buzz(3), ["1", "2", "Fizz"]);
    assert_eq!(fizz_buzz(5).join(" "), "1 2 Fizz 4 Buzz");
    assert_eq!(fizz_buzz(15).last().map(String::as_str), Some("FizzBuzz"));
    assert_eq!(fizz_buzz(10).pop().as_deref(), Some("Buzz"));
}
