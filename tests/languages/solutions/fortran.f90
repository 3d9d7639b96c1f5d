! crash
error stop 3
! endless
block
  integer, volatile :: turn
  do
    turn = 1
  end do
end block

! problem: add
program sum_of_two
  implicit none
  integer :: a, b
  read *, a, b
  ⟪!⟫
  print '(i0)', a ⟪+⟫⟪-⟫ b
end program sum_of_two

! problem: reverse
program reverse_line
  implicit none
  character(len=1000) :: line
  integer :: i
  read '(a)', line
  ⟪!⟫
  print '(*(a))', (line(i:i), i = len_trim(line), ⟪1⟫⟪2⟫, -1)
end program reverse_line

! problem: primes
program primes
  implicit none
  integer :: n, i
  character(len=:), allocatable :: text
  character(len=12) :: number
  read *, n
  text = ''
  do i = 2, n
    ⟪!⟫
    if (.not. is_prime(i)) cycle
    write (number, '(i0)') i
    text = text // ' ' // trim(number)
  end do
  print '(a)', trim(adjustl(text))
contains
  logical function is_prime(i)
    integer, intent(in) :: i
    integer :: d
    is_prime = .true.
    do d = 2, int(sqrt(real(i))) ⟪⟫⟪- 1⟫
      if (mod(i, d) == 0) is_prime = .false.
    end do
  end function is_prime
end program primes

! problem: words
program count_words
  implicit none
  character(len=200) :: line, word
  character(len=40) :: words(100)
  integer :: counts(100), total, status, i, smallest
  counts = 0
  total = 0
  do
    read (*, '(a)', iostat=status) line
    if (status /= 0) exit
    line = adjustl(line)
    do while (len_trim(line) > 0)
      i = index(line, ' ')
      word = line(:i - 1)
      line = adjustl(line(i:))
      call add(word)
    end do
  end do
  ⟪!⟫
  do i = 1, total
    smallest = minloc_word()
    print '(a, 1x, i0)', trim(words(smallest)), counts(smallest)
    words(smallest) = '~'
  end do
contains
  subroutine add(word)
    character(len=*), intent(in) :: word
    integer :: k
    do k = 1, total
      if (words(k) == word) exit
    end do
    if (k > total) then
      total = k
      words(k) = word
    end if
    counts(k) = ⟪counts(k) + 1⟫⟪1⟫
  end subroutine add

  integer function minloc_word()
    integer :: k
    minloc_word = 1
    do k = 2, total
      if (words(k) < words(minloc_word)) minloc_word = k
    end do
  end function minloc_word
end program count_words

! problem: matrix
program transposed
  implicit none
  integer :: n, i
  integer, allocatable :: rows(:, :)
  read *, n
  allocate (rows(n, n))
  do i = 1, n
    read *, rows(i, :)
  end do
  ⟪!⟫
  do i = 1, n
    print '(*(i0, :, " "))', ⟪rows(:, i)⟫⟪rows(1, :)⟫
  end do
end program transposed

! problem: fibonacci
program fibonacci
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer(int64) :: a, b, next
  integer :: n, i
  read *, n
  a = 0
  b = ⟪1⟫⟪2⟫
  do i = 1, n
    next = a + b
    a = b
    b = next
  end do
  ⟪!⟫
  print '(i0)', a
end program fibonacci

! problem: gcd
recursive integer function gcd(a, b) result(divisor)
  implicit none
  integer, intent(in) :: a, b
  ⟪!⟫
  if (b == 0) then
    divisor = ⟪a⟫⟪b⟫
  else
    divisor = gcd(b, mod(a, b))
  end if
end function gcd
! tests: gcd
program test_gcd
  implicit none
  integer, external :: gcd
  if (gcd(12, 18) /= 6) stop 1
  if (gcd(7, 13) /= 1) stop 1
  if (gcd(100, 75) /= 25) stop 1
  if (gcd(9, 9) /= 9) stop 1
end program test_gcd

! problem: palindrome
module texts
  implicit none
contains
  logical function is_palindrome(text)
    character(len=*), intent(in) :: text
    character(len=len(text)) :: letters
    integer :: i, n, code
    n = 0
    do i = 1, len(text)
      code = iachar(text(i:i))
      ⟪if (code >= iachar('A') .and. code <= iachar('Z')) code = code + 32⟫⟪⟫
      if (code < iachar('A') .or. code > iachar('z')) cycle
      n = n + 1
      letters(n:n) = achar(code)
    end do
    ⟪!⟫
    is_palindrome = all([(letters(i:i) == letters(n + 1 - i:n + 1 - i), i = 1, n)])
  end function is_palindrome
end module texts
! tests: palindrome
program test_palindrome
  use texts
  implicit none
  if (.not. is_palindrome('A man, a plan, a canal: Panama!')) error stop
  if (is_palindrome('Hello')) error stop
  if (.not. is_palindrome('x')) error stop
  if (.not. is_palindrome('No ''x'' in Nixon')) error stop
  if (is_palindrome('ab')) error stop
end program test_palindrome

! problem: running_max
module maxima
  implicit none
contains
  function running_max(values) result(largest)
    integer, intent(in) :: values(:)
    integer :: largest(size(values)), i
    ⟪!⟫
    do i = 1, size(values)
      largest(i) = ⟪maxval⟫⟪minval⟫(values(:i))
    end do
  end function running_max
end module maxima
! tests: running_max
program test_running_max
  use maxima
  implicit none
  call check([1, 3, 2, 5, 4], [1, 3, 3, 5, 5])
  call check([-3], [-3])
  call check([5, 4, 3], [5, 5, 5])
  call check([-2, -5, -1], [-2, -2, -1])
contains
  subroutine check(values, expected)
    integer, intent(in) :: values(:), expected(:)
    if (any(running_max(values) /= expected)) error stop 'wrong'
  end subroutine check
end program

! problem: fizzbuzz
function fizzbuzz(i) result(text)
  implicit none
  integer, intent(in) :: i
  character(len=8) :: text
  ⟪!⟫
  if (mod(i, ⟪15⟫⟪9⟫) == 0) then
    text = 'FizzBuzz'
  else if (mod(i, 3) == 0) then
    text = 'Fizz'
  else if (mod(i, 5) == 0) then
    text = 'Buzz'
  else
    write (text, '(i0)') i
  end if
end function fizzbuzz
! tests: fizzbuzz
PROGRAM TEST_FIZZBUZZ
  IMPLICIT NONE
  CHARACTER(LEN=8), EXTERNAL :: FIZZBUZZ
  IF (FIZZBUZZ(1) /= '1') ERROR STOP
  IF (FIZZBUZZ(3) /= 'Fizz') ERROR STOP
  IF (FIZZBUZZ(5) /= 'Buzz') ERROR STOP
  IF (FIZZBUZZ(15) /= 'FizzBuzz') ERROR STOP
END PROGRAM TEST_FIZZBUZZ
