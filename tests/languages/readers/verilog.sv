module main;
  integer file, got, number, i;
  string name;
  initial begin
    for (i = 1; i <= 4; i = i + 1) begin
      name = "given/a";
      case (i)
        2: name = "given/b";
        3: name = "given/c";
        4: name = "given/d";
      endcase
      file = $fopen(name, "r");
      got = $fscanf(file, "%d", number);
      if (number !== i) $fatal(1, "another number");
      $display("%0d", number);
    end
    $finish;
  end
endmodule
