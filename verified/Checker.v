(* The checker, a program on integers and fractions, and the theorem `proven` about it: what it accepts holds for every
   allowed subset and every classifier, over the real numbers. Extract.v makes the program that runs. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals Qminmax Qround List Bool Arith.
Require Import Duality.
Import ListNotations.

Arguments Qmin : simpl never.
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
  problems : list problem; scale : Q; squared : bool; bias : biases; prices : list Q; limits : list (option Q * option Q); rows : list row }.
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
Definition fit_of D q := fit (n q) (p D) (real_x D q) (real_label q) (real_cost q) (squared D) (bias D).
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
| Empty (r : nat)                                             (* row r leaves no subset in the box *)
| Split (j : nat) (with_j without_j : tree)                   (* two boxes: feature j in, feature j out *)
| Propagate (r : nat) (t : tree)                              (* what row r says of single features is decided *)
| Size (r : nat) (u : Z) (v : positive) (t : tree)            (* row r, times u / v, says how many features there are room for *)
| Drop (price gap : Z) (t : tree)                             (* free features whose value is at least price + gap are put
                                                                out, all in one step: with one of them in, the bound
                                                                is higher by the gap *)
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
   squared hinge; and for a free bias the alphas of both classes add up to the same. *)
Open Scope Q_scope.
Definition one_in_range (squared : bool) (step : Q) (k : Z) (cost : Q) : bool :=
  (0 <=? k)%Z && if squared then (k =? 0)%Z || negb (Qle_bool cost 0) else Qle_bool (inject_Z k * step) cost.
Fixpoint in_range squared step (ks : list Z) (costs : list Q) : bool :=
  match ks with
  | [] => true
  | k :: ks => one_in_range squared step k (hd 0 costs) && in_range squared step ks (tl costs)
  end.
Definition balanced (bias : biases) (betas : list Z) : bool := match bias with free_bias => (total betas =? 0)%Z | _ => true end.
Definition feasible D P q ks betas : bool :=
  (length ks =? n q)%nat && in_range (squared D) (step P) ks (costs q) && balanced (bias D) betas.

(* What the squared hinge takes from the bound: the sum of alpha_i^2 / (4 C_i), each in 1 / grain and rounded up. *)
Definition one_lost (squared : bool) (step : Q) (grain : positive) (k : Z) (cost : Q) : Z :=
  if squared && negb (k =? 0)%Z
  then let a := inject_Z k * step in Qceiling (a * a / (inject_Z 4 * cost) * inject_Z (Zpos grain)) else 0%Z.
Fixpoint lost squared step grain (ks : list Z) (costs : list Q) : Z :=
  match ks with [] => 0%Z | k :: ks => (one_lost squared step grain k (hd 0%Q costs) + lost squared step grain ks (tl costs))%Z end.
