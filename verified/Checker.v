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

(* ---- The question, in numbers that a computer holds exactly ---- *)

(* Columns by feature, as integers that count `scale`s; labels; costs C_i; prices lambda_j; the largest size allowed;
   whether the loss is the squared hinge. *)
Record data := {
  columns : list (list Z); labels : list Z; costs : list Q; prices : list Q; scale : Q; max_features : Z; squared : bool }.
Definition n D := length (labels D).
Definition p D := length (columns D).

(* The same numbers as real ones. *)
Open Scope R_scope.
Definition real_x D i j := IZR (nth i (nth j (columns D) []) 0%Z) * Q2R (scale D).
Definition real_label D i := IZR (nth i (labels D) 0%Z).
Definition real_cost D i := Q2R (nth i (costs D) 0%Q).
Definition real_price D j := Q2R (nth j (prices D) 0%Q).

(* A subset is allowed if it has at most `max_features` features. *)
Definition count (z : nat -> bool) p := sum (fun j => if z j then 1 else 0) p.
Definition allowed D z := count z (p D) <= IZR (max_features D).

(* The objective of subset z, weights w and bias b. *)
Definition objective D z w b := F (n D) (p D) (real_x D) (real_label D) (real_cost D) (real_price D) (squared D) z w b.
(* Weights stand only at features that are in. *)
Definition only_at D (z : nat -> bool) (w : nat -> R) := forall j, (j < p D)%nat -> z j = false -> w j = 0.

(* ---- The proof: a tree of boxes ---- *)

(* A dual point: alpha_i is `multiples`_i times `step`. Values of features are rounded down to multiples of 1 / `grain`. *)
Record point := { multiples : list Z; step : Q; grain : positive }.

(* A box is what was decided of each feature; features beyond the end of the list are free. *)
Inductive choice := Free | In | Out.

(* The integer of `Close` and of each part of `Fix` is the price of a place, in 1 / grain. *)
Inductive tree :=
| Close (P : point) (price : Z)                              (* the bound at the point holds for all of the box *)
| Split (j : nat) (with_j without_j : tree)                  (* two boxes: feature j in, feature j out *)
| Drop (P : point) (price gap : Z) (t : tree)                 (* free features whose value is at least price + gap are put
                                                                out, all in one step: with one of them in, the bound
                                                                is higher by the gap *)
| Fix (P : point) (fixed : list (nat * bool * Z)) (t : tree). (* one feature after the other: the box with the other
                                                                decision is closed, and the tree goes on with this one *)

(* ---- The program ---- *)

Open Scope Z_scope.
Fixpoint total (a : list Z) : Z := match a with x :: a => x + total a | [] => 0 end.
Fixpoint products (a b : list Z) : list Z := match a, b with x :: a, y :: b => x * y :: products a b | _, _ => [] end.
(* A dot product that passes over zeros of the first list. *)
Fixpoint dot (a b : list Z) : Z :=
  match a, b with x :: a, y :: b => if x =? 0 then dot a b else x * y + dot a b | _, _ => 0 end.

(* Whether a point is feasible: 0 <= alpha_i <= C_i for the hinge, 0 <= alpha_i, and alpha_i = 0 where C_i = 0, for the
   squared hinge; and the alphas of both classes add up to the same. *)
Open Scope Q_scope.
Definition one_in_range (squared : bool) (step : Q) (k : Z) (cost : Q) : bool :=
  (0 <=? k)%Z && if squared then (k =? 0)%Z || negb (Qle_bool cost 0) else Qle_bool (inject_Z k * step) cost.
Fixpoint in_range squared step (ks : list Z) (costs : list Q) : bool :=
  match ks with
  | [] => true
  | k :: ks => one_in_range squared step k (hd 0 costs) && in_range squared step ks (tl costs)
  end.
Definition feasible D P : bool :=
  (length (multiples P) =? n D)%nat && Qle_bool 0 (step P) && in_range (squared D) (step P) (multiples P) (costs D)
  && (total (products (labels D) (multiples P)) =? 0)%Z && forallb (Qle_bool 0) (costs D).

