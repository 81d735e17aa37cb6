(* The question, in integers and fractions and as real numbers, and the checker, a program on integers and fractions.
   Checker.v proves what it accepts; Extract.v makes the program that runs. *)
From Coq Require Import Reals ZArith QArith Qreals Qminmax Qround List Bool Arith.
Require Import Duality.
Import ListNotations.

Arguments Qmin : simpl never.
Arguments Qmax : simpl never.
Arguments Qopp : simpl never.
Arguments Qplus : simpl never.
Arguments Qminus : simpl never.
Arguments Qmult : simpl never.
Arguments Qdiv : simpl never.
Arguments Qfloor : simpl never.
Arguments Qceiling : simpl never.
Arguments Z.sub : simpl never.
Arguments Z.min : simpl never.
Arguments Z.max : simpl never.
Arguments Z.div : simpl never.

(* ---- The question, in numbers that a computer holds exactly ---- *)

(* The samples of one problem: columns by feature, as integers that count `scale`s; labels; costs C_i. *)
Record problem := { columns : list (list Z); labels : list Z; costs : list Q }.
(* A rule: the terms of the features that are in add up to at most `right`. *)
Record row := { terms : list Z; right : Z }.
(* Problems share their features, which have prices lambda_j, and their weights limits (None is no limit). *)
Record data := {
  problems : list problem; scale : Q; l1 : bool; squared : bool; bias : biases; prices : list Q; limits : list (option Q * option Q); rows : list row }.
Definition n (q : problem) := length (labels q).
Definition p D := length (prices D).
Definition no_problem := {| columns := []; labels := []; costs := [] |}.
Definition no_row := {| terms := []; right := 0 |}.

(* The same numbers as real ones. *)
Open Scope R_scope.
Definition real_x D q i j := IZR (nth i (nth j (columns q) []) 0%Z) * Q2R (scale D).
Definition real_label q i := IZR (nth i (labels q) 0%Z).
Definition real_cost q i := Q2R (nth i (costs q) 0%Q).
Definition real_price D j := Q2R (nth j (prices D) 0%Q).

(* A subset is allowed if it keeps all rows. *)
Definition row_sum (z : nat -> bool) (a : list Z) := sum (fun j => if z j then IZR (nth j a 0%Z) else 0) (length a).
Definition allowed D z := forall r, In r (rows D) -> row_sum z (terms r) <= IZR (right r).

(* The objective of subset z, with weights w t and bias b t in problem t. *)
Definition fit_of D q := fit (n q) (p D) (real_x D q) (real_label q) (real_cost q) (l1 D) (squared D) (bias D).
Definition objective D (z : nat -> bool) (w : nat -> nat -> R) (b : nat -> R) :=
  sum (fun t => fit_of D (nth t (problems D) no_problem) (w t) (b t)) (length (problems D))
  + sum (fun j => if z j then real_price D j else 0) (p D).

(* Weights stand only at features that are in, and within their limits; the bias is one that may be. *)
Definition within (limit : option Q * option Q) (w : R) :=
  match fst limit with Some low => Q2R low <= w | None => True end /\
  match snd limit with Some high => w <= Q2R high | None => True end.
Definition weights_at D (z : nat -> bool) (w : nat -> R) (b : R) :=
  bias_allowed (bias D) b /\
  forall j, (j < p D)%nat -> (z j = false -> w j = 0) /\ within (nth j (limits D) (None, None)) (w j).
Definition classifier_at D z (w : nat -> nat -> R) (b : nat -> R) :=
  forall t, (t < length (problems D))%nat -> weights_at D z (w t) (b t).

(* ---- Listed subsets ---- *)

(* A subset with a classifier on it: weights of a problem are multiples of `unit_of_weights`, and its bias one of that times
   the scale of the data. Its objective is at most `stated`; no classifier on the same subset is below `own`. *)
Record listing := {
  chosen : list bool; weights : list (list Z); offsets : list Z; unit_of_weights : Q; stated : Q; own : Q }.
