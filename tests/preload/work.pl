use strict; use warnings;
my (%h, @a); my $x = 1;
for my $i (1 .. 200000) {
    $x = ($x * 1103515245 + 12345) % 2147483648;
    push @{ $h{ $x % 5000 } }, "s" x ($x % 60);
    $a[ $i % 1000 ] .= chr(97 + $x % 26);
}
my $n = 0;
for my $k (sort { $a <=> $b } keys %h) { $n += length join ",", @{ $h{$k} } }
my $t = join "", map { s/a+/A/gr } @a;
print "$n ", length($t), " ", unpack("%32C*", $t), "\n";