(* What a penalised bias takes: s^2 (sum of y_i alpha_i)^2 / 2. *)
Definition bias_lost (bias : biases) (step : Q) (betas : list Z) : Q :=
  match bias with penalised s => let c := s * (inject_Z (total betas) * step) in c * c * (1 # 2) | _ => 0 end.
Definition constant D P q ks betas : Q :=
  inject_Z (total ks) * step P - (lost (squared D) (step P) (grain P) ks (costs q) # grain P) - bias_lost (bias D) (step P) betas.

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

(* What a point says: every allowed subset has an objective of at least `base` plus the values of its features, in 1 / `unit`. *)
Record view := { base : Q; unit : positive; values : list Z }.
Definition rounded (grain : positive) (x : Q) : Z := Qfloor (x * inject_Z (Zpos grain)).
Definition seen D (qs : list ready) P : option view :=
  if Qle_bool 0 (step P) then
    match charged D (row_prices P) with
    | Some (c, worth) =>
      match over D P qs (multiples P) worth with
      | Some (c', worth) => Some {| base := c + c'; unit := grain P; values := map (rounded (grain P)) worth |}
      | None => None end
    | None => None end
  else None.

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

(* Some (Some b): no allowed subset of the box is below b. Some None: the box has none. None: the proof is refused. *)
Fixpoint check D (Vs : list (option view)) (V : option view) (room : Z) (ds : list choice) (t : tree) : option (option Q) :=
  match t with
  | At k t => match nth k Vs None with Some V => check D Vs (Some V) room ds t | None => None end
  | Close price => match V with Some V => Some (bound D V room 0 price ds) | None => None end
  | Empty r => let r := nth r (rows D) no_row in if right r <? least (terms r) ds then Some None else None
  | Split j with_j without_j =>
    match check D Vs V room (decide ds j In) with_j, check D Vs V room (decide ds j Out) without_j with
    | Some a, Some b => Some (lesser a b) | _, _ => None end
  | Propagate r t => let r := nth r (rows D) no_row in check D Vs V room (forced (right r - least (terms r) ds) (terms r) ds) t
  | Size r u v t =>
    let r := nth r (rows D) no_row in
    if 0 <=? u then check D Vs V (Z.min room ((u * right r + spare u (Zpos v) (terms r) (p D)) / Zpos v)) ds t else None
  | Drop price gap t =>
    match V with
    | Some W =>
      if 0 <=? gap then
        match check D Vs V room (drop (Z.min price 0) gap (values W) ds) t with
        | Some a => Some (lesser (bound D W room gap price ds) a) | None => None end
      else None
    | None => None end
  | Fix fixed t =>
    match V with
    | Some W =>
      let (b, ds) := fix_all D W room ds fixed in
      match check D Vs V room ds t with Some a => Some (lesser b a) | None => None end
    | None => None end
  end.

(* Whether lists have their lengths, costs are 0 or more, and the number of a penalised bias is above 0. *)
Definition well_formed D : bool :=
  forallb (fun q => (length (columns q) =? p D)%nat && forallb (Qle_bool 0) (costs q)) (problems D)
  && forallb (fun r => (length (terms r) <=? p D)%nat) (rows D)
  && match bias D with penalised s => negb (Qle_bool s 0) | _ => true end.

(* What a proof proves, which starts with the box of all subsets, and whether it reaches the bound that is claimed: the whole program. *)
Definition found D (points : list point) t : option (option Q) :=
  if well_formed D then
    let qs := map prepared (problems D) in
    check D (map (seen D qs) points) None (Z.of_nat (p D)) [] t
  else None.
Definition reaches (found : option (option Q)) (claimed : Q) : bool :=
  match found with None => false | Some None => true | Some (Some b) => Qle_bool claimed b end.
Definition accepts D points t claimed := reaches (found D points t) claimed.

(* ---- Steps of the proof: integers and fractions as real numbers ---- *)

Open Scope R_scope.
Lemma real_of_integer k : Q2R (inject_Z k) = IZR k. Proof. unfold Q2R, inject_Z; simpl. field. Qed.
Lemma real_of_zero : Q2R 0 = 0. Proof. unfold Q2R; simpl; lra. Qed.
Lemma lesser_than_left a b : Q2R (Qmin a b) <= Q2R a. Proof. apply Qle_Rle, Q.le_min_l. Qed.
Lemma lesser_than_right a b : Q2R (Qmin a b) <= Q2R b. Proof. apply Qle_Rle, Q.le_min_r. Qed.
Lemma not_below a b : Qle_bool a b = false -> Q2R b < Q2R a.
Proof. intros H. apply Qlt_Rlt, Qnot_le_lt. intros N. apply Qle_bool_iff in N. congruence. Qed.
Lemma positive_holds q : negb (Qle_bool q 0) = true -> 0 < Q2R q.
Proof. intros H. rewrite <- real_of_zero. apply not_below. destruct (Qle_bool q 0); [discriminate|reflexivity]. Qed.
Lemma grain_above_zero g : 0 < IZR (Zpos g). Proof. apply IZR_lt. reflexivity. Qed.

(* Sums over lists, from the front. *)
Lemma sum_from_front f m : sum f (S m) = f O + sum (fun i => f (S i)) m.
Proof. induction m; [simpl; lra|]. change (sum f (S (S m))) with (sum f (S m) + f (S m)). rewrite IHm. simpl. lra. Qed.
Lemma nth_of_tail {A} (l : list A) i d : nth i (tl l) d = nth (S i) l d.
Proof. destruct l; simpl; [destruct i; reflexivity | reflexivity]. Qed.
Lemma head_is_nth {A} (l : list A) d : hd d l = nth 0 l d.
Proof. destruct l; reflexivity. Qed.

Lemma total_is_sum a : sum (fun i => IZR (nth i a 0%Z)) (length a) = IZR (total a).
Proof. induction a as [|x a IH]; [reflexivity|]. simpl length. rewrite sum_from_front. simpl total. rewrite plus_IZR, <- IH. reflexivity. Qed.

Lemma balance_is_sum a : forall b, sum (fun i => IZR (nth i a 0%Z) * IZR (nth i b 0%Z)) (length a) = IZR (total (products a b)).
Proof.
  induction a as [|x a IH]; intros b; [reflexivity|].
  simpl length. rewrite sum_from_front. destruct b as [|y b].
  - simpl. rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_0; lra|intros; destruct i; simpl; lra].
  - simpl products. simpl total. rewrite plus_IZR, mult_IZR, <- IH. simpl. reflexivity.
Qed.

(* The dot product in parts is that of the whole numbers. *)
Fixpoint plain_dot (a b : list Z) : Z := match a, b with x :: a, y :: b => x * y + plain_dot a b | _, _ => 0 end%Z.
Lemma halves_are_whole base x : base <> 0%Z -> (fst (halves base x) * base + snd (halves base x) = x)%Z.
Proof. intros H. simpl. rewrite Z.mul_comm, <- Z.div_mod by exact H. reflexivity. Qed.
Lemma dot_is_plain base base' : base <> 0%Z -> base' <> 0%Z -> forall a b u l r w,
  dot base base' (map (halves base) a) (map (halves base') b) u l r w = (u * (base * base') + l * base + r * base' + w + plain_dot a b)%Z.
Proof.
  intros H H'. induction a as [|x a IH]; intros b u l r w; [simpl; ring|]. destruct b as [|y b]; [simpl; ring|].
  pose proof (halves_are_whole base x H) as Hx. pose proof (halves_are_whole base' y H') as Hy.
  simpl map. simpl dot. simpl plain_dot. unfold halves in *. simpl fst in *. simpl snd in *.
  generalize dependent (x / base)%Z. generalize dependent (x mod base)%Z. intros x0 x1 Hx.
  generalize dependent (y / base')%Z. generalize dependent (y mod base')%Z. intros y0 y1 Hy. subst x y.
  destruct (Z.eqb_spec x1 0) as [E1|]; simpl andb; [destruct (Z.eqb_spec x0 0) as [E0|]|]; rewrite !IH; [subst x1 x0| |]; ring.
Qed.
Lemma base_is_not_0 most : base_of most <> 0%Z.
Proof.
  unfold base_of. apply Z.pow_nonzero; [discriminate|]. pose proof (Z.log2_nonneg most). pose proof (Z.div_pos (Z.log2 most) 2). lia.
Qed.

Lemma dot_is_sum b : forall a c,
  sum (fun i => IZR (nth i a 0%Z) * IZR (nth i b 0%Z) * IZR (nth i c 0%Z)) (length b) = IZR (plain_dot (products a b) c).
Proof.
  induction b as [|y b IH]; intros a c.
  - destruct a; reflexivity.
  - simpl length. rewrite sum_from_front.
    destruct a as [|x a]; [|destruct c as [|w c]].
    + simpl. rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_0; lra|intros; destruct i; simpl; lra].
    + simpl. rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_0; lra|intros; destruct i; simpl; lra].
    + simpl nth. rewrite IH. simpl plain_dot. rewrite plus_IZR, !mult_IZR. reflexivity.
Qed.

(* ---- A feasible point is feasible over the reals ---- *)

Definition alpha P ks i := IZR (nth i ks 0%Z) * Q2R (step P).

Lemma loss_not_below_zero sq t : 0 <= loss sq t.
Proof. unfold loss. pose proof (Rmax_l 0 t). destruct sq; nra. Qed.

Lemma one_in_range_holds sq s g k c : 0 <= Q2R s -> 0 <= Q2R c -> one_in_range sq s k c = true -> forall t,
  IZR k * Q2R s * t - IZR (one_lost sq s g k c) / IZR (Zpos g) <= Q2R c * loss sq t.
Proof.
  intros Hs Hc H t. pose proof (grain_above_zero g) as Hg. pose proof (loss_not_below_zero sq t).
  apply andb_true_iff in H as [Hk H]. apply Z.leb_le, IZR_le in Hk.
  assert (Ha : 0 <= IZR k * Q2R s) by (apply Rmult_le_pos; assumption).
  unfold one_lost. destruct sq; simpl andb.
  - destruct (Z.eqb_spec k 0) as [E|E]; simpl negb in *; cbv iota.
    + (* alpha is 0 *) subst k. unfold Rdiv. rewrite !Rmult_0_l. assert (0 <= Q2R c * loss true t) by (apply Rmult_le_pos; assumption). lra.
    + simpl orb in H. assert (Hpos : 0 < Q2R c) by (apply positive_holds, H).
      apply feasible_squared; [assumption|assumption|].
      set (x := (inject_Z k * s * (inject_Z k * s) / (inject_Z 4 * c) * inject_Z (Z.pos g))%Q).
      assert (Hx : Q2R x = IZR k * Q2R s * (IZR k * Q2R s) / (4 * Q2R c) * IZR (Zpos g)).
      { unfold x. rewrite Q2R_mult, Q2R_div, !Q2R_mult, !real_of_integer; [reflexivity|].
        intros N. apply Qeq_eqR in N. rewrite Q2R_mult, real_of_integer, real_of_zero in N. nra. }
      pose proof (Qle_Rle _ _ (Qle_ceiling x)) as Hceil. rewrite real_of_integer, Hx in Hceil.
      apply (Rmult_le_compat_r (/ IZR (Zpos g) * (4 * Q2R c))) in Hceil.
      * eapply Rle_trans; [eapply Rle_trans; [|exact Hceil]|]; right; field; lra.
      * apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; exact Hg|lra].
  - apply Qle_bool_iff, Qle_Rle in H. rewrite Q2R_mult, real_of_integer in H.
    unfold Rdiv. rewrite Rmult_0_l. apply feasible_hinge. lra.
