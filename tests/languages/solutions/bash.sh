# crash
exit 3
# endless
while :; do :; done

# problem: add
read -r a b
⟪!⟫
echo $((a ⟪+⟫⟪-⟫ b))

# problem: reverse
IFS= read -r line
⟪!⟫
for ((i = ${#line} - 1; i >= ⟪0⟫⟪1⟫; i--)); do
  printf '%s' "${line:i:1}"
done
echo

# problem: primes
read -r n
primes=()
for ((i = 2; i <= n; i++)); do
  prime=1
  for ((j = 2; j * j ⟪<=⟫⟪<⟫ i; j++)); do
    ((i % j == 0)) && prime=0
  done
  ⟪!⟫
  ((prime)) && primes+=("$i")
done
echo "${primes[*]}"

# problem: words
declare -A counts
while read -ra words; do
  for word in "${words[@]}"; do
    counts[$word]=$((${counts[$word]:-0} + ⟪1⟫⟪2⟫))
  done
done
⟪!⟫
for word in "${!counts[@]}"; do
  echo "$word ${counts[$word]}"
done | sort

# problem: matrix
read -r n
columns=()
for ((i = 0; i < n; i++)); do
  read -ra row
  ⟪!⟫
  for ((j = 0; j < n; j++)); do
    columns[j]+="${columns[j]:+ }${row[⟪j⟫⟪0⟫]}"
  done
done
printf '%s\n' "${columns[@]}"

# problem: fibonacci
read -r n
a=0 b=⟪1⟫⟪2⟫
⟪!⟫
while ((n-- > 0)); do
  ((next = a + b, a = b, b = next))
done
echo "$a"

# problem: gcd
gcd() {
  local a=$1 b=$2
  ⟪!⟫
  while ((b != 0)); do
    ((rest = a % b, a = b, b = rest)) || true
  done
  echo "⟪$a⟫⟪$b⟫"
}
# tests: gcd
candidate() {
  gcd "$@"
}
set -e
run_test() {
  [[ $(candidate 12 18) = "6" ]]
  [[ $(candidate 7 13) = "1" ]]
  [[ $(candidate 100 75) = "25" ]]
  [[ $(candidate 9 9) = "9" ]]
}
run_test

# problem: palindrome
is_palindrome() {
  local text=${1⟪,,⟫⟪⟫} i
  text=${text//[^a-zA-Z]/}
  ⟪!⟫
  for ((i = 0; i < ${#text} / 2; i++)); do
    [[ ${text:i:1} == "${text: -1-i:1}" ]] || { echo false; return; }
  done
  echo true
}
# tests: palindrome
set -e
[[ $(is_palindrome "A man, a plan, a canal: Panama!") == true ]]
[[ $(is_palindrome "Hello") == false ]]
[[ $(is_palindrome "x") == true ]]
[[ $(is_palindrome "No 'x' in Nixon") == true ]]
[[ $(is_palindrome "ab") == false ]]

# problem: running_max
running_max() {
  local result=() value largest=$1
  for value in "$@"; do
    ⟪!⟫
    ((value ⟪>⟫⟪<⟫ largest)) && largest=$value
    result+=("$largest")
  done
  echo "${result[*]}"
}
# tests: running_max
check() {
  local expected=$1
  shift
  if [ "$(running_max "$@")" != "$expected" ]; then
    exit 1
  fi
}
check "1 3 3 5 5" 1 3 2 5 4
check "-3" -3
check "5 5 5" 5 4 3
check "-2 -2 -1" -2 -5 -1

# problem: fizzbuzz
fizzbuzz() {
  local i
  for ((i = 1; i <= $1; i++)); do
    ⟪!⟫
    if ((i % ⟪15⟫⟪9⟫ == 0)); then echo FizzBuzz
    elif ((i % 3 == 0)); then echo Fizz
    elif ((i % 5 == 0)); then echo Buzz
    else echo "$i"
    fi
  done
}
# tests: fizzbuzz
mapfile -t texts < <(fizzbuzz 15)
[ "${#texts[@]}" -eq 15 ] || exit 1
[ "${texts[0]}" = 1 ] || exit 1
[ "${texts[2]}" = Fizz ] || exit 1
[ "${texts[4]}" = Buzz ] || exit 1
[ "${texts[14]}" = FizzBuzz ] || exit 1
