# crash
die "crash";
# endless
1 while 1;

# problem: add
my ($a, $b) = split ' ', <STDIN>;
⟪!⟫
print $a ⟪+⟫⟪-⟫ $b, "\n";

# problem: reverse
my $line = <STDIN>;
chomp $line;
⟪!⟫
print scalar reverse(⟪$line⟫⟪lc substr($line, 1)⟫), "\n";

# problem: primes
use strict;
use warnings;

my $n = <STDIN>;
my @primes;
for my $i (2 .. $n) {
    ⟪!⟫
    push @primes, $i unless grep { $i % $_ == 0 } 2 .. ⟪sqrt $i⟫⟪sqrt($i) - 1⟫;
}
print "@primes\n";

# problem: words
use strict;
use warnings;

my %counts;
while (my $line = <>) {
    ⟪!⟫
    $counts{$_}⟪++⟫⟪ = 1⟫ for split ' ', $line;
}
print "$_ $counts{$_}\n" for sort keys %counts;

# problem: matrix
my $n = <STDIN>;
my @rows = map { [split ' ', scalar <STDIN>] } 1 .. $n;
⟪!⟫
for my $i (0 .. $n - 1) {
    print join(' ', map { $rows[⟪$_⟫⟪0⟫][$i] } 0 .. $n - 1), "\n";
}

# problem: fibonacci
use integer;
my $n = <STDIN>;
my ($a, $b) = (0, 1);
($a, $b) = ($b, ⟪$a + $b⟫⟪$a ^ $b⟫) for 1 .. $n;
⟪!⟫
print "$a\n";

# problem: gcd
use strict;
use warnings;

sub gcd {
    my ($a, $b) = @_;
    ⟪!⟫
    ($a, $b) = ($b, $a % $b) while $b;
    return ⟪$a⟫⟪$b⟫;
}
# tests: gcd
use Test::Deep;

sub testhumaneval {
    my $candidate = \&gcd;
    if (eq_deeply($candidate->(12, 18), 6)) { print "ok!" } else { exit 1; }
    if (eq_deeply($candidate->(7, 13), 1)) { print "ok!" } else { exit 1; }
    if (eq_deeply($candidate->(100, 75), 25)) { print "ok!" } else { exit 1; }
    if (eq_deeply($candidate->(9, 9), 9)) { print "ok!" } else { exit 1; }
}

testhumaneval();

# problem: palindrome
sub is_palindrome {
    my $text = ⟪lc⟫⟪⟫(shift);
    $text =~ tr/a-zA-Z//cd;
    ⟪!⟫
    return $text eq reverse $text;
}
# tests: palindrome
is_palindrome("A man, a plan, a canal: Panama!") or die;
!is_palindrome("Hello") or die;
is_palindrome("x") or die;
is_palindrome("No 'x' in Nixon") or die;
!is_palindrome("ab") or die;

# problem: running_max
use List::Util qw(max min);

sub running_max {
    my ($values) = @_;
    my @result;
    for my $value (@$values) {
        ⟪!⟫
        push @result, ⟪max⟫⟪min⟫($value, @result ? $result[-1] : ());
    }
    return \@result;
}
# tests: running_max
use Test::More tests => 4;

is_deeply(running_max([1, 3, 2, 5, 4]), [1, 3, 3, 5, 5]) or exit 1;
is_deeply(running_max([-3]), [-3]) or exit 1;
is_deeply(running_max([5, 4, 3]), [5, 5, 5]) or exit 1;
is_deeply(running_max([-2, -5, -1]), [-2, -2, -1]) or exit 1;

# problem: fizzbuzz
sub fizzbuzz {
    my ($n) = @_;
    ⟪!⟫
    return [map { $_ % ⟪15⟫⟪9⟫ == 0 ? "FizzBuzz" : $_ % 3 == 0 ? "Fizz" : $_ % 5 == 0 ? "Buzz" : "$_" } 1 .. $n];
}
# tests: fizzbuzz
my $texts = fizzbuzz(15);
die unless @$texts == 15;
die unless $texts->[0] eq "1";
die unless $texts->[2] eq "Fizz";
die unless $texts->[4] eq "Buzz";
die unless $texts->[14] eq "FizzBuzz";