(* What the squared hinge takes from the bound: the sum of alpha_i^2 / (4 C_i), each in 1 / grain and rounded up. *)
Definition one_lost (squared : bool) (step : Q) (grain : positive) (k : Z) (cost : Q) : Z :=
  if squared && negb (k =? 0)%Z
  then let a := inject_Z k * step in Qceiling (a * a / (inject_Z 4 * cost) * inject_Z (Zpos grain)) else 0%Z.
Fixpoint lost squared step grain (ks : list Z) (costs : list Q) : Z :=
  match ks with [] => 0%Z | k :: ks => (one_lost squared step grain k (hd 0%Q costs) + lost squared step grain ks (tl costs))%Z end.
Definition lost_at D P : Z := lost (squared D) (step P) (grain P) (multiples P) (costs D).

(* What a feature adds to the bound if it is in: lambda - c^2 / 2 with its score c, in 1 / grain and rounded down. *)
Definition value (unit : Q) (grain : positive) (betas : list Z) (price : Q) (column : list Z) : Z :=
  let c := inject_Z (dot betas column) * unit in Qfloor ((price - c * c * (1 # 2)) * inject_Z (Zpos grain)).
Fixpoint values unit grain betas (prices : list Q) (columns : list (list Z)) : list Z :=
  match columns with
  | [] => []
  | column :: rest => value unit grain betas (hd 0 prices) column :: values unit grain betas (tl prices) rest
  end.
Definition values_at D P : list Z :=
  values (step P * scale D) (grain P) (products (multiples P) (labels D)) (prices D) (columns D).
Definition sum_of_alphas P : Q := inject_Z (total (multiples P)) * step P.

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

(* The bound of a box at a point, whose values of features are `vs` and whose loss takes `less`; None where more features are in than may be. *)
Definition bound D P (vs : list Z) (less price : Z) (ds : list choice) : option Q :=
  let price := Z.min price 0 in
  let room := max_features D - inside ds (p D) in
  if room <? 0 then None else Some (sum_of_alphas P + ((parts price vs ds + price * room - less) # grain P))%Q.

Definition lesser (a b : option Q) : option Q :=
  match a, b with None, b => b | a, None => a | Some a, Some b => Some (Qmin a b) end.

(* The least bound of the parts that a fix closes, and the box that it leaves. *)
Fixpoint fix_all D P vs less ds (fixed : list (nat * bool * Z)) : option Q * list choice :=
  match fixed with
  | [] => (None, ds)
  | (j, put_in, price) :: fixed =>
    let (other, own) := if put_in : bool then (Out, In) else (In, Out) in
    let closed := bound D P vs less price (decide ds j other) in
    let (rest, ds) := fix_all D P vs less (decide ds j own) fixed in (lesser closed rest, ds)
  end.

Fixpoint drop (price gap : Z) (vs : list Z) (ds : list choice) : list choice :=
  match vs with
  | [] => ds
  | v :: vs =>
    match hd Free ds with Free => if price + gap <=? v then Out else Free | d => d end :: drop price gap vs (tl ds)
  end.

(* Some (Some b): no allowed subset of the box is below b. Some None: the box has none. None: the proof is refused. *)
Fixpoint check D (ds : list choice) (t : tree) : option (option Q) :=
  match t with
  | Close P price => if feasible D P then Some (bound D P (values_at D P) (lost_at D P) price ds) else None
  | Split j with_j without_j =>
    match check D (decide ds j In) with_j, check D (decide ds j Out) without_j with
    | Some a, Some b => Some (lesser a b) | _, _ => None end
  | Drop P price gap t =>
    if feasible D P && (0 <=? gap)%Z then
      let vs := values_at D P in
      match check D (drop (Z.min price 0) gap vs ds) t with
      | Some a => Some (lesser (bound D P vs (lost_at D P - gap) price ds) a) | None => None end
    else None
  | Fix P fixed t =>
    if feasible D P then
      let (b, ds) := fix_all D P (values_at D P) (lost_at D P) ds fixed in
      match check D ds t with Some a => Some (lesser b a) | None => None end
    else None
  end.

(* Whether a proof reaches the bound that is claimed: the whole program. It starts with the box of all subsets. *)
Definition reaches (found : option (option Q)) (claimed : Q) : bool :=
  match found with None => false | Some None => true | Some (Some b) => Qle_bool claimed b end.
Definition accepts D t claimed := reaches (check D [] t) claimed.

(* ---- Steps of the proof: integers and fractions as real numbers ---- *)

Open Scope R_scope.
Lemma real_of_integer k : Q2R (inject_Z k) = IZR k. Proof. unfold Q2R, inject_Z; simpl. field. Qed.
Lemma real_of_zero : Q2R 0 = 0. Proof. unfold Q2R; simpl; lra. Qed.
Lemma lesser_than_left a b : Q2R (Qmin a b) <= Q2R a. Proof. apply Qle_Rle, Q.le_min_l. Qed.
Lemma lesser_than_right a b : Q2R (Qmin a b) <= Q2R b. Proof. apply Qle_Rle, Q.le_min_r. Qed.
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

Lemma balance_is_sum b : forall a, sum (fun i => IZR (nth i b 0%Z) * IZR (nth i a 0%Z)) (length b) = IZR (total (products b a)).
Proof.
  induction b as [|y b IH]; intros a; [reflexivity|].
  simpl length. rewrite sum_from_front. destruct a as [|x a].
  - simpl. rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_0; lra|intros; destruct i; simpl; lra].
  - simpl products. simpl total. rewrite plus_IZR, mult_IZR, <- IH. simpl. reflexivity.
Qed.

Lemma dot_is_sum b : forall a c,
  sum (fun i => IZR (nth i a 0%Z) * IZR (nth i b 0%Z) * IZR (nth i c 0%Z)) (length b) = IZR (dot (products a b) c).
Proof.
  induction b as [|y b IH]; intros a c.
  - destruct a; reflexivity.
  - simpl length. rewrite sum_from_front.
    destruct a as [|x a]; [|destruct c as [|w c]].
    + simpl. rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_0; lra|intros; destruct i; simpl; lra].
    + simpl. rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_0; lra|intros; destruct i; simpl; lra].
    + simpl nth. rewrite IH. simpl dot. destruct (Z.eqb_spec (x * y) 0) as [E|E].
      * rewrite <- mult_IZR, E. lra.
      * rewrite plus_IZR, !mult_IZR. reflexivity.
Qed.

(* ---- A feasible point is feasible over the reals ---- *)

Definition alpha P i := IZR (nth i (multiples P) 0%Z) * Q2R (step P).

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
    + simpl orb in H. assert (Hpos : 0 < Q2R c).
      { destruct (Qle_bool c 0) eqn:Q; [discriminate|]. rewrite <- real_of_zero. apply Qlt_Rlt, Qnot_le_lt.
        intros N. apply Qle_bool_iff in N. congruence. }
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

(* ---- Values of features: rounded down, so never above lambda - c^2 / 2 ---- *)

Definition score_at D P j := score (n D) (real_x D) (real_label D) (alpha P) j.

Lemma score_is_dot D P j :
  score_at D P j = IZR (dot (products (multiples P) (labels D)) (nth j (columns D) [])) * (Q2R (step P) * Q2R (scale D)).
Proof.
  unfold score_at, score, alpha, real_label, real_x, n. rewrite <- dot_is_sum.
  rewrite (Rmult_comm (sum _ _)), <- sum_scal. apply sum_ext. intros. ring.
Qed.

Lemma values_not_above unit g betas cols : forall l j, (j < length cols)%nat ->
  IZR (nth j (values unit g betas l cols) 0%Z)
  <= (Q2R (nth j l 0%Q) - (IZR (dot betas (nth j cols [])) * Q2R unit) * (IZR (dot betas (nth j cols [])) * Q2R unit) / 2) * IZR (Zpos g).
Proof.
  induction cols as [|col rest IH]; intros l j H; simpl in H; [lia|].
  destruct j.
  - simpl nth. unfold value. rewrite <- real_of_integer. eapply Rle_trans; [apply Qle_Rle, Qfloor_le|].
    rewrite !Q2R_mult, Q2R_minus, !Q2R_mult, !real_of_integer, head_is_nth.
    replace (Q2R (1 # 2)) with (/ 2) by (unfold Q2R; simpl; field). right. field.
  - simpl values. simpl nth. rewrite <- nth_of_tail. apply IH. lia.
Qed.
Lemma values_length unit g betas cols : forall l, length (values unit g betas l cols) = length cols.
Proof. induction cols; intros; simpl; [reflexivity|f_equal; apply IHcols]. Qed.

(* ---- The sum over features: any price of a place gives a bound ---- *)

(* Whether a subset belongs to a box. *)
Definition belongs (z : nat -> bool) (ds : list choice) :=
  forall j, match nth j ds Free with Free => True | In => z j = true | Out => z j = false end.

Lemma belongs_tail z ds : belongs z ds -> belongs (fun j => z (S j)) (tl ds).
Proof. intros H j. specialize (H (S j)). rewrite nth_of_tail. exact H. Qed.

Lemma parts_not_above m vs : forall ds z, belongs z ds ->
  IZR (parts m vs ds) + IZR m * (count z (length vs) - IZR (inside ds (length vs)))
  <= sum (fun j => if z j then IZR (nth j vs 0%Z) else 0) (length vs).
Proof.
  induction vs as [|v vs IH]; intros ds z H.
  - simpl. unfold count; simpl. lra.
  - specialize (IH _ _ (belongs_tail _ _ H)). specialize (H O). simpl length. unfold count in *. rewrite !sum_from_front.
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
  <= sum (fun j => if z j then IZR (nth j vs 0%Z) else 0) (length vs).
Proof.
  intros Hgap. induction vs as [|v vs IH]; intros ds z H; [left; exact H|].
  pose proof (parts_not_above m vs _ _ (belongs_tail _ _ H)) as Htail.
  specialize (IH _ _ (belongs_tail _ _ H)). pose proof (H O) as H0. apply IZR_le in Hgap.
  unfold count in *. simpl length. rewrite !sum_from_front. simpl inside. simpl parts. rewrite plus_IZR, head_is_nth.
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
  match r with None => False | Some q => forall w b, only_at D z w -> Q2R q <= objective D z w b end.

Lemma bound_with_gap_holds D P m gap ds z : feasible D P = true -> belongs z ds -> allowed D z ->
  IZR (parts (Z.min m 0) (values_at D P) ds)
  + IZR (Z.min m 0) * (count z (length (values_at D P)) - IZR (inside ds (length (values_at D P)))) + IZR gap
  <= sum (fun j => if z j then IZR (nth j (values_at D P) 0%Z) else 0) (length (values_at D P)) ->
  holds_for D z (bound D P (values_at D P) (lost_at D P - gap) m ds).
Proof.
  intros Hf Hb Hz HP. unfold bound.
  apply andb_true_iff in Hf as [Hf Hc]. apply andb_true_iff in Hf as [Hf Hbal]. apply andb_true_iff in Hf as [Hf Hr].
  apply andb_true_iff in Hf as [Hlen Hs]. apply Nat.eqb_eq in Hlen. apply Qle_bool_iff, Qle_Rle in Hs.
  rewrite real_of_zero in Hs. apply Z.eqb_eq in Hbal.
  unfold values_at in *. rewrite values_length in HP.
  pose proof (IZR_le _ _ (Z.le_min_r m 0)) as Hm. fold (p D) in HP. unfold allowed in Hz.
  set (M := Z.min m 0) in *. set (V := values _ _ _ _ _) in *.
  destruct (Z.ltb_spec (max_features D - inside ds (p D)) 0) as [Hneg|Hpos]; simpl.
  - (* More are in than may be: an allowed subset is not in this box. *)
    pose proof (inside_not_above_count z ds (p D) Hb). apply (IZR_lt _ _) in Hneg. rewrite minus_IZR in Hneg. lra.
  - intros w b Hw. rewrite Q2R_plus.
    pose proof (grain_above_zero (grain P)) as Hg. set (g := IZR (Zpos (grain P))) in *.
    set (take := fun i => IZR (one_lost (squared D) (step P) (grain P) (nth i (multiples P) 0%Z) (nth i (costs D) 0%Q)) / g).
    pose proof (weak_duality (n D) (p D) (real_x D) (real_label D) (real_cost D) (real_price D) (squared D) (alpha P) take) as W.
    assert (HA : forall i t, (i < n D)%nat -> alpha P i * t - take i <= real_cost D i * loss (squared D) t)
      by (intros; apply in_range_holds; assumption).
    assert (HB : sum (fun i => real_label D i * alpha P i) (n D) = 0).
    { rewrite (sum_ext _ (fun i => Q2R (step P) * (IZR (nth i (labels D) 0%Z) * IZR (nth i (multiples P) 0%Z))))
        by (intros; unfold real_label, alpha; ring).
      rewrite sum_scal. unfold n. rewrite balance_is_sum, Hbal. lra. }
    specialize (W HA HB z w b Hw). unfold objective.
    assert (HS : sum (alpha P) (n D) = Q2R (sum_of_alphas P)).
    { unfold sum_of_alphas. rewrite Q2R_mult, real_of_integer, <- total_is_sum, <- Hlen. unfold alpha.
      rewrite (Rmult_comm (sum _ _)), <- sum_scal. apply sum_ext. intros; ring. }
    assert (HL : sum take (n D) = IZR (lost_at D P) / g).
    { unfold lost_at. rewrite <- lost_is_sum, Hlen. unfold Rdiv. rewrite Rmult_comm, <- sum_scal.
      apply sum_ext. intros. unfold take, Rdiv. ring. }
    (* In 1 / grain, the sum of rounded values is not above that of lambda - c^2 / 2. *)
    assert (HV : sum (fun j => if z j then IZR (nth j V 0%Z) else 0) (p D)
      <= g * sum (fun j => if z j then real_price D j - score_at D P j * score_at D P j / 2 else 0) (p D)).
    { rewrite <- sum_scal. apply sum_le. intros j Hj. destruct (z j); [|lra].
      unfold V. eapply Rle_trans; [apply values_not_above; exact Hj|].
      rewrite score_is_dot, Q2R_mult. fold g. unfold real_price. right. ring. }
    rewrite HS, HL in W.
    (* A subset with room left pays no more than one that fills it. *)
    assert (IZR M * (IZR (max_features D) - IZR (inside ds (p D))) <= IZR M * (count z (p D) - IZR (inside ds (p D)))) by nra.
    assert (HT : IZR (parts M V ds + M * (max_features D - inside ds (p D)) - (lost_at D P - gap))
      <= g * (sum (fun j => if z j then real_price D j - score_at D P j * score_at D P j / 2 else 0) (p D) - IZR (lost_at D P) / g)).
    { rewrite !minus_IZR, plus_IZR, mult_IZR, minus_IZR. rewrite (Rmult_minus_distr_l g).
      replace (g * (IZR (lost_at D P) / g)) with (IZR (lost_at D P)) by (field; lra). lra. }
    assert (HQ : Q2R ((parts M V ds + M * (max_features D - inside ds (p D)) - (lost_at D P - gap)) # grain P)
      <= sum (fun j => if z j then real_price D j - score_at D P j * score_at D P j / 2 else 0) (p D) - IZR (lost_at D P) / g).
    { unfold Q2R; simpl Qnum; simpl Qden. fold g. apply (Rmult_le_reg_l g); [exact Hg|].
      eapply Rle_trans; [|exact HT]. right. field. lra. }
    unfold score_at in HQ. lra.
Qed.

Lemma bound_holds D P m ds z : feasible D P = true -> belongs z ds -> allowed D z ->
  holds_for D z (bound D P (values_at D P) (lost_at D P) m ds).
Proof.
  intros Hf Hb Hz. rewrite <- (Z.sub_0_r (lost_at D P)). apply bound_with_gap_holds; [assumption|assumption|assumption|].
  pose proof (parts_not_above (Z.min m 0) (values_at D P) ds z Hb). lra.
Qed.

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
Lemma fix_leaves_none_out D P fixed : feasible D P = true -> forall ds z, belongs z ds -> allowed D z ->
  let (b, ds') := fix_all D P (values_at D P) (lost_at D P) ds fixed in holds_for D z b \/ belongs z ds'.
Proof.
  intros Hf. induction fixed as [|[[j put_in] m] fixed IH]; intros ds z Hb Hz; simpl; [right; exact Hb|].
  destruct put_in.
  - specialize (IH (decide ds j In) z).
    destruct (fix_all D P (values_at D P) (lost_at D P) (decide ds j In) fixed) as [rest ds'].
    destruct (z j) eqn:E.
    + destruct (IH ltac:(apply decide_keeps; assumption) Hz); [left; apply lesser_holds_right; assumption|right; assumption].
    + left. apply lesser_holds_left, bound_holds; [assumption|apply decide_keeps; assumption|assumption].
  - specialize (IH (decide ds j Out) z).
    destruct (fix_all D P (values_at D P) (lost_at D P) (decide ds j Out) fixed) as [rest ds'].
    destruct (z j) eqn:E.
    + left. apply lesser_holds_left, bound_holds; [assumption|apply decide_keeps; assumption|assumption].
    + destruct (IH ltac:(apply decide_keeps; assumption) Hz); [left; apply lesser_holds_right; assumption|right; assumption].
Qed.

Lemma check_holds D t : forall ds z r, check D ds t = Some r -> belongs z ds -> allowed D z -> holds_for D z r.
Proof.
  induction t as [P m | j ti IHi to IHo | P m gap t IH | P fixed t IH]; intros ds z r H Hb Hz; simpl in H.
  - destruct (feasible D P) eqn:Hf; [|discriminate]. injection H as <-. apply bound_holds; assumption.
  - destruct (check D (decide ds j In) ti) as [a|] eqn:Ei; [|discriminate].
    destruct (check D (decide ds j Out) to) as [b|] eqn:Eo; [|discriminate]. injection H as <-.
    destruct (z j) eqn:E.
    + apply lesser_holds_left. eapply IHi; [exact Ei|apply decide_keeps; assumption|assumption].
    + apply lesser_holds_right. eapply IHo; [exact Eo|apply decide_keeps; assumption|assumption].
  - destruct (feasible D P) eqn:Hf; [|discriminate]. destruct (Z.leb_spec 0 gap) as [Hgap|Hgap]; [|discriminate]. simpl in H.
    destruct (check D (drop (Z.min m 0) gap (values_at D P) ds) t) as [a|] eqn:Ea; [|discriminate]. injection H as <-.
    destruct (drop_not_above (Z.min m 0) gap (values_at D P) Hgap ds z Hb) as [Hin|Hsum].
    + apply lesser_holds_right. eapply IH; eassumption.
    + apply lesser_holds_left. apply bound_with_gap_holds; assumption.
  - destruct (feasible D P) eqn:Hf; [|discriminate].
    pose proof (fix_leaves_none_out D P fixed Hf ds z Hb Hz) as Hfix.
    destruct (fix_all D P (values_at D P) (lost_at D P) ds fixed) as [b ds'].
    destruct (check D ds' t) as [a|] eqn:Ea; [|discriminate]. injection H as <-.
    destruct Hfix; [apply lesser_holds_left; assumption|apply lesser_holds_right; eapply IH; eassumption].
Qed.

(* ---- The theorem ---- *)

(* If the program accepts a tree and a claimed bound, then no subset of at most `max_features` features has, with
   whatever weights on its features and whatever bias, an objective below the bound. *)
Theorem proven D t claimed : accepts D t claimed = true ->
  forall z w b, allowed D z -> only_at D z w -> Q2R claimed <= objective D z w b.
Proof.
  intros H z w b Hz Hw. unfold accepts, reaches in H. destruct (check D [] t) as [r|] eqn:E; [|discriminate].
  assert (Hr : holds_for D z r) by (eapply check_holds; [exact E|intros j; destruct j; exact I|exact Hz]).
  destruct r as [q|]; [|contradiction].
  apply Rle_trans with (Q2R q); [apply Qle_Rle, Qle_bool_iff, H|apply Hr, Hw].
Qed.
