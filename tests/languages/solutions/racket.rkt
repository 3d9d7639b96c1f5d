; crash
(error "crash")
; endless
(let loop () (loop))

; problem: add
#lang racket

(define numbers (map string->number (string-split (read-line))))
⟪!⟫
(displayln (apply ⟪+⟫⟪-⟫ numbers))

; problem: reverse
#lang racket

(define line (read-line))
⟪!⟫
(displayln (list->string (⟪reverse⟫⟪cdr⟫ (string->list line))))

; problem: primes
#lang racket/base
(require racket/string)

(define (prime? i)
  (for/and ([d (in-range 2 (⟪add1⟫⟪sub1⟫ (integer-sqrt i)))])
    (positive? (remainder i d))))

(define n (read))
⟪!⟫
(displayln (string-join (for/list ([i (in-range 2 (add1 n))] #:when (prime? i)) (number->string i))))

; problem: words
#lang racket

(define counts (make-hash))
(for* ([line (in-lines)] [word (string-split line)])
  (hash-update! counts word ⟪add1⟫⟪(const 1)⟫ 0))
⟪!⟫
(for ([word (sort (hash-keys counts) string<?)])
  (printf "~a ~a\n" word (hash-ref counts word)))

; problem: matrix
#lang racket

(define n (read))
(define rows (for/list ([i n]) (for/list ([j n]) (read))))
⟪!⟫
(for ([column (⟪apply map list⟫⟪values⟫ rows)])
  (displayln (string-join (map number->string column))))

; problem: fibonacci
#lang racket

(define (fibonacci n)
  (for/fold ([a 0] [b ⟪1⟫⟪2⟫] #:result a) ([_ n])
    (values b (+ a b))))

(define n (read))
⟪!⟫
(fibonacci n)

; problem: gcd
#lang racket

(define (gcd a b)
  ⟪!⟫
  (if (zero? b) ⟪a⟫⟪b⟫ (gcd b (modulo a b))))
; tests: gcd
(require rackunit)

(define (test-humaneval)
  (let ((candidate gcd))
    (check-within (candidate 12 18) 6 0.001)
    (check-within (candidate 7 13) 1 0.001)
    (check-within (candidate 100 75) 25 0.001)
    (check-within (candidate 9 9) 9 0.001)))

(test-humaneval)

; problem: palindrome
#lang racket

(define (palindrome? text)
  (define letters (filter char-alphabetic? (string->list (⟪string-downcase⟫⟪values⟫ text))))
  ⟪!⟫
  (equal? letters (reverse letters)))
; tests: palindrome
(unless (palindrome? "A man, a plan, a canal: Panama!") (exit 1))
(when (palindrome? "Hello") (exit 1))
(unless (palindrome? "x") (exit 1))
(unless (palindrome? "No 'x' in Nixon") (exit 1))
(when (palindrome? "ab") (exit 1))

; problem: running_max
#lang racket/base

(define (running-max values)
  ⟪!⟫
  (reverse
   (for/fold ([result '()]) ([value values])
     (cons (if (null? result) value (⟪max⟫⟪min⟫ value (car result))) result))))
; tests: running_max
(require rackunit)

(check-equal? (running-max '(1 3 2 5 4)) '(1 3 3 5 5))
(check-equal? (running-max '(-3)) '(-3))
(check-equal? (running-max '(5 4 3)) '(5 5 5))
(check-equal? (running-max '(-2 -5 -1)) '(-2 -2 -1))

; problem: fizzbuzz
#lang racket

(define (fizzbuzz n)
  (for/list ([i (in-range 1 (add1 n))])
    ⟪!⟫
    (match* ((modulo i 3) (modulo i ⟪5⟫⟪4⟫))
      [(0 0) "FizzBuzz"]
      [(0 _) "Fizz"]
      [(_ 0) "Buzz"]
      [(_ _) (number->string i)])))
; tests: fizzbuzz
(define texts (fizzbuzz 15))
(define (check index expected)
  (unless (equal? (list-ref texts index) expected) (error "wrong" index)))
(check 0 "1")
(check 2 "Fizz")
(check 4 "Buzz")
(check 14 "FizzBuzz")
