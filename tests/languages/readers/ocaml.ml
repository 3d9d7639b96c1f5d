let () =
  List.iteri
    (fun i name ->
      let file = open_in ("given/" ^ name) in
      let number = int_of_string (String.trim (input_line file)) in
      if number <> i + 1 then failwith "another number";
      Printf.printf "%d\n" number)
    [ "a"; "b"; "c"; "d" ]