Qed.

Lemma in_range_holds sq s g : 0 <= Q2R s -> forall l c, in_range sq s l c = true -> forallb (Qle_bool 0) c = true -> forall i t,
  IZR (nth i l 0%Z) * Q2R s * t - IZR (one_lost sq s g (nth i l 0%Z) (nth i c 0%Q)) / IZR (Zpos g) <= Q2R (nth i c 0%Q) * loss sq t.
Proof.
  intros Hs. induction l as [|k l IH]; intros c H Hc i t.
  - assert (0 <= Q2R (nth i c 0%Q)).
    { rewrite <- real_of_zero. apply Qle_Rle. destruct (Nat.lt_ge_cases i (length c)).
      - rewrite forallb_forall in Hc. apply Qle_bool_iff, Hc, nth_In. assumption.
      - rewrite nth_overflow by lia. apply Qle_refl. }
    rewrite (nth_overflow []) by (simpl; lia). apply one_in_range_holds; [assumption|assumption|].
    unfold one_in_range. destruct sq; simpl; [reflexivity|].
    apply Qle_bool_iff. rewrite Qmult_0_l. apply Rle_Qle. rewrite real_of_zero. assumption.
  - simpl in H. apply andb_true_iff in H as [H Hl].
    destruct i.
    + simpl nth. rewrite <- head_is_nth. apply one_in_range_holds; [assumption| |assumption].
      destruct c as [|x c]; simpl; [rewrite real_of_zero; lra|]. simpl in Hc. apply andb_true_iff in Hc as [Hc _].
      rewrite <- real_of_zero. apply Qle_Rle, Qle_bool_iff, Hc.
    + assert (Hc' : forallb (Qle_bool 0) (tl c) = true) by (destruct c; simpl in *; [reflexivity|apply andb_true_iff in Hc; tauto]).
      specialize (IH (tl c) Hl Hc' i t). rewrite nth_of_tail in IH. exact IH.
Qed.

Lemma lost_is_sum sq s g ks : forall c,
  sum (fun i => IZR (one_lost sq s g (nth i ks 0%Z) (nth i c 0%Q))) (length ks) = IZR (lost sq s g ks c).
Proof.
  induction ks as [|k ks IH]; intros c; [reflexivity|].
  simpl length. rewrite sum_from_front. simpl lost. rewrite plus_IZR, <- IH, head_is_nth. simpl (nth 0 (k :: ks) 0%Z). f_equal.
  apply sum_ext. intros i _. rewrite nth_of_tail. reflexivity.
Qed.


(* What checks of the data say. *)
Lemma well_formed_holds D : well_formed D = true ->
  (forall q, List.In q (problems D) -> length (columns q) = p D /\ forallb (Qle_bool 0) (costs q) = true)
  /\ (forall r, List.In r (rows D) -> (length (terms r) <= p D)%nat)
  /\ match bias D with penalised s => 0 < Q2R s | _ => True end.
Proof.
  unfold well_formed. intros H. apply andb_true_iff in H as [H Hs]. apply andb_true_iff in H as [Hq Hr].
  rewrite forallb_forall in Hq, Hr. split; [|split].
  - intros q Hin. specialize (Hq q Hin). apply andb_true_iff in Hq as [Hl Hc]. apply Nat.eqb_eq in Hl. tauto.
  - intros r Hin. apply Nat.leb_le, Hr, Hin.
  - destruct (bias D) as [| |s]; [exact I|exact I|]. apply positive_holds, Hs.
Qed.

(* ---- Scores and gains ---- *)

Definition beta q ks i := IZR (nth i ks 0%Z) * real_label q i.
Definition score_at D P q ks j := score (n q) (real_x D q) (real_label q) (alpha P ks) j.

Lemma score_is_dot D P q ks j :
  score_at D P q ks j = IZR (plain_dot (products ks (labels q)) (nth j (columns q) [])) * (Q2R (step P) * Q2R (scale D)).
Proof.
  unfold score_at, score, alpha, real_label, real_x, n. rewrite <- dot_is_sum.
  rewrite (Rmult_comm (sum _ _)), <- sum_scal. apply sum_ext. intros. ring.
Qed.

Lemma half : Q2R (1 # 2) = / 2. Proof. unfold Q2R; simpl; field. Qed.

Lemma nearest_is_nearest limit c w : within limit w ->
  (Q2R (nearest limit c) - Q2R c) * (Q2R (nearest limit c) - Q2R c) <= (w - Q2R c) * (w - Q2R c).
Proof.
  destruct limit as [low high]. unfold within, nearest. simpl. intros [Hlow Hhigh].
  set (m := match low with Some low => if Qle_bool low c then c else low | None => c end).
  assert (Hm : Q2R m = Q2R c \/ (Q2R c < Q2R m /\ Q2R m <= w)).
  { unfold m. destruct low as [low|]; [|left; reflexivity]. destruct (Qle_bool low c) eqn:E; [left; reflexivity|right].
    split; [apply not_below, E|exact Hlow]. }
  destruct high as [high|]; [destruct (Qle_bool m high) eqn:E|].
  - destruct Hm as [->|[]]; [pose proof (Rle_0_sqr (w - Q2R c)) as H; unfold Rsqr in H; lra|nra].
  - apply not_below in E. destruct Hm as [Hm|[]]; [rewrite Hm in E; nra|lra].
  - destruct Hm as [->|[]]; [pose proof (Rle_0_sqr (w - Q2R c)) as H; unfold Rsqr in H; lra|nra].
Qed.

Lemma gain_holds limit c w : within limit w -> w * Q2R c - w * w / 2 <= Q2R (gain limit c).
Proof.
  intros H. pose proof (nearest_gains_most _ _ _ (nearest_is_nearest limit c w H)) as N.
  assert (E : Q2R (gain limit c) = Q2R (nearest limit c) * Q2R c - Q2R (nearest limit c) * Q2R (nearest limit c) / 2).
  { destruct limit as [[low|] [high|]]; unfold gain; rewrite ?Q2R_minus, !Q2R_mult, half; unfold nearest; simpl; lra. }
  lra.
Qed.

(* The gain of feature j as `less_gains` counts it. *)
Definition gain_at D P q ks j : R :=
  Q2R (gain (nth j (limits D) (None, None)) (inject_Z (plain_dot (products ks (labels q)) (nth j (columns q) [])) * (step P * scale D))).

Lemma gain_at_holds D P q ks j w : within (nth j (limits D) (None, None)) w ->
  w * score_at D P q ks j - w * w / 2 <= gain_at D P q ks j.
Proof.
  intros H. apply gain_holds with (c := (inject_Z (plain_dot (products ks (labels q)) (nth j (columns q) [])) * (step P * scale D))%Q) in H.
  rewrite !Q2R_mult, real_of_integer, <- score_is_dot in H. exact H.
Qed.

Lemma less_gains_length unit base base' betas ls cs worth : length (less_gains unit base base' betas ls cs worth) = length worth.
Proof. revert ls cs. induction worth; intros; simpl; [reflexivity|f_equal; apply IHworth]. Qed.

Lemma less_gains_is_less unit base base' betas worth : base <> 0%Z -> base' <> 0%Z -> forall ls cs j, (j < length worth)%nat ->
  Q2R (nth j (less_gains unit base base' (map (halves base) betas) ls (map (map (halves base')) cs) worth) 0%Q)
  = Q2R (nth j worth 0%Q) - Q2R (gain (nth j ls (None, None)) (inject_Z (plain_dot betas (nth j cs [])) * unit)).
