my $wanted = 0;
for my $name (qw(a b c d)) {
  open(my $file, '<', "given/$name") or die "$name: $!";
  my $number = int(<$file>);
  die $number if $number != ++$wanted;
  print "$number\n";
}
