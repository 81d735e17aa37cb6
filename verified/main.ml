(* Reads the text that `tools/check_proof.py --core` writes, asks the extracted program, and prints its answer.
   What the words of the text mean is said in README.md. *)
module Integer = Z
open Core

let word () = Scanf.scanf " %s" (fun word -> word)
let integer () = Integer.of_string (word ())
let number () = let k = int_of_string (word ()) in if k >= 0 then k else failwith "a number is below 0"
let above_zero () = let k = integer () in if Integer.sign k > 0 then k else failwith "a denominator, a grain or a divisor is not above 0"
let fraction () = let above = integer () in let below = above_zero () in { qnum = above; qden = below }
let list n entry = List.init n (fun _ -> entry ())
let keyword expected = let found = word () in if found <> expected then failwith ("'" ^ found ^ "' stands where '" ^ expected ^ "' is due")
let counted name = keyword name; number ()
let feature p = let j = number () in if 0 <= j && j < p then j else failwith "a feature that is not there"

(* A list with an entry for each feature, of which the text has those that are not `usual`. *)
let spread p usual entry =
  let all = Array.make p usual in
  for _ = 1 to number () do let j = feature p in all.(j) <- entry () done;
  Array.to_list all

let limit () = match word () with "none" -> None | "at" -> Some (fraction ()) | other -> failwith ("'" ^ other ^ "' is no limit")

let question () =
  let p = counted "question" in
  let l1 = match word () with "ridge" -> false | "l1" -> true | other -> failwith ("'" ^ other ^ "' is no gain") in
  let squared = match word () with "hinge" -> false | "squared-hinge" -> true | other -> failwith ("'" ^ other ^ "' is no loss") in
  let bias = match word () with
    | "free" -> Free_bias | "none" -> No_bias | "penalised" -> Penalised (fraction ()) | other -> failwith ("'" ^ other ^ "' is no bias") in
  let scale = fraction () in
  let prices = list p fraction in
  keyword "limits";
  let limits = spread p (None, None) (fun () -> let low = limit () in (low, limit ())) in
  let rows = list (counted "rows") (fun () -> let right = integer () in { terms = spread p Integer.zero integer; right }) in
  let problems = list (counted "problems") (fun () ->
    let n = number () in
    let labels = list n integer in
    let costs = list n fraction in
    { columns = list p (fun () -> list n integer); labels; costs }) in
  { problems; scale; l1; squared; bias; prices; limits; rows }

(* A listed subset, with a grain and with 1 in its unit of scores. *)
let listing p sizes () =
  let grain = above_zero () in
  let one = integer () in
  let unit_of_weights = fraction () in
  let stated = fraction () in
  let own = fraction () in
  let features = list (number ()) (fun () -> feature p) in
  let fits = List.map (fun _ ->
    let weights = Array.make p Integer.zero in
    List.iter (fun j -> weights.(j) <- integer ()) features;
    (Array.to_list weights, integer ())) sizes in
  let chosen = Array.make p false in
  List.iter (fun j -> chosen.(j) <- true) features;
  let weights, offsets = List.split fits in
  ((grain, one), { chosen = Array.to_list chosen; weights; offsets; unit_of_weights; stated; own })

let point sizes =
  let step = fraction () in
  let grain = above_zero () in
  let row_prices = list (number ()) (fun () -> let r = number () in (r, fraction ())) in
  { multiples = List.map (fun n -> list n integer) sizes; row_prices; step; grain }

let rec tree p =
  match word () with
  | "at" -> let k = number () in At (k, tree p)
  | "close" -> Close (integer ())
  | "alone" -> Alone (number ())
  | "empty" -> Empty (number ())
  | "split" ->
    let j = feature p in
    let in_first = number () = 1 in
    let first = tree p in
    let second = tree p in
    if in_first then Split (j, first, second) else Split (j, second, first)
  | "propagate" -> let r = number () in Propagate (r, tree p)
  | "size" ->
    let r = number () in
    let u = integer () in
    let v = above_zero () in
    Size (r, u, v, tree p)
  | "drop" ->
    let price = integer () in
    let gap = integer () in
    Drop (price, gap, tree p)
  | "tighten" ->
    let items = list (number ()) (fun () -> let j = feature p in let u = fraction () in ((j, u), integer ())) in
    Tighten (items, tree p)
  | "fix" ->
    let fixed = list (number ()) (fun () -> let j = feature p in let put_in = number () = 1 in ((j, put_in), integer ())) in
    Fix (fixed, tree p)
  | other -> failwith ("'" ^ other ^ "' is no record")

let shown q = Printf.sprintf "%.12g (%s / %s)" (Q.to_float (Q.make q.qnum q.qden)) (Integer.to_string q.qnum) (Integer.to_string q.qden)

let answer () =
  let question = question () in
  let p = List.length question.prices and sizes = List.map (fun problem -> List.length problem.labels) question.problems in
  keyword "claimed";
  let claimed = fraction () in
  let listed = list (counted "listed") (listing p sizes) in
  let points = list (counted "points") (fun () -> point sizes) in
  keyword "tree";
  let tree = tree p in
  keyword "end";
  if word () <> "" then failwith "something follows the end";
  let found = found question points listed tree in
  let verified = reaches found claimed in
  let other = if listed = [] then "" else "other " in
  (match found with
   | None -> print_endline "NOT VERIFIED  a dual point is not feasible, a listed subset is not as stated, or a record does not hold"
   | Some _ when not verified -> print_endline "NOT VERIFIED  the bound proven is below the one claimed"
   | Some None -> Printf.printf "VERIFIED  no %ssubset of %d features keeps all rows\n" other p
   | Some (Some _) -> Printf.printf "VERIFIED  no classifier on any %ssubset of %d features that keeps all rows has an objective below the bound\n" other p);
  Printf.printf "claimed    %s\n" (shown claimed);
  (match found with Some (Some bound) -> Printf.printf "proven     %s\n" (shown bound) | _ -> ());
  let print_listed (_, l) = Printf.printf "listed     objective at most %s\nown        %s\n" (shown l.stated) (shown l.own) in
  if found <> None then List.iter print_listed listed;
  if verified then 0 else 1

let () =
  match answer () with
  | code -> exit code
  | exception (Failure reason | Invalid_argument reason | Scanf.Scan_failure reason) -> prerr_endline ("cannot be read: " ^ reason); exit 2
  | exception End_of_file -> prerr_endline "cannot be read: the text ends early"; exit 2
