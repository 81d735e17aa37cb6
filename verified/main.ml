(* Reads the text that `tools/check_proof.py --core` writes, asks the extracted program, and prints its answer.
   What the words of the text mean is said in README.md. *)
module Integer = Z
open Core

let word () = Scanf.scanf " %s" (fun word -> word)
let integer () = Integer.of_string (word ())
let number () = int_of_string (word ())
let above_zero () = let k = integer () in if Integer.sign k > 0 then k else failwith "a denominator or grain is not above 0"
let fraction () = let above = integer () in let below = above_zero () in { qnum = above; qden = below }
let list n entry = List.init n (fun _ -> entry ())
let keyword expected = let found = word () in if found <> expected then failwith ("'" ^ found ^ "' stands where '" ^ expected ^ "' is due")

let question () =
  keyword "question";
  let n = number () in
  let p = number () in
  let max_features = integer () in
  let squared = match word () with "hinge" -> false | "squared-hinge" -> true | other -> failwith ("'" ^ other ^ "' is no loss") in
  let scale = fraction () in
  let labels = list n integer in
  let costs = list n fraction in
  let prices = list p fraction in
  let columns = list p (fun () -> list n integer) in
  { columns; labels; costs; prices; scale; max_features; squared }

let point n =
  let step = fraction () in
  let grain = above_zero () in
  { multiples = list n integer; step; grain }

let feature p = let j = number () in if 0 <= j && j < p then j else failwith "a feature that is not there"

let rec tree p points =
  match word () with
  | "close" ->
    let at = points.(number ()) in
    Close (at, integer ())
  | "split" ->
    let j = feature p in
    let with_j = tree p points in
    Split (j, with_j, tree p points)
  | "drop" ->
    let at = points.(number ()) in
    let price = integer () in
    let gap = integer () in
    Drop (at, price, gap, tree p points)
  | "fix" ->
    let at = points.(number ()) in
    let size = number () in
    let fixed = list size (fun () -> let j = feature p in let put_in = number () = 1 in ((j, put_in), integer ())) in
    Fix (at, fixed, tree p points)
  | other -> failwith ("'" ^ other ^ "' is no record")

let shown q = Printf.sprintf "%.12g (%s / %s)" (Q.to_float (Q.make q.qnum q.qden)) (Integer.to_string q.qnum) (Integer.to_string q.qden)

let answer () =
  let question = question () in
  let n = List.length question.labels and p = List.length question.columns in
  keyword "claimed";
  let claimed = fraction () in
  keyword "points";
  let size = number () in
  let points = Array.of_list (list size (fun () -> point n)) in
  keyword "tree";
  let tree = tree p points in
  keyword "end";
  if word () <> "" then failwith "something follows the end";
  let found = check question [] tree in
  let verified = reaches found claimed in
  (match found with
   | None -> print_endline "NOT VERIFIED  a dual point is not feasible"
   | Some _ when not verified -> print_endline "NOT VERIFIED  the bound proven is below the one claimed"
   | Some None -> print_endline "VERIFIED  no subset is allowed"
   | Some (Some _) ->
     Printf.printf "VERIFIED  no classifier on at most %s of %d features has an objective below the bound\n" (Integer.to_string question.max_features) p);
  Printf.printf "claimed    %s\n" (shown claimed);
  (match found with Some (Some bound) -> Printf.printf "proven     %s\n" (shown bound) | _ -> ());
  if verified then 0 else 1

let () =
  match answer () with
  | code -> exit code
  | exception (Failure reason | Invalid_argument reason | Scanf.Scan_failure reason) -> prerr_endline ("cannot be read: " ^ reason); exit 2
  | exception End_of_file -> prerr_endline "cannot be read: the text ends early"; exit 2
