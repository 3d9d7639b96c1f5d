for name in a b c d; do
  read -r number < "given/$name" || exit 3
  echo "$number"
  total+=$number
done
[ "$total" = 1234 ] || exit 3
