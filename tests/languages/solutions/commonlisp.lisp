; crash
(error "crash")
; endless
(loop)

; problem: add
(let ((a (read)) (b (read)))
  ⟪!⟫
  (format t "~D~%" (⟪+⟫⟪-⟫ a b)))

; problem: reverse
(defun main ()
  (let ((line (read-line)))
    ⟪!⟫
    (write-line (⟪reverse⟫⟪string-upcase⟫ line))))

(main)

; problem: primes
(defun primep (i)
  (loop for d from 2 ⟪to⟫⟪below⟫ (isqrt i) never (zerop (mod i d))))

(let ((n (read)))
  ⟪!⟫
  (format t "~{~D~^ ~}~%" (loop for i from 2 to n when (primep i) collect i)))

; problem: words
(defpackage :words (:use :cl))
(in-package :words)

(defun split (line)
  (loop with start = 0
        for end = (position #\Space line :start start)
        unless (eql start (or end (length line))) collect (subseq line start end)
        while end do (setf start (1+ end))))

(let ((counts (make-hash-table :test 'equal)))
  (loop for line = (read-line nil nil)
        while line
        do (dolist (word (split line)) (incf (gethash word counts ⟪0⟫⟪1⟫))))
  ⟪!⟫
  (dolist (word (sort (loop for word being the hash-keys of counts collect word) #'string<))
    (format t "~A ~D~%" word (gethash word counts))))

; problem: matrix
(let* ((n (read))
       (rows (loop repeat n collect (loop repeat n collect (read)))))
  ⟪!⟫
  (dolist (column ⟪(apply #'mapcar #'list rows)⟫⟪rows⟫)
    (format t "~{~D~^ ~}~%" column)))

; problem: fibonacci
(setf n (read))
(let ((a 0) (b ⟪1⟫⟪2⟫))
  (dotimes (i n) (psetf a b b (+ a b)))
  ⟪!⟫
  (format t "~D~%" a))

; problem: gcd
(defun greatest-common-divisor (a b)
  ⟪!⟫
  (if (zerop b) ⟪a⟫⟪b⟫ (greatest-common-divisor b (mod a b))))
; tests: gcd
(assert (= (greatest-common-divisor 12 18) 6))
(assert (= (greatest-common-divisor 7 13) 1))
(assert (= (greatest-common-divisor 100 75) 25))
(assert (= (greatest-common-divisor 9 9) 9))

; problem: palindrome
(defun palindromep (text)
  (let ((letters (remove-if-not #'alpha-char-p text)))
    ⟪!⟫
    (⟪string-equal⟫⟪string=⟫ letters (reverse letters))))
; tests: palindrome
(unless (palindromep "A man, a plan, a canal: Panama!") (sb-ext:exit :code 1))
(when (palindromep "Hello") (sb-ext:exit :code 1))
(unless (palindromep "x") (sb-ext:exit :code 1))
(unless (palindromep "No 'x' in Nixon") (sb-ext:exit :code 1))
(when (palindromep "ab") (sb-ext:exit :code 1))

; problem: running_max
(defmacro extreme (a b) (list (chosen) a b))
(defun chosen () '⟪max⟫⟪min⟫)

(defun running-max (values)
  ⟪!⟫
  (loop for value in values
        for largest = value then (extreme largest value)
        collect largest))
; tests: running_max
(defun check (values expected)
  (unless (equal (running-max values) expected) (error "wrong: ~A" values)))

(check '(1 3 2 5 4) '(1 3 3 5 5))
(check '(-3) '(-3))
(check '(5 4 3) '(5 5 5))
(check '(-2 -5 -1) '(-2 -2 -1))

; problem: fizzbuzz
(defun fizzbuzz (n)
  (loop for i from 1 to n
        do ⟪!⟫ (values)
        collect (cond ((zerop (mod i ⟪15⟫⟪9⟫)) "FizzBuzz")
                      ((zerop (mod i 3)) "Fizz")
                      ((zerop (mod i 5)) "Buzz")
                      (t (princ-to-string i)))))
; tests: fizzbuzz
(let ((texts (fizzbuzz 15)))
  (assert (= (length texts) 15))
  (assert (string= (nth 0 texts) "1"))
  (assert (string= (nth 2 texts) "Fizz"))
  (assert (string= (nth 4 texts) "Buzz"))
  (assert (string= (nth 14 texts) "FizzBuzz")))