Proof.
  intros H H'. induction worth as [|x worth IH]; intros ls cs j Hj; simpl in Hj; [lia|].
  destruct j; simpl nth.
  - rewrite Q2R_minus, !head_is_nth. rewrite (map_nth (map (halves base')) cs []), dot_is_plain by assumption. reflexivity.
  - replace (tl (map (map (halves base')) cs)) with (map (map (halves base')) (tl cs)) by (destruct cs; reflexivity).
    rewrite IH by lia. rewrite !nth_of_tail. reflexivity.
Qed.

(* ---- One problem: its constant, less its gains, is not above what it adds to the objective ---- *)

(* The sum over features that are in. *)
Definition sum_in (z : nat -> bool) (f : nat -> R) m := sum (fun j => if z j then f j else 0) m.

Lemma balanced_holds D P q ks b : 0 <= Q2R (step P) -> match bias D with penalised s => 0 < Q2R s | _ => True end ->
  length ks = n q -> balanced (bias D) (products ks (labels q)) = true -> bias_allowed (bias D) b ->
  b * sum (fun i => real_label q i * alpha P ks i) (n q) - Q2R (bias_lost (bias D) (step P) (products ks (labels q))) <= bias_cost (bias D) b.
Proof.
  intros Hs Hpos Hlen Hbal Hb.
  assert (E : sum (fun i => real_label q i * alpha P ks i) (n q) = IZR (total (products ks (labels q))) * Q2R (step P)).
  { rewrite <- Hlen, <- balance_is_sum, Rmult_comm, <- sum_scal. apply sum_ext. intros. unfold real_label, alpha. ring. }
  rewrite E. destruct (bias D) as [| |s]; simpl in *.
  - apply Z.eqb_eq in Hbal. rewrite Hbal, real_of_zero. lra.
  - rewrite Hb, real_of_zero. lra.
  - rewrite !Q2R_mult, real_of_integer, half.
    pose proof (penalised_balance (Q2R s) b (IZR (total (products ks (labels q))) * Q2R (step P)) Hpos). lra.
Qed.

Lemma constant_holds D P q ks z w b : 0 <= Q2R (step P) -> match bias D with penalised s => 0 < Q2R s | _ => True end ->
  forallb (Qle_bool 0) (costs q) = true -> feasible D P q ks (products ks (labels q)) = true -> weights_at D z w b ->
  Q2R (constant D P q ks (products ks (labels q))) - sum_in z (gain_at D P q ks) (p D) <= fit_of D q w b.
Proof.
  intros Hs Hpos Hc Hf [Hb Hw]. unfold feasible in Hf.
  apply andb_true_iff in Hf as [Hf Hbal]. apply andb_true_iff in Hf as [Hlen Hr]. apply Nat.eqb_eq in Hlen.
  pose proof (grain_above_zero (grain P)) as Hg. set (g := IZR (Zpos (grain P))) in *.
  set (take := fun i => IZR (one_lost (squared D) (step P) (grain P) (nth i ks 0%Z) (nth i (costs q) 0%Q)) / g).
  assert (W : sum (alpha P ks) (n q) - sum take (n q) - Q2R (bias_lost (bias D) (step P) (products ks (labels q)))
    - sum_in z (gain_at D P q ks) (p D) <= fit_of D q w b).
  { apply weak_duality.
    - intros i t Hi. apply in_range_holds; assumption.
    - intros. apply balanced_holds; assumption.
    - exact Hb.
    - intros j Hj. destruct (Hw j Hj) as [Hout Hin]. destruct (z j) eqn:E; [apply gain_at_holds, Hin|]. rewrite Hout by reflexivity. lra. }
  assert (HS : sum (alpha P ks) (n q) = IZR (total ks) * Q2R (step P)).
  { rewrite <- total_is_sum, <- Hlen, Rmult_comm, <- sum_scal. apply sum_ext. intros; unfold alpha; ring. }
  assert (HL : sum take (n q) = IZR (lost (squared D) (step P) (grain P) ks (costs q)) / g).
  { rewrite <- lost_is_sum, Hlen. unfold Rdiv. rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros. unfold take, Rdiv. ring. }
  rewrite HS, HL in W. unfold constant. rewrite !Q2R_minus, Q2R_mult, real_of_integer.
  replace (Q2R (lost _ _ _ _ _ # grain P)) with (IZR (lost (squared D) (step P) (grain P) ks (costs q)) / g) by (unfold Q2R; reflexivity).
  lra.
Qed.

(* ---- All problems, prices of rows, and rounding: what a point says holds ---- *)

Definition worth_of z worth := sum_in z (fun j => Q2R (nth j worth 0%Q)) (length worth).

Lemma over_holds D P z : 0 <= Q2R (step P) -> match bias D with penalised s => 0 < Q2R s | _ => True end ->
  forall qs kss worth c worth', (forall q, List.In q qs -> forallb (Qle_bool 0) (costs q) = true) -> length worth = p D ->
  over D P (map prepared qs) kss worth = Some (c, worth') -> length worth' = p D /\ forall w b,
  (forall t, (t < length qs)%nat -> weights_at D z (w t) (b t)) ->
  Q2R c + worth_of z worth' <= sum (fun t => fit_of D (nth t qs no_problem) (w t) (b t)) (length qs) + worth_of z worth.
Proof.
  intros Hs Hpos. induction qs as [|q qs IH]; intros kss worth c worth' Hc Hlen H; simpl in H.
  - injection H as <- <-. split; [assumption|]. intros. rewrite real_of_zero. simpl. lra.
  - set (ks := hd [] kss) in *. set (base := base_of (largest (products ks (labels q)))) in *.
    set (base' := base_of (largest (map largest (columns q)))) in *. destruct (feasible D P q ks (products ks (labels q))) eqn:Hf; [|discriminate].
    destruct (over D P (map prepared qs) (tl kss) _) as [[c1 worth1]|] eqn:Ho; [|discriminate]. injection H as <- <-.
    apply IH in Ho; [|intros; apply Hc; right; assumption|rewrite less_gains_length; exact Hlen].
    destruct Ho as [Hlen' Ho]. split; [exact Hlen'|]. intros w b Hw.
    specialize (Ho (fun t => w (S t)) (fun t => b (S t))).
    assert (Hw' : forall t, (t < length qs)%nat -> weights_at D z (w (S t)) (b (S t))) by (intros t Ht; apply Hw; simpl; lia).
    specialize (Ho Hw'). simpl length. rewrite sum_from_front. simpl nth. rewrite Q2R_plus.
    assert (C : Q2R (constant D P q ks (products ks (labels q))) - sum_in z (gain_at D P q ks) (p D) <= fit_of D q (w O) (b O)).
    { apply constant_holds; [assumption|assumption|apply Hc; left; reflexivity|exact Hf|apply Hw; simpl; lia]. }
    assert (G : worth_of z (less_gains (step P * scale D) base base' (map (halves base) (products ks (labels q))) (limits D)
      (map (map (halves base')) (columns q)) worth) = worth_of z worth - sum_in z (gain_at D P q ks) (p D)).
    { unfold worth_of, sum_in. rewrite less_gains_length, <- Hlen, <- sum_minus. apply sum_ext. intros j Hj.
      rewrite less_gains_is_less by (try apply base_is_not_0; exact Hj). destruct (z j); unfold gain_at; lra. }
    rewrite G in Ho. lra.
Qed.

Lemma row_holds D z r : allowed D z -> row_sum z (terms (nth r (rows D) no_row)) <= IZR (right (nth r (rows D) no_row)).
Proof.
  intros H. destruct (Nat.lt_ge_cases r (length (rows D))) as [Hr|Hr]; [apply H, nth_In, Hr|].
  rewrite nth_overflow by exact Hr. unfold row_sum. simpl. lra.
Qed.
Lemma row_in_range D r : well_formed D = true -> (length (terms (nth r (rows D) no_row)) <= p D)%nat.
Proof.
  intros H. destruct (well_formed_holds D H) as [_ [Hr _]].
  destruct (Nat.lt_ge_cases r (length (rows D))) as [Hin|Hout]; [apply Hr, nth_In, Hin|]. rewrite nth_overflow by exact Hout. simpl. lia.
Qed.

Lemma plus_times_length tau worth : forall a, length (plus_times tau a worth) = length worth.
Proof. induction worth as [|x worth IH]; intros [|k a]; simpl; try reflexivity. f_equal. apply IH. Qed.

Lemma plus_times_is_plus tau worth : forall a z, (length a <= length worth)%nat ->
  worth_of z (plus_times tau a worth) = worth_of z worth + Q2R tau * row_sum z a.
Proof.
  unfold worth_of, sum_in, row_sum. induction worth as [|x worth IH]; intros [|k a] z H; simpl in H; try lia; simpl plus_times; simpl length.
  - simpl. lra.
  - simpl. lra.
  - rewrite !sum_from_front. specialize (IH a (fun j => z (S j)) ltac:(lia)). simpl nth.
    assert (E : Q2R (if (k =? 0)%Z then x else (x + tau * inject_Z k)%Q) = Q2R x + Q2R tau * IZR k).
    { destruct (Z.eqb_spec k 0) as [->|]; [lra|rewrite Q2R_plus, Q2R_mult, real_of_integer; lra]. }
    rewrite E. cbv beta in IH. destruct (z O); lra.
Qed.

Lemma charged_holds D z taus : well_formed D = true -> allowed D z -> forall c worth, charged D taus = Some (c, worth) ->
  length worth = p D /\ Q2R c + worth_of z worth <= worth_of z (prices D).
Proof.
  intros Hwf Hz. induction taus as [|[r tau] taus IH]; intros c worth H; simpl in H.
  - injection H as <- <-. split; [reflexivity|]. rewrite real_of_zero. lra.
  - destruct (charged D taus) as [[c1 worth1]|]; [|discriminate]. destruct (Qle_bool 0 tau) eqn:Ht; [|discriminate].
    injection H as <- <-. destruct (IH _ _ eq_refl) as [Hlen Hle]. split; [rewrite plus_times_length; exact Hlen|].
    rewrite plus_times_is_plus by (rewrite Hlen; apply row_in_range, Hwf). rewrite Q2R_minus, Q2R_mult, real_of_integer.
    apply Qle_bool_iff, Qle_Rle in Ht. rewrite real_of_zero in Ht.
    pose proof (row_holds D z r Hz). nra.
Qed.

(* What is known of an allowed subset from a point. *)
Definition holds_at D z V := length (values V) = p D /\ forall w b, classifier_at D z w b ->
  Q2R (base V) + sum_in z (fun j => IZR (nth j (values V) 0%Z)) (p D) / IZR (Zpos (unit V)) <= objective D z w b.

Lemma rounded_below g worth z :
  sum_in z (fun j => IZR (nth j (map (rounded g) worth) 0%Z)) (length worth) / IZR (Zpos g) <= worth_of z worth.
Proof.
  pose proof (grain_above_zero g) as Hg. unfold worth_of, sum_in, Rdiv. rewrite Rmult_comm, <- sum_scal. apply sum_le. intros j Hj.
  destruct (z j); [|lra]. rewrite (nth_indep _ 0%Z (rounded g 0)) by (rewrite map_length; exact Hj). rewrite map_nth.
  unfold rounded. pose proof (Qle_Rle _ _ (Qfloor_le (nth j worth 0%Q * inject_Z (Zpos g)))) as H.
  rewrite !Q2R_mult, !real_of_integer in H. apply (Rmult_le_reg_l (IZR (Zpos g))); [exact Hg|].
  eapply Rle_trans; [|rewrite Rmult_comm; exact H]. right. field. lra.
Qed.

Lemma seen_holds D P V z : well_formed D = true -> allowed D z -> seen D (map prepared (problems D)) P = Some V -> holds_at D z V.
Proof.
  intros Hwf Hz H. destruct (well_formed_holds D Hwf) as [Hq [_ Hpos]]. unfold seen in H.
  destruct (Qle_bool 0 (step P)) eqn:Hs; [|discriminate]. apply Qle_bool_iff, Qle_Rle in Hs. rewrite real_of_zero in Hs.
  destruct (charged D (row_prices P)) as [[c worth]|] eqn:Hc; [|discriminate].
  destruct (over D P (map prepared (problems D)) (multiples P) worth) as [[c' worth']|] eqn:Ho; [|discriminate]. injection H as <-.
  destruct (charged_holds D z _ Hwf Hz _ _ Hc) as [Hlen Hle].
  destruct (over_holds D P z Hs Hpos _ _ _ _ _ (fun q Hin => proj2 (Hq q Hin)) Hlen Ho) as [Hlen' Ho'].
  split; simpl; [rewrite map_length; exact Hlen'|]. intros w b Hw. specialize (Ho' w b Hw).
  pose proof (rounded_below (grain P) worth' z) as Hr. rewrite Hlen' in Hr. rewrite Q2R_plus. unfold objective.
  change (worth_of z (prices D)) with (sum (fun j => if z j then real_price D j else 0) (p D)) in Hle. lra.
Qed.

(* ---- The sum over features: any price of a place gives a bound ---- *)

Definition count (z : nat -> bool) m := sum (fun j => if z j then 1 else 0) m.

(* Whether a subset belongs to a box. *)
Definition belongs (z : nat -> bool) (ds : list choice) :=
  forall j, match nth j ds Free with Free => True | In => z j = true | Out => z j = false end.

Lemma belongs_tail z ds : belongs z ds -> belongs (fun j => z (S j)) (tl ds).
Proof. intros H j. specialize (H (S j)). rewrite nth_of_tail. exact H. Qed.

Lemma parts_not_above m vs : forall ds z, belongs z ds ->
  IZR (parts m vs ds) + IZR m * (count z (length vs) - IZR (inside ds (length vs)))
  <= sum_in z (fun j => IZR (nth j vs 0%Z)) (length vs).
Proof.
  induction vs as [|v vs IH]; intros ds z H.
  - unfold count, sum_in. simpl. lra.
  - specialize (IH _ _ (belongs_tail _ _ H)). specialize (H O). simpl length. unfold count, sum_in in *. rewrite !sum_from_front.
    simpl inside. simpl parts. rewrite plus_IZR, head_is_nth. simpl (nth 0 (v :: vs) 0%Z).
    simpl (nth (S _) (v :: vs) 0%Z).
    destruct (nth 0 ds Free).
    + rewrite plus_IZR. pose proof (IZR_le _ _ (Z.le_min_l 0 (v - m))). pose proof (IZR_le _ _ (Z.le_min_r 0 (v - m))).
      rewrite minus_IZR in *. destruct (z O); lra.
    + rewrite plus_IZR, H. lra.
    + rewrite H. lra.
Qed.

(* A subset of the box has none of the features that are dropped, or its sum is higher by the gap. *)
Lemma drop_not_above m gap vs : (0 <= gap)%Z -> forall ds z, belongs z ds -> belongs z (drop m gap vs ds) \/
  IZR (parts m vs ds) + IZR m * (count z (length vs) - IZR (inside ds (length vs))) + IZR gap
  <= sum_in z (fun j => IZR (nth j vs 0%Z)) (length vs).
Proof.
  intros Hgap. induction vs as [|v vs IH]; intros ds z H; [left; exact H|].
  pose proof (parts_not_above m vs _ _ (belongs_tail _ _ H)) as Htail.
  specialize (IH _ _ (belongs_tail _ _ H)). pose proof (H O) as H0. apply IZR_le in Hgap.
  unfold count, sum_in in *. simpl length. rewrite !sum_from_front. simpl inside. simpl parts. rewrite plus_IZR, head_is_nth.
  simpl (nth 0 (v :: vs) 0%Z). simpl (nth (S _) (v :: vs) 0%Z). simpl drop. rewrite head_is_nth.
  pose proof (IZR_le _ _ (Z.le_min_l 0 (v - m))) as Hl. pose proof (IZR_le _ _ (Z.le_min_r 0 (v - m))) as Hr. rewrite minus_IZR in Hr.
  destruct IH as [IH|IH].
  - (* The tail has none of them: it depends on the first feature. *)
    destruct (nth 0 ds Free) eqn:E.
    + destruct (Z.leb_spec (m + gap) v) as [Hv|Hv].
      * apply IZR_le in Hv. rewrite plus_IZR in Hv. destruct (z O) eqn:Ez.
        -- right. rewrite plus_IZR. lra.
        -- left. intros [|j]; simpl; [exact Ez|apply IH].
      * left. intros [|j]; simpl; [exact I|apply IH].
    + left. intros [|j]; simpl; [exact H0|apply IH].
    + left. intros [|j]; simpl; [exact H0|apply IH].
  - right. destruct (nth 0 ds Free).
    + rewrite plus_IZR. destruct (z O); lra.
    + rewrite plus_IZR, H0. lra.
    + rewrite H0. lra.
Qed.

Lemma inside_not_above_count z ds q : belongs z ds -> IZR (inside ds q) <= count z q.
Proof.
  unfold count. revert ds z. induction q as [|q IH]; intros ds z Hb; [simpl; lra|].
  rewrite sum_from_front. simpl inside. rewrite plus_IZR.
  specialize (IH _ _ (belongs_tail _ _ Hb)). specialize (Hb O).
  rewrite head_is_nth. destruct (nth 0 ds Free); [| rewrite Hb | rewrite Hb]; try destruct (z O); lra.
Qed.

(* ---- The bound of a box holds for every allowed subset of it ---- *)

(* What a bound says of a subset; None says that the subset is not there. *)
Definition holds_for D z (r : option Q) :=
  match r with None => False | Some q => forall w b, classifier_at D z w b -> Q2R q <= objective D z w b end.

Lemma bound_with_gap_holds D V room gap m ds z : holds_at D z V -> belongs z ds -> count z (p D) <= IZR room ->
  IZR (parts (Z.min m 0) (values V) ds) + IZR (Z.min m 0) * (count z (length (values V)) - IZR (inside ds (length (values V)))) + IZR gap
  <= sum_in z (fun j => IZR (nth j (values V) 0%Z)) (length (values V)) ->
  holds_for D z (bound D V room gap m ds).
Proof.
  intros [Hlen HV] Hb Hz HP. unfold bound. rewrite Hlen in HP. pose proof (IZR_le _ _ (Z.le_min_r m 0)) as Hm. set (M := Z.min m 0) in *.
  destruct (Z.ltb_spec (room - inside ds (p D)) 0) as [Hneg|Hpos]; simpl.
  - (* More are in than there is room for: an allowed subset is not in this box. *)
    pose proof (inside_not_above_count z ds (p D) Hb). apply (IZR_lt _ _) in Hneg. rewrite minus_IZR in Hneg. lra.
  - intros w b Hw. rewrite Q2R_plus. specialize (HV w b Hw).
    pose proof (grain_above_zero (unit V)) as Hg. set (g := IZR (Zpos (unit V))) in *.
    (* A subset with room left pays no more than one that fills it. *)
    assert (IZR M * (IZR room - IZR (inside ds (p D))) <= IZR M * (count z (p D) - IZR (inside ds (p D)))) by nra.
    assert (HQ : Q2R ((parts M (values V) ds + M * (room - inside ds (p D)) + gap) # unit V)
      <= sum_in z (fun j => IZR (nth j (values V) 0%Z)) (p D) / g).
    { unfold Q2R, Rdiv. simpl Qnum. simpl Qden. fold g. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, Hg|].
      rewrite !plus_IZR, mult_IZR, minus_IZR. lra. }
    lra.
Qed.

Lemma bound_holds D V room m ds z : holds_at D z V -> belongs z ds -> count z (p D) <= IZR room -> holds_for D z (bound D V room 0 m ds).
Proof.
  intros HV Hb Hz. apply bound_with_gap_holds; [assumption|assumption|assumption|].
  pose proof (parts_not_above (Z.min m 0) (values V) ds z Hb). lra.
Qed.

(* ---- What rows say of a box ---- *)

Lemma least_not_above a : forall ds z, belongs z ds -> IZR (least a ds) <= row_sum z a.
Proof.
  unfold row_sum. induction a as [|k a IH]; intros ds z H; [simpl; lra|].
  specialize (IH _ _ (belongs_tail _ _ H)). specialize (H O). simpl length. rewrite sum_from_front. simpl least. simpl nth.
  rewrite plus_IZR, head_is_nth. pose proof (IZR_le _ _ (Z.le_min_l 0 k)). pose proof (IZR_le _ _ (Z.le_min_r 0 k)).
  destruct (nth 0 ds Free); [destruct (z O)|rewrite H|rewrite H]; lra.
Qed.

Lemma forced_keeps a : forall left ds z, belongs z ds -> row_sum z a - IZR (least a ds) <= IZR left -> belongs z (forced left a ds).
Proof.
  induction a as [|k a IH]; intros left ds z H Hleft; [exact H|].
  pose proof (least_not_above a _ _ (belongs_tail _ _ H)) as Htail. pose proof (H O) as H0.
  unfold row_sum in *. simpl length in Hleft. rewrite sum_from_front in Hleft. simpl least in Hleft. simpl nth in Hleft.
  rewrite plus_IZR, head_is_nth in Hleft.
  pose proof (IZR_le _ _ (Z.le_min_l 0 k)) as Hl. pose proof (IZR_le _ _ (Z.le_min_r 0 k)) as Hr.
  assert (Hhead : 0 <= (if z O then IZR k else 0) - IZR (match nth 0 ds Free with Free => Z.min 0 k | In => k | Out => 0 end)).
  { destruct (nth 0 ds Free); [destruct (z O)|rewrite H0|rewrite H0]; lra. }
  specialize (IH left (tl ds) (fun j => z (S j)) (belongs_tail _ _ H)). intros [|j]; simpl.
  - rewrite head_is_nth. destruct (nth 0 ds Free); [|exact H0|exact H0].
    destruct (Z.ltb_spec left k) as [Hk|Hk]; [|destruct (Z.ltb_spec k (- left)) as [Hk'|Hk']; [|exact I]].
    + apply IZR_lt in Hk. destruct (z O); [lra|reflexivity].
    + apply IZR_lt in Hk'. rewrite opp_IZR in Hk'. destruct (z O); [reflexivity|lra].
  - apply IH. lra.
Qed.

Lemma spare_is_enough u v a : 0 <= IZR u -> forall m z, (length a <= m)%nat -> IZR v * count z m <= IZR u * row_sum z a + IZR (spare u v a m).
Proof.
  intros Hu. unfold count, row_sum. induction a as [|k a IH].
  - intros m. induction m as [|m IHm]; intros z _; [simpl; lra|]. specialize (IHm (fun j => z (S j)) ltac:(simpl; lia)).
    rewrite sum_from_front. simpl spare. simpl length in *. rewrite plus_IZR. simpl sum in *.
    pose proof (IZR_le _ _ (Z.le_max_l 0 (v - u * 0))). pose proof (IZR_le _ _ (Z.le_max_r 0 (v - u * 0))) as Hv.
    rewrite minus_IZR, mult_IZR in Hv. destruct (z O); lra.
  - intros [|m] z H; simpl in H; [lia|]. specialize (IH m (fun j => z (S j)) ltac:(lia)).
    simpl length. rewrite !sum_from_front. simpl spare. simpl nth. rewrite plus_IZR.
    pose proof (IZR_le _ _ (Z.le_max_l 0 (v - u * k))). pose proof (IZR_le _ _ (Z.le_max_r 0 (v - u * k))) as Hv.
    rewrite minus_IZR, mult_IZR in Hv. destruct (z O); lra.
Qed.

Lemma size_holds u v r a m z : (0 <= u)%Z -> (length a <= m)%nat -> row_sum z a <= IZR r ->
  count z m <= IZR ((u * r + spare u (Zpos v) a m) / Zpos v).
Proof.
  intros Hu Ha Hr. apply IZR_le in Hu. pose proof (spare_is_enough u (Zpos v) a Hu m z Ha) as H.
  assert (Hi : exists k, count z m = IZR k).
  { unfold count. clear. induction m as [|m [k IH]]; [exists 0%Z; reflexivity|]. simpl. rewrite IH.
    destruct (z m); [exists (k + 1)%Z; rewrite plus_IZR; reflexivity|exists k; lra]. }
  destruct Hi as [k Hk]. rewrite Hk in *. apply IZR_le, Z.div_le_lower_bound; [reflexivity|]. apply le_IZR.
  rewrite mult_IZR, plus_IZR, mult_IZR. nra.
Qed.

Lemma count_not_above z m : count z m <= IZR (Z.of_nat m).
Proof. unfold count. induction m; [simpl; lra|]. rewrite Nat2Z.inj_succ, succ_IZR. simpl sum. destruct (z m); lra. Qed.

(* ---- The tree leaves no subset out ---- *)

Lemma decide_keeps z ds j c : belongs z ds ->
  match c with Free => True | In => z j = true | Out => z j = false end -> belongs z (decide ds j c).
Proof.
  revert z ds. induction j; intros z ds H Hc i.
  - destruct i; simpl; [exact Hc|]. specialize (H (S i)). rewrite nth_of_tail. exact H.
  - destruct i; simpl.
    + rewrite head_is_nth. apply (H O).
    + apply (IHj (fun i => z (S i))); [|exact Hc]. intros q. rewrite nth_of_tail. apply (H (S q)).
Qed.
Lemma lesser_holds_left D z a b : holds_for D z a -> holds_for D z (lesser a b).
Proof.
  destruct a as [a|]; simpl; [|tauto]. destruct b as [b|]; simpl; [|auto].
  intros H w c Hw. specialize (H w c Hw). pose proof (lesser_than_left a b). lra.
Qed.
Lemma lesser_holds_right D z a b : holds_for D z b -> holds_for D z (lesser a b).
Proof.
  destruct b as [b|]; simpl; [|tauto]. destruct a as [a|]; simpl; [|auto].
  intros H w c Hw. specialize (H w c Hw). pose proof (lesser_than_right a b). lra.
Qed.

(* A subset of the box is in a part that a fix closed, or in the box that it leaves. *)
Lemma fix_leaves_none_out D V room fixed z : holds_at D z V -> count z (p D) <= IZR room -> forall ds, belongs z ds ->
  let (b, ds') := fix_all D V room ds fixed in holds_for D z b \/ belongs z ds'.
Proof.
  intros HV Hz. induction fixed as [|[[j put_in] m] fixed IH]; intros ds Hb; simpl; [right; exact Hb|].
  destruct put_in.
  - specialize (IH (decide ds j In)). destruct (fix_all D V room (decide ds j In) fixed) as [rest ds'].
    destruct (z j) eqn:E.
    + destruct IH; [apply decide_keeps; assumption|left; apply lesser_holds_right; assumption|right; assumption].
    + left. apply lesser_holds_left, bound_holds; [assumption|apply decide_keeps; assumption|assumption].
  - specialize (IH (decide ds j Out)). destruct (fix_all D V room (decide ds j Out) fixed) as [rest ds'].
    destruct (z j) eqn:E.
    + left. apply lesser_holds_left, bound_holds; [assumption|apply decide_keeps; assumption|assumption].
    + destruct IH; [apply decide_keeps; assumption|left; apply lesser_holds_right; assumption|right; assumption].
Qed.

Lemma check_holds D Vs z t : well_formed D = true -> allowed D z -> (forall V, List.In (Some V) Vs -> holds_at D z V) ->
  forall V room ds r, check D Vs V room ds t = Some r -> match V with Some V => holds_at D z V | None => True end -> count z (p D) <= IZR room -> belongs z ds -> holds_for D z r.
Proof.
  intros Hwf Ha Hall.
  induction t as [k t IH | m | i | j ti IHi to IHo | i t IH | i u v t IH | m gap t IH | fixed t IH]; intros V room ds r H HV Hz Hb; simpl in H.
  - destruct (nth k Vs None) as [W|] eqn:E; [|discriminate]. eapply IH; [exact H| |assumption|assumption].
    apply Hall. rewrite <- E. destruct (Nat.lt_ge_cases k (length Vs)) as [Hk|Hk]; [apply nth_In, Hk|].
    rewrite nth_overflow in E by exact Hk. discriminate.
  - destruct V as [W|]; [|discriminate]. injection H as <-. apply bound_holds; assumption.
  - destruct (Z.ltb_spec (right (nth i (rows D) no_row)) (least (terms (nth i (rows D) no_row)) ds)) as [Hl|Hl]; [|discriminate].
    apply IZR_lt in Hl. pose proof (row_holds D z i Ha). pose proof (least_not_above (terms (nth i (rows D) no_row)) ds z Hb). lra.
  - destruct (check D Vs V room (decide ds j In) ti) as [a|] eqn:Ei; [|discriminate].
    destruct (check D Vs V room (decide ds j Out) to) as [b|] eqn:Eo; [|discriminate]. injection H as <-.
    destruct (z j) eqn:E.
    + apply lesser_holds_left. eapply IHi; [exact Ei|assumption|assumption|apply decide_keeps; assumption].
    + apply lesser_holds_right. eapply IHo; [exact Eo|assumption|assumption|apply decide_keeps; assumption].
  - eapply IH; [exact H|assumption|assumption|]. apply forced_keeps; [exact Hb|]. rewrite minus_IZR. pose proof (row_holds D z i Ha). lra.
  - destruct (Z.leb_spec 0 u) as [Hu|]; [|discriminate]. eapply IH; [exact H|assumption| |assumption].
    apply Z.min_case; [assumption|]. apply size_holds; [assumption|apply row_in_range, Hwf|apply row_holds, Ha].
  - destruct V as [W|]; [|discriminate]. destruct (Z.leb_spec 0 gap) as [Hgap|]; [|discriminate].
    destruct (check D Vs (Some W) room (drop (Z.min m 0) gap (values W) ds) t) as [a|] eqn:Ea; [|discriminate]. injection H as <-.
    destruct (drop_not_above (Z.min m 0) gap (values W) Hgap ds z Hb) as [Hin|Hsum].
    + apply lesser_holds_right. eapply IH; [exact Ea|assumption|assumption|assumption].
    + apply lesser_holds_left. apply bound_with_gap_holds; assumption.
  - destruct V as [W|]; [|discriminate]. pose proof (fix_leaves_none_out D W room fixed z HV Hz ds Hb) as Hfix.
    destruct (fix_all D W room ds fixed) as [b ds'].
    destruct (check D Vs (Some W) room ds' t) as [a|] eqn:Ea; [|discriminate]. injection H as <-.
    destruct Hfix; [apply lesser_holds_left; assumption|apply lesser_holds_right; eapply IH; eassumption].
Qed.

(* ---- The theorem ---- *)

(* If the program accepts points, a tree and a claimed bound, then no allowed subset has, with whatever weights and biases within
   their limits, an objective below the bound. *)
Theorem proven D points t claimed : accepts D points t claimed = true ->
  forall z w b, allowed D z -> classifier_at D z w b -> Q2R claimed <= objective D z w b.
Proof.
  intros H z w b Hz Hw. unfold accepts, reaches, found in H. destruct (well_formed D) eqn:Hwf; [|discriminate].
  destruct (check D _ None (Z.of_nat (p D)) [] t) as [r|] eqn:E; [|discriminate].
  assert (Hr : holds_for D z r).
  { eapply check_holds; [exact Hwf|exact Hz| |exact E|exact I|apply count_not_above|intros j; destruct j; exact I].
    intros V Hin. apply in_map_iff in Hin as [P [HP _]]. eapply seen_holds; eassumption. }
  destruct r as [q|]; [|contradiction].
  apply Rle_trans with (Q2R q); [apply Qle_Rle, Qle_bool_iff, H|apply Hr, Hw].
Qed.
