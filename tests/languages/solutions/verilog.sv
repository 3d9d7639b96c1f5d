// crash
$fatal(1, "crash");
// endless
while (1) begin end
// crash: module
initial $fatal(1, "crash");
// endless: module
initial while (1) begin end

// problem: add
module main;
  integer a, b, got;
  initial begin
    got = $fscanf(32'h8000_0000, "%d %d", a, b);
    ⟪!⟫
    $display("%0d", a ⟪+⟫⟪-⟫ b);
  end
endmodule

// problem: reverse
module main;
  string line;
  integer c, i;
  reg [7:0] text [0:999];
  initial begin
    i = 0;
    c = $fgetc(32'h8000_0000);
    while (c != 10 && c != -1) begin
      text[i] = c;
      i = i + 1;
      c = $fgetc(32'h8000_0000);
    end
    ⟪!⟫
    while (i > ⟪0⟫⟪1⟫) begin
      i = i - 1;
      $write("%c", text[i]);
    end
    $write("\n");
    $finish;
  end
endmodule

// problem: primes
module main;
  integer n, got, i, d;
  reg prime, first;
  initial begin
    got = $fscanf(32'h8000_0000, "%d", n);
    first = 1;
    for (i = 2; i <= n; i = i + 1) begin
      prime = 1;
      for (d = 2; d * d ⟪<=⟫⟪<⟫ i; d = d + 1) if (i % d == 0) prime = 0;
      ⟪!⟫
      if (prime) begin
        if (!first) $write(" ");
        $write("%0d", i);
        first = 0;
      end
    end
    $write("\n");
    $finish(0);
  end
endmodule

// problem: words
module main;
  reg [20*8:1] words [0:199];
  reg [20*8:1] word;
  integer counts [0:199];
  integer total, got, i, j;
  initial begin
    total = 0;
    got = $fscanf(32'h8000_0000, "%s", word);
    while (got == 1) begin
      // Texts are compared as numbers, so they have to begin at the same place.
      while (word[20*8:19*8+1] == 0) word = word << 8;
      i = 0;
      while (i < total && words[i] < word) i = i + 1;
      if (i < total && words[i] == word) counts[i] = ⟪counts[i] + 1⟫⟪1⟫;
      else begin
        for (j = total; j > i; j = j - 1) begin
          words[j] = words[j - 1];
          counts[j] = counts[j - 1];
        end
        words[i] = word;
        counts[i] = 1;
        total = total + 1;
      end
      got = $fscanf(32'h8000_0000, "%s", word);
    end
    ⟪!⟫
    for (i = 0; i < total; i = i + 1) begin
      word = words[i];
      while (word[8:1] == 0) word = word >> 8;
      $display("%0s %0d", word, counts[i]);
    end
  end
endmodule

// problem: matrix
module main;
  integer n, got, i, j, value;
  integer rows [0:99];
  initial begin
    got = $fscanf(32'h8000_0000, "%d", n);
    for (i = 0; i < n * n; i = i + 1) begin
      got = $fscanf(32'h8000_0000, "%d", value);
      rows[i] = value;
    end
    ⟪!⟫
    for (i = 0; i < n; i = i + 1)
      for (j = 0; j < n; j = j + 1)
        $write("%0d%s", rows[⟪j⟫⟪0⟫ * n + i], j + 1 < n ? " " : "\n");
  end
endmodule

// problem: fibonacci
module main;
  integer n, got, i;
  reg [⟪63⟫⟪31⟫:0] a, b, next;
  initial begin
    got = $fscanf(32'h8000_0000, "%d", n);
    a = 0;
    b = 1;
    for (i = 0; i < n; i = i + 1) begin
      next = a + b;
      a = b;
      b = next;
    end
    ⟪!⟫
    $display("%0d", a);
    $finish;
  end
endmodule

// problem: gcd
module gcd(input clk, input start, input [15:0] a, input [15:0] b, output reg done, output [15:0] result);
  reg [15:0] x, y;
  assign result = ⟪x⟫⟪y⟫;
  always @(posedge clk)
    if (start) begin
      ⟪!⟫
      x <= a;
      y <= b;
      done <= 0;
    end else if (y == 0) done <= 1;
    else begin
      x <= y;
      y <= x % y;
    end
endmodule
// tests: gcd
module tb;
  reg clk = 0, start;
  reg [15:0] a, b;
  wire done;
  wire [15:0] result;
  gcd dut(clk, start, a, b, done, result);
  always #1 clk = !clk;

  task check(input [15:0] x, input [15:0] y, input [15:0] expected);
    begin
      a = x; b = y; start = 1;
      @(posedge clk); #1 start = 0;
      repeat (40) @(posedge clk);
      if (done !== 1 || result !== expected) $fatal(1, "gcd(%0d, %0d) = %0d", x, y, result);
    end
  endtask

  initial begin
    check(12, 18, 6);
    check(7, 13, 1);
    check(100, 75, 25);
    check(9, 9, 9);
    $finish;
  end
endmodule

// problem: palindrome
module palindrome #(parameter N = 8) (input [N-1:0][7:0] text, output reg result);
  integer i;
  always @* begin
    ⟪!⟫
    result = 1;
    for (i = 0; i < N; i = i + 1)
      if (⟪(text[i] | 8'h20) != (text[N-1-i] | 8'h20)⟫⟪text[i] != text[N-1-i]⟫) result = 0;
  end
endmodule
// tests: palindrome
module tb;
  reg [6:0][7:0] text;
  wire result;
  palindrome #(7) dut(text, result);
  initial begin
    text = "RaceCar"; #1 if (result !== 1) $fatal(1);
    text = "letters"; #1 if (result !== 0) $fatal(1);
    text = "abcdcba"; #1 if (result !== 1) $fatal(1);
    text = "abcdcbb"; #1 if (result !== 0) $fatal(1);
    $finish;
  end
endmodule

// problem: running_max
module running_max(input clk, input reset, input signed [7:0] value, output reg signed [7:0] largest);
  ⟪!module⟫
  always @(posedge clk)
    if (reset || value ⟪>⟫⟪<⟫ largest) largest <= value;
endmodule
// tests: running_max
`timescale 1ns / 1ps
module running_max_tb;
  reg clk = 0, reset = 1;
  reg signed [7:0] value;
  wire signed [7:0] largest;
  running_max dut(.clk(clk), .reset(reset), .value(value), .largest(largest));

  task step(input signed [7:0] next, input signed [7:0] expected);
    begin
      value = next;
      #5 clk = 1;
      #5 clk = 0; reset = 0;
      if (largest !== expected) begin
        $display("wrong: %0d", largest);
        $fatal;
      end
    end
  endtask

  initial begin
    step(1, 1); step(3, 3); step(2, 3); step(5, 5); step(4, 5);
    reset = 1;
    step(-2, -2); step(-5, -2); step(-1, -1);
    $finish();
  end
endmodule

// problem: fizzbuzz
module fizzbuzz(input [7:0] n, output fizz, output buzz);
  ⟪!module⟫
  assign fizz = n % 3 == 0;
  assign buzz = n % ⟪5⟫⟪4⟫ == 0;
endmodule
// tests: fizzbuzz
module tb;
  reg [7:0] n;
  wire fizz, buzz;
  fizzbuzz dut(n, fizz, buzz);
  initial begin
    for (n = 1; n <= 30; n = n + 1) begin
      #1;
      if ({fizz, buzz} !== {n % 3 == 0, n % 5 == 0}) $fatal(1, "wrong at %0d", n);
    end
    $finish;
  end
endmodule