Definition subset l (j : nat) := nth j (chosen l) false.
Definition weights_of l t j := IZR (nth j (nth t (weights l) []) 0%Z) * Q2R (unit_of_weights l).
Definition offset_of D l t := IZR (nth t (offsets l) 0%Z) * (Q2R (unit_of_weights l) * Q2R (scale D)).
Definition same_subset D (z z' : nat -> bool) := forall j, (j < p D)%nat -> z j = z' j.

(* ---- The proof: a tree of boxes ---- *)

(* A dual point: alpha_i of a problem is its `multiples`_i times `step`; prices of some rows. Values of features are
   rounded down to multiples of 1 / `grain`. *)
Record point := { multiples : list (list Z); row_prices : list (nat * Q); step : Q; grain : positive }.

(* A box is what was decided of each feature; features beyond the end of the list are free. *)
Inductive choice := Free | In | Out.

(* The integer of `Close` and of each part of `Fix` is the price of a place, in 1 / grain of the point. *)
Inductive tree :=
| At (k : nat) (t : tree)                                     (* the bounds that follow are those at point k *)
| Close (price : Z)                                           (* the bound holds for all of the box *)
| Alone (k : nat)                                             (* the box holds listed subset k and no other *)
| Empty (r : nat)                                             (* row r leaves no subset in the box *)
| Split (j : nat) (with_j without_j : tree)                   (* two boxes: feature j in, feature j out *)
| Propagate (r : nat) (t : tree)                              (* what row r says of single features is decided *)
| Size (r : nat) (u : Z) (v : positive) (t : tree)            (* row r, times u / v, says how many features there are room for *)
| Drop (price gap : Z) (t : tree)                             (* free features whose value is at least price + gap are put
                                                                out, all in one step: with one of them in, the bound
                                                                is higher by the gap *)
| Tighten (items : list (nat * Q * Z)) (t : tree)             (* with gain l1 each feature with a weight that is larger in
                                                                size than the fraction is closed, and the tree goes on
                                                                with weights of at most that *)
| Fix (fixed : list (nat * bool * Z)) (t : tree).             (* one feature after the other: the box with the other
                                                                decision is closed, and the tree goes on with this one *)

(* ---- The program: what a point says of all features ---- *)

Open Scope Z_scope.
Fixpoint total (a : list Z) : Z := match a with x :: a => x + total a | [] => 0 end.
Fixpoint products (a b : list Z) : list Z := match a, b with x :: a, y :: b => x * y :: products a b | _, _ => [] end.
(* Integers of two parts, the upper one a multiple of `base`: products of parts are small enough for a register of the computer. *)
Definition halves (base x : Z) : Z * Z := (x / base, x mod base).
Fixpoint largest (a : list Z) : Z := match a with x :: a => Z.max (Z.abs x) (largest a) | [] => 0 end.
Definition base_of (most : Z) : Z := 2 ^ (Z.log2 most / 2 + 1).
(* A dot product of such integers, with the sums of products so far, that passes over zeros of the first list. *)
Fixpoint dot (base base' : Z) (a b : list (Z * Z)) (upper left right lower : Z) : Z :=
  match a, b with
  | (x, x') :: a, (y, y') :: b =>
    if (x =? 0) && (x' =? 0) then dot base base' a b upper left right lower
    else dot base base' a b (upper + x * y) (left + x * y') (right + x' * y) (lower + x' * y')
  | _, _ => upper * (base * base') + left * base + right * base' + lower
  end.

(* Whether a point is feasible: 0 <= alpha_i <= C_i for the hinge, 0 <= alpha_i, and alpha_i = 0 where C_i = 0, for the
   squared hinge; for a free bias the alphas of both classes add up to the same, and for a penalised one with gain l1 to sums
   that differ by at most 1 / s. *)
Open Scope Q_scope.
Definition one_in_range (squared : bool) (step : Q) (k : Z) (cost : Q) : bool :=
  (0 <=? k)%Z && if squared then (k =? 0)%Z || negb (Qle_bool cost 0) else Qle_bool (inject_Z k * step) cost.
Fixpoint in_range squared step (ks : list Z) (costs : list Q) : bool :=
  match ks with
  | [] => true
  | k :: ks => one_in_range squared step k (hd 0 costs) && in_range squared step ks (tl costs)
  end.
Definition balanced (l1 : bool) (bias : biases) (step : Q) (betas : list Z) : bool :=
  match bias with
  | free_bias => (total betas =? 0)%Z
  | no_bias => true
  | penalised s => negb l1 || (let c := s * (inject_Z (total betas) * step) in Qle_bool c 1 && Qle_bool (- c) 1)
  end.
Definition feasible D P q ks betas : bool :=
  (length ks =? n q)%nat && in_range (squared D) (step P) ks (costs q) && balanced (l1 D) (bias D) (step P) betas.

(* What the squared hinge takes from the bound: the sum of alpha_i^2 / (4 C_i), each in 1 / grain and rounded up. *)
Definition one_lost (squared : bool) (step : Q) (grain : positive) (k : Z) (cost : Q) : Z :=
  if squared && negb (k =? 0)%Z
  then let a := inject_Z k * step in Qceiling (a * a / (inject_Z 4 * cost) * inject_Z (Zpos grain)) else 0%Z.
Fixpoint lost squared step grain (ks : list Z) (costs : list Q) : Z :=
  match ks with [] => 0%Z | k :: ks => (one_lost squared step grain k (hd 0%Q costs) + lost squared step grain ks (tl costs))%Z end.
(* What a penalised bias takes: s^2 (sum of y_i alpha_i)^2 / 2. *)
Definition bias_lost (l1 : bool) (bias : biases) (step : Q) (betas : list Z) : Q :=
  match bias with penalised s => if l1 then 0 else let c := s * (inject_Z (total betas) * step) in c * c * (1 # 2) | _ => 0 end.
Definition constant D P q ks betas : Q :=
  inject_Z (total ks) * step P - (lost (squared D) (step P) (grain P) ks (costs q) # grain P) - bias_lost (l1 D) (bias D) (step P) betas.

(* What a weight within its limits gains at most from its score: c w - w^2 / 2 for the w nearest to c. *)
Definition nearest (limit : option Q * option Q) (c : Q) : Q :=
  let c := match fst limit with Some low => if Qle_bool low c then c else low | None => c end in
  match snd limit with Some high => if Qle_bool c high then c else high | None => c end.
Definition gain (limit : option Q * option Q) (c : Q) : Q :=
  match limit with
  | (None, None) => c * c * (1 # 2)
  | _ => let w := nearest limit c in w * c - w * w * (1 # 2)
  end.
(* The worth of features, less what they gain in a problem. *)
Fixpoint less_gains unit base base' betas (limits : list (option Q * option Q)) (columns : list (list (Z * Z))) (worth : list Q) : list Q :=
  match worth with
  | [] => []
  | x :: worth =>
    x - gain (hd (None, None) limits) (inject_Z (dot base base' betas (hd [] columns) 0 0 0 0) * unit)
    :: less_gains unit base base' betas (tl limits) (tl columns) worth
  end.

(* A problem, with its columns in two parts, and the base of these. *)
Definition ready := (problem * Z * list (list (Z * Z)))%type.
Definition prepared (q : problem) : ready :=
  let base := base_of (largest (map largest (columns q))) in (q, base, map (map (halves base)) (columns q)).

(* With gain l1: what weights from u to a limit gain at most, where the gain rises by k with the weight; None is no limit of it. *)
Definition slope_gain (high : option Q) (u k : Q) : option Q :=
  if Qle_bool k 0 then Some (u * k) else match high with Some high => Some (high * k) | None => None end.
Definition opposite (low : option Q) : option Q := match low with Some low => Some (- low) | None => None end.
Definition l1_gain (limit : option Q * option Q) (c : Q) : option Q :=
  match slope_gain (snd limit) 0 (c - 1), slope_gain (opposite (fst limit)) 0 (- c - 1) with
  | Some a, Some b => Some (Qmax a b) | _, _ => None end.
(* The same of weights larger than u in size; Some None where no such weight is within its limits. *)
Definition side_gain (high : option Q) (u k : Q) : option (option Q) :=
  if match high with Some high => Qle_bool high u | None => false end then Some None
  else match slope_gain high u k with Some g => Some (Some g) | None => None end.
Definition greater (a b : option Q) : option Q :=
  match a, b with None, b => b | a, None => a | Some a, Some b => Some (Qmax a b) end.
Definition gain_beyond (limit : option Q * option Q) (u c : Q) : option (option Q) :=
  match side_gain (snd limit) u (c - 1), side_gain (opposite (fst limit)) u (- c - 1) with
  | Some a, Some b => Some (greater a b) | _, _ => None end.
(* The worth of features, and their scores, of the one problem that there is with gain l1. *)
Fixpoint lines_of unit base base' betas (columns : list (list (Z * Z))) (worth : list Q) : list (Q * Q) :=
  match worth with
  | [] => []
  | x :: worth =>
    (x, inject_Z (dot base base' betas (hd [] columns) 0 0 0 0) * unit) :: lines_of unit base base' betas (tl columns) worth
  end.

(* All problems: their constants, and the worth of features less all gains; None if the point is not feasible in one. *)
Fixpoint over D P (qs : list ready) (kss : list (list Z)) (worth : list Q) : option (Q * list Q) :=
  match qs with
  | [] => Some (0, worth)
  | (q, base', columns) :: qs =>
    let ks := hd [] kss in
    let betas := products ks (labels q) in
    if feasible D P q ks betas then
      let base := base_of (largest betas) in
      match over D P qs (tl kss) (less_gains (step P * scale D) base base' (map (halves base) betas) (limits D) columns worth) with
      | Some (c, worth) => Some (constant D P q ks betas + c, worth) | None => None end
    else None
  end.

(* Prices of rows: what they take from the bound, and the worth of features with them. *)
Fixpoint plus_times (tau : Q) (a : list Z) (worth : list Q) : list Q :=
  match worth, a with x :: worth, k :: a => (if (k =? 0)%Z then x else x + tau * inject_Z k) :: plus_times tau a worth | _, _ => worth end.
Fixpoint charged D (taus : list (nat * Q)) : option (Q * list Q) :=
  match taus with
  | [] => Some (0, prices D)
  | (r, tau) :: taus =>
    let r := nth r (rows D) no_row in
    match charged D taus with
    | Some (c, worth) => if Qle_bool 0 tau then Some (c - tau * inject_Z (right r), plus_times tau (terms r) worth) else None
    | None => None end
  end.

(* What a point says: every allowed subset has an objective of at least `base` plus the values of its features, in 1 / `unit`.
   With gain l1 values follow from the worths and scores in `lines` and limits of weights. *)
Record view := { base : Q; unit : positive; values : list Z; lines : list (Q * Q) }.
Definition rounded (grain : positive) (x : Q) : Z := Qfloor (x * inject_Z (Zpos grain)).
Definition seen D (qs : list ready) P : option view :=
  if Qle_bool 0 (step P) then
    match charged D (row_prices P) with
    | Some (c, worth) =>
      if l1 D then
        match qs with
        | [(q, base', columns)] =>
          let ks := hd [] (multiples P) in
          let betas := products ks (labels q) in
          let base := base_of (largest betas) in
          if feasible D P q ks betas
          then Some {| base := c + constant D P q ks betas; unit := grain P; values := [];
                       lines := lines_of (step P * scale D) base base' (map (halves base) betas) columns worth |}
          else None
        | _ => None end
      else
        match over D P qs (multiples P) worth with
        | Some (c', worth) => Some {| base := c + c'; unit := grain P; values := map (rounded (grain P)) worth; lines := [] |}
        | None => None end
    | None => None end
  else None.
(* The values with gain l1 where weights have these limits. *)
Fixpoint values_within grain (limits : list (option Q * option Q)) (lines : list (Q * Q)) : option (list Z) :=
  match lines with
  | [] => Some []
  | (x, c) :: lines =>
    match l1_gain (hd (None, None) limits) c, values_within grain (tl limits) lines with
    | Some g, Some vs => Some (rounded grain (x - g) :: vs) | _, _ => None end
  end.
Definition with_values V vs := {| base := base V; unit := unit V; values := vs; lines := lines V |}.
Definition settled D limits V : option view :=
  if l1 D then match values_within (unit V) limits (lines V) with Some vs => Some (with_values V vs) | None => None end else Some V.

(* ---- The program: boxes ---- *)

(* The sum over features: those in count whole, free ones with min(0, value - price of a place). *)
Open Scope Z_scope.
Fixpoint parts (price : Z) (vs : list Z) (ds : list choice) : Z :=
  match vs with
  | [] => 0
  | v :: vs =>
    let rest := parts price vs (tl ds) in
    match hd Free ds with Free => Z.min 0 (v - price) + rest | In => v + rest | Out => rest end
  end.
(* How many of the first p features are in. *)
Fixpoint inside (ds : list choice) (p : nat) : Z :=
  match p with O => 0 | S p => inside (tl ds) p + match hd Free ds with In => 1 | _ => 0 end end.
Fixpoint decide (ds : list choice) (j : nat) (c : choice) : list choice :=
  match j with O => c :: tl ds | S j => hd Free ds :: decide (tl ds) j c end.

(* The bound of a box, raised by the gap; None where more features are in than there is room for. *)
Definition bound D V (room gap price : Z) (ds : list choice) : option Q :=
  let price := Z.min price 0 in
  let room := room - inside ds (p D) in
  if room <? 0 then None else Some (base V + ((parts price (values V) ds + price * room + gap) # unit V))%Q.

Definition lesser (a b : option Q) : option Q :=
  match a, b with None, b => b | a, None => a | Some a, Some b => Some (Qmin a b) end.

(* The least bound of the parts that a fix closes, and the box that it leaves. *)
Fixpoint fix_all D V room ds (fixed : list (nat * bool * Z)) : option Q * list choice :=
  match fixed with
  | [] => (None, ds)
  | (j, put_in, price) :: fixed =>
    let (other, own) := if put_in : bool then (Out, In) else (In, Out) in
    let closed := bound D V room 0 price (decide ds j other) in
    let (rest, ds) := fix_all D V room (decide ds j own) fixed in (lesser closed rest, ds)
  end.

Fixpoint drop (price gap : Z) (vs : list Z) (ds : list choice) : list choice :=
  match vs with
  | [] => ds
  | v :: vs =>
    match hd Free ds with Free => if price + gap <=? v then Out else Free | d => d end :: drop price gap vs (tl ds)
  end.

(* A list with another entry at j. *)
Fixpoint put {A} (usual : A) (l : list A) (j : nat) (x : A) : list A :=
  match j with O => x :: tl l | S j => hd usual l :: put usual (tl l) j x end.
Definition narrowed (limit : option Q * option Q) (u : Q) : option Q * option Q :=
  (Some (match fst limit with Some low => Qmax low (- u) | None => - u end)%Q,
   Some (match snd limit with Some high => Qmin high u | None => u end)).
(* The least bound of the parts that a tighten closes, and the limits that it leaves. *)
Fixpoint tighten_all D V room ds limits (items : list (nat * Q * Z)) : option (option Q * list (option Q * option Q)) :=
  match items with
  | [] => Some (None, limits)
  | (j, u, price) :: items =>
    let limit := nth j limits (None, None) in
    let (x, c) := nth j (lines V) (0, 0)%Q in
    if (j <? p D)%nat && Qle_bool 0 u then
      match gain_beyond limit u c, tighten_all D V room ds (put (None, None) limits j (narrowed limit u)) items with
      | Some g, Some (rest, limits) =>
        let closed := match g with
          | Some g => bound D (with_values V (put 0 (values V) j (rounded (unit V) (x - g)%Q))) room 0 price (decide ds j In)
          | None => None end in
        Some (lesser closed rest, limits)
      | _, _ => None end
    else None
  end.

(* The least that the terms of a box add up to. *)
Fixpoint least (a : list Z) (ds : list choice) : Z :=
  match a with
  | [] => 0
  | k :: a => match hd Free ds with Free => Z.min 0 k | In => k | Out => 0 end + least a (tl ds)
  end.
(* Free features with a term that is larger than what a row leaves are decided: the other decision would break the row. *)
Fixpoint forced (left : Z) (a : list Z) (ds : list choice) : list choice :=
  match a with
  | [] => ds
  | k :: a =>
    match hd Free ds with Free => if left <? k then Out else if k <? - left then In else Free | d => d end :: forced left a (tl ds)
  end.
(* Of a row a . z <= right, u (a . z) + the sum of max(0, v - u a_j) is at least v times the number of features. *)
Fixpoint spare (u v : Z) (a : list Z) (p : nat) : Z :=
  match p with O => 0 | S p => Z.max 0 (v - u * hd 0 a) + spare u v (tl a) p end.

(* Whether a box holds this subset and no other. *)
Fixpoint holds_alone (chosen : list bool) (ds : list choice) : bool :=
  match chosen with
  | [] => true
  | c :: chosen => match hd Free ds with Free => false | In => c | Out => negb c end && holds_alone chosen (tl ds)
  end.

(* Some (Some b): no allowed subset of the box is below b, but for listed ones that are alone in a part of it, which are not below
   their own bounds. Some None: the box has no others. None: the proof is refused. *)
Fixpoint check D (ls : list listing) (Vs : list (option view)) (V : option view) limits (room : Z) (ds : list choice) (t : tree) : option (option Q) :=
  match t with
  | At k t =>
    match nth k Vs None with
    | Some V => match settled D limits V with Some V => check D ls Vs (Some V) limits room ds t | None => None end
    | None => None end
  | Close price => match V with Some V => Some (bound D V room 0 price ds) | None => None end
  | Alone k =>
    match V, nth_error ls k with
    | Some V, Some l =>
      if holds_alone (chosen l) ds then
        match bound D V room 0 0 ds with None => Some None | Some b => if Qle_bool (own l) b then Some None else None end
      else None
    | _, _ => None end
  | Empty r => let r := nth r (rows D) no_row in if right r <? least (terms r) ds then Some None else None
  | Split j with_j without_j =>
    match check D ls Vs V limits room (decide ds j In) with_j, check D ls Vs V limits room (decide ds j Out) without_j with
    | Some a, Some b => Some (lesser a b) | _, _ => None end
  | Propagate r t => let r := nth r (rows D) no_row in check D ls Vs V limits room (forced (right r - least (terms r) ds) (terms r) ds) t
  | Size r u v t =>
    let r := nth r (rows D) no_row in
    if 0 <=? u then check D ls Vs V limits (Z.min room ((u * right r + spare u (Zpos v) (terms r) (p D)) / Zpos v)) ds t else None
  | Drop price gap t =>
    match V with
    | Some W =>
      if 0 <=? gap then
        match check D ls Vs V limits room (drop (Z.min price 0) gap (values W) ds) t with
        | Some a => Some (lesser (bound D W room gap price ds) a) | None => None end
      else None
    | None => None end
  | Tighten items t =>
    match V with
    | Some W =>
      if l1 D then
        match tighten_all D W room ds limits items with
        | Some (b, limits) =>
          match settled D limits W with
          | Some W =>
            match check D ls Vs (Some W) limits room ds t with Some a => Some (lesser b a) | None => None end
          | None => None end
        | None => None end
      else None
    | None => None end
  | Fix fixed t =>
    match V with
    | Some W =>
      let (b, ds) := fix_all D W room ds fixed in
      match check D ls Vs V limits room ds t with Some a => Some (lesser b a) | None => None end
    | None => None end
  end.

(* ---- The program: listed subsets ---- *)

(* The terms of a row that are in, added up. *)
Fixpoint taken (chosen : list bool) (a : list Z) : Z :=
  match a with k :: a => (if hd false chosen then k else 0) + taken (tl chosen) a | [] => 0 end.

(* Whether a weight within its limits may be what it is: those of features that are out are 0. *)
Open Scope Q_scope.
Definition within_limit (limit : option Q * option Q) (w : Q) : bool :=
  match fst limit with Some low => Qle_bool low w | None => true end && match snd limit with Some high => Qle_bool w high | None => true end.
Fixpoint weights_may_be (unit : Q) (chosen : list bool) (limits : list (option Q * option Q)) (ks : list Z) : bool :=
  match ks with
  | [] => true
  | k :: ks =>
    ((k =? 0)%Z || hd false chosen) && within_limit (hd (None, None) limits) (inject_Z k * unit)
    && weights_may_be unit (tl chosen) (tl limits) ks
  end.

(* Scores without the bias, in units of weights times the scale. *)
Open Scope Z_scope.
Fixpoint plus_multiple (n : nat) (k : Z) (column sums : list Z) : list Z :=
  match n with O => [] | S n => k * hd 0 column + hd 0 sums :: plus_multiple n k (tl column) (tl sums) end.
Fixpoint scores (n : nat) (ks : list Z) (columns : list (list Z)) : list Z :=
  match ks with
  | [] => []
  | k :: ks => let sums := scores n ks (tl columns) in if k =? 0 then sums else plus_multiple n k (hd [] columns) sums
  end.
(* The losses of a problem, each in 1 / grain and rounded up; `one` is 1 in units of scores. *)
Definition raised (grain : positive) (x : Q) : Z := Qceiling (x * inject_Z (Zpos grain)).
Fixpoint losses squared (grain : positive) (unit : Q) (one offset : Z) (labels sums : list Z) (costs : list Q) : Z :=
  match labels with
  | [] => 0
  | y :: labels =>
    let missed := Z.max 0 (one - y * (hd 0 sums + offset)) in
    let loss := if squared : bool then (inject_Z (missed * missed) * (unit * unit))%Q else (inject_Z missed * unit)%Q in
    raised grain (hd 0%Q costs * loss) + losses squared grain unit one offset labels (tl sums) (tl costs)
  end.
Fixpoint prices_of grain (chosen : list bool) (prices : list Q) : Z :=
  match prices with x :: prices => (if hd false chosen then raised grain x else 0) + prices_of grain (tl chosen) prices | [] => 0 end.

(* What a problem adds to the objective of a listed subset, rounded up; None where the weights or the bias may not be. *)
Definition fit_at D l (grain : positive) (one : Z) q ks offset : option Q :=
  let unit := unit_of_weights l in
  if (length ks =? p D)%nat && weights_may_be unit (chosen l) (limits D) ks && match bias D with no_bias => offset =? 0 | _ => true end
  then
    let spent :=
      match bias D with
      | penalised s => let b := inject_Z (Z.abs offset) * (unit * scale D) / s in if l1 D then b else b * b * (1 # 2)
      | _ => 0
      end%Q in
    let costing := (if l1 D then inject_Z (total (map Z.abs ks)) * unit else inject_Z (total (products ks ks)) * (unit * unit * (1 # 2)))%Q in
    let lost := losses (squared D) grain (unit * scale D) one offset (labels q) (scores (n q) ks (columns q)) (costs q) in
    Some (costing + spent + (lost # grain))%Q
  else None.
Fixpoint fits_at D l grain one (qs : list problem) (kss : list (list Z)) (offsets : list Z) : option Q :=
  match qs with
  | [] => Some 0%Q
  | q :: qs =>
    match fit_at D l grain one q (hd [] kss) (hd 0 offsets), fits_at D l grain one qs (tl kss) (tl offsets) with
    | Some a, Some b => Some (a + b)%Q | _, _ => None end
  end.
(* Whether a subset is allowed, and its objective as stated. *)
Definition listed_right D (grain : positive) (one : Z) l : bool :=
  (length (chosen l) =? p D)%nat
  && forallb (fun r => taken (chosen l) (terms r) <=? right r) (rows D)
  && negb (Qle_bool (unit_of_weights l) 0) && negb (Qle_bool (unit_of_weights l * scale D) 0) && Qeq_bool (inject_Z one * (unit_of_weights l * scale D)) 1
  && match fits_at D l grain one (problems D) (weights l) (offsets l) with
     | Some a => Qle_bool (a + (prices_of grain (chosen l) (prices D) # grain)) (stated l)
     | None => false end.

(* ---- The whole program ---- *)

(* Whether lists have their lengths, costs are 0 or more, and the number of a penalised bias is above 0. *)
Definition well_formed D : bool :=
  forallb (fun q => (length (columns q) =? p D)%nat && forallb (Qle_bool 0) (costs q)) (problems D)
  && forallb (fun r => (length (terms r) <=? p D)%nat) (rows D)
  && match bias D with penalised s => negb (Qle_bool s 0) | _ => true end.

(* What a proof proves, which starts with the box of all subsets, and whether it reaches the bound that is claimed. Each
   listed subset comes with a grain and with 1 in its unit of scores. *)
Definition found D (points : list point) (ls : list (positive * Z * listing)) t : option (option Q) :=
  if well_formed D && forallb (fun l => listed_right D (fst (fst l)) (snd (fst l)) (snd l)) ls then
    let qs := map prepared (problems D) in
    check D (map snd ls) (map (seen D qs) points) None (limits D) (Z.of_nat (p D)) [] t
  else None.
Definition reaches (found : option (option Q)) (claimed : Q) : bool :=
  match found with None => false | Some None => true | Some (Some b) => Qle_bool claimed b end.
Definition accepts D points ls t claimed := reaches (found D points ls t) claimed.
