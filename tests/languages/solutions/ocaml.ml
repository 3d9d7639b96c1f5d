(* crash *)
failwith "crash";
(* endless *)
while true do () done;
(* crash: let *)
let () = failwith "crash" in
(* endless: let *)
let () = while true do () done in

(* problem: add *)
let () =
  Scanf.scanf " %d %d" (fun a b ->
      ⟪!⟫
      Printf.printf "%d\n" (a ⟪+⟫⟪-⟫ b))

(* problem: reverse *)
let () =
  let line = read_line () in
  let n = String.length line in
  ⟪!⟫
  print_endline (String.init n (fun i -> line.[⟪n - 1 - i⟫⟪0⟫]))

(* problem: primes *)
let rec is_prime i d = d * d ⟪>⟫⟪>=⟫ i || (i mod d <> 0 && is_prime i (d + 1))

let () =
  let n = read_int () in
  ⟪!⟫
  List.init (n - 1) (fun i -> i + 2)
  |> List.filter (fun i -> is_prime i 2)
  |> List.map string_of_int |> String.concat " " |> print_endline

(* problem: words *)
module Words = Map.Make (String)

let rec count words =
  match read_line () with
  | line ->
      let add counts word =
        if word = "" then counts
        else Words.update word (fun n -> Some (Option.value n ~default:0 + 1)) counts
      in
      count (List.fold_left add ⟪words⟫⟪Words.empty⟫ (String.split_on_char ' ' line))
  | exception End_of_file -> words

let () =
  let counts = count Words.empty in
  ⟪!⟫
  Words.iter (Printf.printf "%s %d\n") counts

(* problem: matrix *)
let () =
  let n = Scanf.scanf " %d" Fun.id in
  let rows = Array.init n (fun _ -> Array.init n (fun _ -> Scanf.scanf " %d" Fun.id)) in
  ⟪!⟫
  for i = 0 to n - 1 do
    let column = Array.init n (fun j -> string_of_int rows.(⟪j⟫⟪0⟫).(i)) in
    print_endline (String.concat " " (Array.to_list column))
  done

(* problem: fibonacci *)
let rec fibonacci n a b = if n = 0 then a else fibonacci (n - 1) b (a + b)

let () =
  let n = read_int () in
  ⟪!⟫
  Printf.printf "%d\n" (fibonacci n 0 ⟪1⟫⟪2⟫)

(* problem: gcd *)
let rec gcd a b =
  ⟪!let⟫
  if b = 0 then ⟪a⟫⟪b⟫ else gcd b (a mod b)
(* tests: gcd *)
let assertions =
  let candidate = gcd in
  assert (candidate 12 18 = 6);
  assert (candidate 7 13 = 1);
  assert (candidate 100 75 = 25);
  assert (candidate 9 9 = 9);
  ()

(* problem: palindrome *)
let is_palindrome text =
  let letters =
    String.to_seq text
    |> Seq.map ⟪Char.lowercase_ascii⟫⟪Fun.id⟫
    |> Seq.filter (fun c -> (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
    |> List.of_seq
  in
  ⟪!⟫
  letters = List.rev letters
(* tests: palindrome *)
let () =
  assert (is_palindrome "A man, a plan, a canal: Panama!");
  assert (not (is_palindrome "Hello"));
  assert (is_palindrome "x");
  assert (is_palindrome "No 'x' in Nixon");
  assert (not (is_palindrome "ab"))

(* problem: running_max *)
let running_max values =
  ⟪!let⟫
  let step result value =
    match result with [] -> [ value ] | top :: _ -> ⟪max⟫⟪min⟫ top value :: result
  in
  List.rev (List.fold_left step [] values);;
(* tests: running_max *)
let check values expected = if running_max values <> expected then exit 1

let () =
  check [ 1; 3; 2; 5; 4 ] [ 1; 3; 3; 5; 5 ];
  check [ -3 ] [ -3 ];
  check [ 5; 4; 3 ] [ 5; 5; 5 ];
  check [ -2; -5; -1 ] [ -2; -2; -1 ]

(* problem: fizzbuzz *)
let fizzbuzz n =
  List.init n (fun i ->
      ⟪!⟫
      match ((i + 1) mod 3, (i + 1) mod ⟪5⟫⟪4⟫) with
      | 0, 0 -> "FizzBuzz"
      | 0, _ -> "Fizz"
      | _, 0 -> "Buzz"
      | _ -> string_of_int (i + 1))
(* tests: fizzbuzz *)
let texts = fizzbuzz 15

let () =
  if List.length texts <> 15 then failwith "length";
  if List.nth texts 0 <> "1" then failwith "1";
  if List.nth texts 2 <> "Fizz" then failwith "3";
  if List.nth texts 4 <> "Buzz" then failwith "5";
  if List.nth texts 14 <> "FizzBuzz" then failwith "15"
