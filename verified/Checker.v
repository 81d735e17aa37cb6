(* The theorem `proven` about the program of Program.v: what it accepts holds for every allowed subset and every
   classifier, over the real numbers. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals Qminmax Qround List Bool Arith.
Require Import Duality Program.
Import ListNotations.

(* ---- Steps of the proof: integers and fractions as real numbers ---- *)

Open Scope R_scope.
Lemma real_of_integer k : Q2R (inject_Z k) = IZR k. Proof. unfold Q2R, inject_Z; simpl. field. Qed.
Lemma real_of_zero : Q2R 0 = 0. Proof. unfold Q2R; simpl; lra. Qed.
Lemma real_of_one : Q2R 1 = 1. Proof. unfold Q2R; simpl; lra. Qed.
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
  w * score_at D P q ks j - weight_cost false w <= gain_at D P q ks j.
Proof.
  intros H. unfold weight_cost. apply gain_holds with (c := (inject_Z (plain_dot (products ks (labels q)) (nth j (columns q) [])) * (step P * scale D))%Q) in H.
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
  length ks = n q -> balanced (l1 D) (bias D) (step P) (products ks (labels q)) = true -> bias_allowed (bias D) b ->
  b * sum (fun i => real_label q i * alpha P ks i) (n q) - Q2R (bias_lost (l1 D) (bias D) (step P) (products ks (labels q)))
  <= bias_cost (l1 D) (bias D) b.
Proof.
  intros Hs Hpos Hlen Hbal Hb.
  assert (E : sum (fun i => real_label q i * alpha P ks i) (n q) = IZR (total (products ks (labels q))) * Q2R (step P)).
  { rewrite <- Hlen, <- balance_is_sum, Rmult_comm, <- sum_scal. apply sum_ext. intros. unfold real_label, alpha. ring. }
  rewrite E. destruct (bias D) as [| |s]; simpl in *.
  - apply Z.eqb_eq in Hbal. rewrite Hbal, real_of_zero. lra.
  - rewrite Hb, real_of_zero. lra.
  - unfold weight_cost. destruct (l1 D); simpl in Hbal.
    + apply andb_true_iff in Hbal as [H1 H2]. apply Qle_bool_iff, Qle_Rle in H1, H2.
      rewrite Q2R_opp in H2. rewrite !Q2R_mult, real_of_integer, real_of_one in H1, H2. rewrite real_of_zero.
      pose proof (penalised_balance_l1 (Q2R s) b (IZR (total (products ks (labels q))) * Q2R (step P)) Hpos H1 H2). lra.
    + rewrite !Q2R_mult, real_of_integer, half.
      pose proof (penalised_balance (Q2R s) b (IZR (total (products ks (labels q))) * Q2R (step P)) Hpos). lra.
Qed.

Lemma constant_holds D P q ks (z : nat -> bool) w b g : 0 <= Q2R (step P) -> match bias D with penalised s => 0 < Q2R s | _ => True end ->
  forallb (Qle_bool 0) (costs q) = true -> feasible D P q ks (products ks (labels q)) = true -> bias_allowed (bias D) b ->
  (forall j, (j < p D)%nat -> w j * score_at D P q ks j - weight_cost (l1 D) (w j) <= if z j then g j else 0) ->
  Q2R (constant D P q ks (products ks (labels q))) - sum_in z g (p D) <= fit_of D q w b.
Proof.
  intros Hs Hpos Hc Hf Hb Hw. unfold feasible in Hf.
  apply andb_true_iff in Hf as [Hf Hbal]. apply andb_true_iff in Hf as [Hlen Hr]. apply Nat.eqb_eq in Hlen.
  pose proof (grain_above_zero (grain P)) as Hg. set (gr := IZR (Zpos (grain P))) in *.
  set (take := fun i => IZR (one_lost (squared D) (step P) (grain P) (nth i ks 0%Z) (nth i (costs q) 0%Q)) / gr).
  assert (W : sum (alpha P ks) (n q) - sum take (n q) - Q2R (bias_lost (l1 D) (bias D) (step P) (products ks (labels q)))
    - sum_in z g (p D) <= fit_of D q w b).
  { apply weak_duality; [|intros; apply balanced_holds; assumption|exact Hb|exact Hw]. intros i t Hi. apply in_range_holds; assumption. }
  assert (HS : sum (alpha P ks) (n q) = IZR (total ks) * Q2R (step P)).
  { rewrite <- total_is_sum, <- Hlen, Rmult_comm, <- sum_scal. apply sum_ext. intros; unfold alpha; ring. }
  assert (HL : sum take (n q) = IZR (lost (squared D) (step P) (grain P) ks (costs q)) / gr).
  { rewrite <- lost_is_sum, Hlen. unfold Rdiv. rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros. unfold take, Rdiv. ring. }
  rewrite HS, HL in W. unfold constant. rewrite !Q2R_minus, Q2R_mult, real_of_integer.
  replace (Q2R (lost _ _ _ _ _ # grain P)) with (IZR (lost (squared D) (step P) (grain P) ks (costs q)) / gr) by (unfold Q2R; reflexivity).
  lra.
Qed.

(* ---- All problems, prices of rows, and rounding: what a point says holds ---- *)

Definition worth_of z worth := sum_in z (fun j => Q2R (nth j worth 0%Q)) (length worth).

Lemma over_holds D P z : l1 D = false -> 0 <= Q2R (step P) -> match bias D with penalised s => 0 < Q2R s | _ => True end ->
  forall qs kss worth c worth', (forall q, List.In q qs -> forallb (Qle_bool 0) (costs q) = true) -> length worth = p D ->
  over D P (map prepared qs) kss worth = Some (c, worth') -> length worth' = p D /\ forall w b,
  (forall t, (t < length qs)%nat -> weights_at D z (w t) (b t)) ->
  Q2R c + worth_of z worth' <= sum (fun t => fit_of D (nth t qs no_problem) (w t) (b t)) (length qs) + worth_of z worth.
Proof.
  intros Hl1 Hs Hpos. induction qs as [|q qs IH]; intros kss worth c worth' Hc Hlen H; simpl in H.
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
    { destruct (Hw O ltac:(simpl; lia)) as [Hb0 Hw0].
      apply constant_holds; [assumption|assumption|apply Hc; left; reflexivity|exact Hf|exact Hb0|]. rewrite Hl1.
      intros j Hj. destruct (Hw0 j Hj) as [Hout Hin]. destruct (z j) eqn:E; [apply gain_at_holds, Hin|].
      rewrite Hout by reflexivity. unfold weight_cost. lra. }
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

(* What is known of a classifier on an allowed subset from a point. *)
Definition holds_at D z w b V := length (values V) = p D /\
  Q2R (base V) + sum_in z (fun j => IZR (nth j (values V) 0%Z)) (p D) / IZR (Zpos (unit V)) <= objective D z w b.
(* The same with gain l1, from worths and scores, for the weights that there are. *)
Definition line_at V (w : nat -> R) j :=
  Q2R (fst (nth j (lines V) (0, 0)%Q)) - (w j * Q2R (snd (nth j (lines V) (0, 0)%Q)) - Rabs (w j)).
Definition raw_at D z (w : nat -> nat -> R) b V := (0 < length (problems D))%nat /\ length (lines V) = p D /\
  Q2R (base V) + sum_in z (line_at V (w O)) (p D) <= objective D z w b.
Definition starts_at D z w b V := if l1 D then raw_at D z w b V else holds_at D z w b V.
Definition below_lines D z (w : nat -> nat -> R) V :=
  forall j, (j < p D)%nat -> z j = true -> IZR (nth j (values V) 0%Z) <= line_at V (w O) j * IZR (Zpos (unit V)).
Definition known_at D z w b V := holds_at D z w b V /\ (l1 D = true -> raw_at D z w b V /\ below_lines D z w V).

Lemma rounded_not_above g x : IZR (rounded g x) <= Q2R x * IZR (Zpos g).
Proof. unfold rounded. pose proof (Qle_Rle _ _ (Qfloor_le (x * inject_Z (Zpos g)))) as H. rewrite Q2R_mult, !real_of_integer in H. exact H. Qed.
Lemma rounded_below g worth z :
  sum_in z (fun j => IZR (nth j (map (rounded g) worth) 0%Z)) (length worth) / IZR (Zpos g) <= worth_of z worth.
Proof.
  pose proof (grain_above_zero g) as Hg. unfold worth_of, sum_in, Rdiv. rewrite Rmult_comm, <- sum_scal. apply sum_le. intros j Hj.
  destruct (z j); [|lra]. rewrite (nth_indep _ 0%Z (rounded g 0)) by (rewrite map_length; exact Hj). rewrite map_nth.
  unfold rounded. pose proof (Qle_Rle _ _ (Qfloor_le (nth j worth 0%Q * inject_Z (Zpos g)))) as H.
  rewrite !Q2R_mult, !real_of_integer in H. apply (Rmult_le_reg_l (IZR (Zpos g))); [exact Hg|].
  eapply Rle_trans; [|rewrite Rmult_comm; exact H]. right. field. lra.
Qed.

Lemma lines_of_are unit base base' betas worth : base <> 0%Z -> base' <> 0%Z -> forall cs,
  length (lines_of unit base base' (map (halves base) betas) (map (map (halves base')) cs) worth) = length worth /\
  forall j, (j < length worth)%nat -> nth j (lines_of unit base base' (map (halves base) betas) (map (map (halves base')) cs) worth) (0, 0)%Q
    = (nth j worth 0%Q, (inject_Z (plain_dot betas (nth j cs [])) * unit)%Q).
Proof.
  intros H H'. induction worth as [|x worth IH]; intros cs; [split; [reflexivity|intros j Hj; simpl in Hj; lia]|].
  specialize (IH (tl cs)). replace (map (map (halves base')) (tl cs)) with (tl (map (map (halves base')) cs)) in IH by (destruct cs; reflexivity).
  destruct IH as [Hlen IH]. split; [simpl; f_equal; exact Hlen|]. intros [|j] Hj; simpl nth; simpl in Hj.
  - rewrite !head_is_nth, (map_nth (map (halves base')) cs []), dot_is_plain by assumption. reflexivity.
  - rewrite IH by lia. rewrite nth_of_tail. reflexivity.
Qed.

Lemma seen_holds D P V z w b : well_formed D = true -> allowed D z -> classifier_at D z w b ->
  seen D (map prepared (problems D)) P = Some V -> starts_at D z w b V.
Proof.
  intros Hwf Hz Hw H. destruct (well_formed_holds D Hwf) as [Hq [_ Hpos]]. unfold seen in H. unfold starts_at.
  destruct (Qle_bool 0 (step P)) eqn:Hs; [|discriminate]. apply Qle_bool_iff, Qle_Rle in Hs. rewrite real_of_zero in Hs.
  destruct (charged D (row_prices P)) as [[c worth]|] eqn:Hc; [|discriminate].
  destruct (charged_holds D z _ Hwf Hz _ _ Hc) as [Hlen Hle].
  change (worth_of z (prices D)) with (sum (fun j => if z j then real_price D j else 0) (p D)) in Hle.
  destruct (l1 D) eqn:Hl1.
  - destruct (problems D) as [|q [|]] eqn:Hps; simpl in H; try discriminate.
    set (ks := hd [] (multiples P)) in *. destruct (feasible D P q ks (products ks (labels q))) eqn:Hf; [|discriminate]. injection H as <-.
    unfold classifier_at in Hw. rewrite Hps in Hw. destruct (Hw O ltac:(simpl; lia)) as [Hb0 Hw0].
    set (base := base_of (largest (products ks (labels q)))). set (base' := base_of (largest (map largest (columns q)))).
    destruct (lines_of_are (step P * scale D)%Q base base' (products ks (labels q)) worth ltac:(apply base_is_not_0) ltac:(apply base_is_not_0) (columns q)) as [Hll Hlines].
    unfold raw_at. rewrite Hps. simpl Program.lines. simpl Program.base. split; [simpl; lia|split; [rewrite Hll; exact Hlen|]].
    pose proof (constant_holds D P q ks z (w O) (b O) (fun j => w O j * score_at D P q ks j - Rabs (w O j)) Hs Hpos
      (proj2 (Hq q (or_introl eq_refl))) Hf Hb0) as C. rewrite Hl1 in C. unfold weight_cost in C.
    assert (C' : Q2R (constant D P q ks (products ks (labels q))) - sum_in z (fun j => w O j * score_at D P q ks j - Rabs (w O j)) (p D)
      <= fit_of D q (w O) (b O)).
    { apply C. intros j Hj. destruct (z j) eqn:E; [lra|]. rewrite (proj1 (Hw0 j Hj) E), Rabs_R0. lra. }
    assert (S : sum_in z (line_at {| Program.base := c + constant D P q ks (products ks (labels q)); unit := grain P; values := [];
        lines := lines_of (step P * scale D) base base' (map (halves base) (products ks (labels q))) (map (map (halves base')) (columns q)) worth |} (w O)) (p D)
      = worth_of z worth - sum_in z (fun j => w O j * score_at D P q ks j - Rabs (w O j)) (p D)).
    { unfold worth_of, sum_in. rewrite Hlen, <- sum_minus. apply sum_ext. intros j Hj. unfold line_at. simpl lines.
      rewrite Hlines by (rewrite Hlen; exact Hj). simpl fst. simpl snd. rewrite !Q2R_mult, real_of_integer, <- score_is_dot. destruct (z j); lra. }
    rewrite S, Q2R_plus. unfold objective. rewrite Hps. simpl. lra.
  - destruct (over D P (map prepared (problems D)) (multiples P) worth) as [[c' worth']|] eqn:Ho; [|discriminate]. injection H as <-.
    destruct (over_holds D P z Hl1 Hs Hpos _ _ _ _ _ (fun q Hin => proj2 (Hq q Hin)) Hlen Ho) as [Hlen' Ho'].
    split; simpl; [rewrite map_length; exact Hlen'|]. specialize (Ho' w b Hw).
    pose proof (rounded_below (grain P) worth' z) as Hr. rewrite Hlen' in Hr. rewrite Q2R_plus. unfold objective. lra.
Qed.

(* ---- Gain l1: what weights between two limits gain ---- *)

Lemma higher_than_left a b : Q2R a <= Q2R (Qmax a b). Proof. apply Qle_Rle, Q.le_max_l. Qed.
Lemma higher_than_right a b : Q2R b <= Q2R (Qmax a b). Proof. apply Qle_Rle, Q.le_max_r. Qed.

Lemma slope_gain_holds high u k g w : slope_gain high u k = Some g -> Q2R u <= w ->
  0 <= w -> match high with Some h => w <= Q2R h | None => True end -> w * Q2R k <= Q2R g.
Proof.
  unfold slope_gain. intros H Hu Hw Hh. destruct (Qle_bool k 0) eqn:E.
  - injection H as <-. apply Qle_bool_iff, Qle_Rle in E. rewrite real_of_zero in E. rewrite Q2R_mult. nra.
  - apply not_below in E. rewrite real_of_zero in E. destruct high as [h|]; [|discriminate]. injection H as <-. rewrite Q2R_mult. nra.
Qed.
Lemma opposite_holds low w : match low with Some l => Q2R l <= w | None => True end -> match opposite low with Some h => - w <= Q2R h | None => True end.
Proof. destruct low; simpl; [rewrite Q2R_opp; lra|auto]. Qed.

Lemma l1_gain_holds limit c g w : l1_gain limit c = Some g -> within limit w -> w * Q2R c - Rabs w <= Q2R g.
Proof.
  unfold l1_gain, within. intros H [Hlow Hhigh]. apply opposite_holds in Hlow.
  destruct (slope_gain (snd limit) 0 (c - 1)) as [a|] eqn:Ea; [|discriminate].
  destruct (slope_gain (opposite (fst limit)) 0 (- c - 1)) as [a'|] eqn:Eb; [|discriminate]. injection H as <-.
  pose proof (higher_than_left a a'). pose proof (higher_than_right a a'). unfold Rabs. destruct (Rcase_abs w) as [Hw|Hw].
  - apply slope_gain_holds with (w := - w) in Eb; [|rewrite real_of_zero; lra|lra|exact Hlow].
    rewrite Q2R_minus, Q2R_opp, real_of_one in Eb. lra.
  - apply slope_gain_holds with (w := w) in Ea; [|rewrite real_of_zero; lra|lra|exact Hhigh].
    rewrite Q2R_minus, real_of_one in Ea. lra.
Qed.

Lemma side_gain_holds high u k r w : side_gain high u k = Some r -> 0 <= Q2R u -> Q2R u < w ->
  match high with Some h => w <= Q2R h | None => True end -> exists g, r = Some g /\ w * Q2R k <= Q2R g.
Proof.
  unfold side_gain. intros H Hu Hw Hh. destruct (match high with Some high => Qle_bool high u | None => false end) eqn:E.
  - destruct high as [h|]; [|discriminate]. apply Qle_bool_iff, Qle_Rle in E. lra.
  - destruct (slope_gain high u k) as [g|] eqn:G; [|discriminate]. injection H as <-. exists g. split; [reflexivity|].
    eapply slope_gain_holds; [exact G|lra|lra|exact Hh].
Qed.

Lemma gain_beyond_holds limit u c r w : gain_beyond limit u c = Some r -> 0 <= Q2R u -> Q2R u < Rabs w -> within limit w ->
  exists g, r = Some g /\ w * Q2R c - Rabs w <= Q2R g.
Proof.
  unfold gain_beyond, within. intros H Hu Hw [Hlow Hhigh]. apply opposite_holds in Hlow.
  destruct (side_gain (snd limit) u (c - 1)) as [a|] eqn:Ea; [|discriminate].
  destruct (side_gain (opposite (fst limit)) u (- c - 1)) as [a'|] eqn:Eb; [|discriminate]. injection H as <-.
  unfold Rabs in *. destruct (Rcase_abs w) as [Hn|Hn].
  - destruct (side_gain_holds _ _ _ _ (- w) Eb Hu Hw Hlow) as [g [-> Hg]]. rewrite Q2R_minus, Q2R_opp, real_of_one in Hg.
    destruct a as [a|]; simpl; [exists (Qmax a g); split; [reflexivity|pose proof (higher_than_right a g); lra]|exists g; split; [reflexivity|lra]].
  - destruct (side_gain_holds _ _ _ _ w Ea Hu Hw Hhigh) as [g [-> Hg]]. rewrite Q2R_minus, real_of_one in Hg.
    destruct a' as [a'|]; simpl; [exists (Qmax g a'); split; [reflexivity|pose proof (higher_than_left g a'); lra]|exists g; split; [reflexivity|lra]].
Qed.

Lemma narrowed_holds limit u w : within limit w -> Rabs w <= Q2R u -> within (narrowed limit u) w.
Proof.
  unfold within, narrowed. simpl. intros [Hlow Hhigh] Hw. pose proof (Rle_abs w). pose proof (Rle_abs (- w)) as Hm. rewrite Rabs_Ropp in Hm. split.
  - destruct (fst limit) as [low|]; [|rewrite Q2R_opp; lra]. destruct (Q.max_spec low (- u)) as [[_ ->]|[_ ->]]; [rewrite Q2R_opp|]; lra.
  - destruct (snd limit) as [high|]; [|lra]. destruct (Q.min_spec high u) as [[_ ->]|[_ ->]]; lra.
Qed.

(* Weights of the one problem within limits, which are those of a box. *)
Definition limits_hold D limits (w : nat -> nat -> R) :=
  l1 D = true -> (0 < length (problems D))%nat -> forall j, (j < p D)%nat -> within (nth j limits (None, None)) (w O j).

Lemma values_within_holds grain lines : forall limits vs, values_within grain limits lines = Some vs -> length vs = length lines /\
  forall (w : nat -> R) j, (j < length lines)%nat -> within (nth j limits (None, None)) (w j) ->
    IZR (nth j vs 0%Z) <= (Q2R (fst (nth j lines (0, 0)%Q)) - (w j * Q2R (snd (nth j lines (0, 0)%Q)) - Rabs (w j))) * IZR (Zpos grain).
Proof.
  induction lines as [|[x c] lines IH]; intros limits vs H; simpl in H.
  - injection H as <-. split; [reflexivity|]. intros w j Hj. simpl in Hj. lia.
  - destruct (l1_gain (hd (None, None) limits) c) as [g|] eqn:G; [|discriminate].
    destruct (values_within grain (tl limits) lines) as [vs'|] eqn:V; [|discriminate]. injection H as <-.
    destruct (IH _ _ V) as [Hlen IH']. split; [simpl; f_equal; exact Hlen|]. intros w [|j] Hj Hin; simpl in Hj.
    + rewrite <- head_is_nth in Hin. pose proof (l1_gain_holds _ _ _ _ G Hin) as HG. simpl nth. simpl fst. simpl snd.
      eapply Rle_trans; [apply rounded_not_above|]. rewrite Q2R_minus. pose proof (grain_above_zero grain). nra.
    + simpl nth. apply (IH' (fun i => w (S i))); [lia|]. rewrite nth_of_tail. exact Hin.
Qed.

Lemma raw_gives D z w b V vs : raw_at D z w b V -> length vs = p D -> below_lines D z w (with_values V vs) -> holds_at D z w b (with_values V vs).
Proof.
  intros [_ [_ H]] Hlen Hb. split; [exact Hlen|]. simpl. pose proof (grain_above_zero (unit V)) as Hg.
  assert (S : sum_in z (fun j => IZR (nth j vs 0%Z)) (p D) / IZR (Zpos (unit V)) <= sum_in z (line_at V (w O)) (p D)).
  { unfold sum_in, Rdiv. rewrite Rmult_comm, <- sum_scal. apply sum_le. intros j Hj. destruct (z j) eqn:E; [|lra].
    specialize (Hb j Hj E). simpl in Hb. change (line_at (with_values V vs) (w O) j) with (line_at V (w O) j) in Hb.
    apply (Rmult_le_reg_r (IZR (Zpos (unit V)))); [exact Hg|]. eapply Rle_trans; [|exact Hb]. right. field. lra. }
  lra.
Qed.

Lemma settled_holds D limits V W z w b : starts_at D z w b V -> limits_hold D limits w -> settled D limits V = Some W -> known_at D z w b W.
Proof.
  unfold starts_at, settled, known_at. intros HV Hl H. destruct (l1 D) eqn:E; [|injection H as <-; split; [exact HV|discriminate]].
  destruct (values_within (unit V) limits (lines V)) as [vs|] eqn:Hvs; [|discriminate]. injection H as <-.
  destruct HV as [Hn [Hlen HV]]. destruct (values_within_holds _ _ _ _ Hvs) as [Hlv Hv]. rewrite Hlen in *.
  assert (B : below_lines D z w (with_values V vs)) by (intros j Hj _; apply Hv; [exact Hj|apply Hl; assumption]).
  assert (R : raw_at D z w b V) by (split; [exact Hn|split; [exact Hlen|exact HV]]).
  split; [apply raw_gives; assumption|]. intros _. split; [exact R|exact B].
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

(* What a bound says of a classifier on a subset; None says that the subset is not there. *)
Definition bounds D z w b (r : option Q) := match r with None => False | Some q => Q2R q <= objective D z w b end.
(* The same where listed subsets may be alone in parts, with bounds of their own. *)
Definition holds_for D ls z w b r :=
  bounds D z w b r \/ exists l, List.In l ls /\ same_subset D z (subset l) /\ Q2R (own l) <= objective D z w b.

Lemma bound_with_gap_holds D V room gap m ds z w b : holds_at D z w b V -> belongs z ds -> count z (p D) <= IZR room ->
  IZR (parts (Z.min m 0) (values V) ds) + IZR (Z.min m 0) * (count z (length (values V)) - IZR (inside ds (length (values V)))) + IZR gap
  <= sum_in z (fun j => IZR (nth j (values V) 0%Z)) (length (values V)) ->
  bounds D z w b (bound D V room gap m ds).
Proof.
  intros [Hlen HV] Hb Hz HP. unfold bound. rewrite Hlen in HP. pose proof (IZR_le _ _ (Z.le_min_r m 0)) as Hm. set (M := Z.min m 0) in *.
  destruct (Z.ltb_spec (room - inside ds (p D)) 0) as [Hneg|Hpos]; simpl.
  - (* More are in than there is room for: an allowed subset is not in this box. *)
    pose proof (inside_not_above_count z ds (p D) Hb). apply (IZR_lt _ _) in Hneg. rewrite minus_IZR in Hneg. lra.
  - rewrite Q2R_plus.
    pose proof (grain_above_zero (unit V)) as Hg. set (g := IZR (Zpos (unit V))) in *.
    (* A subset with room left pays no more than one that fills it. *)
    assert (IZR M * (IZR room - IZR (inside ds (p D))) <= IZR M * (count z (p D) - IZR (inside ds (p D)))) by nra.
    assert (HQ : Q2R ((parts M (values V) ds + M * (room - inside ds (p D)) + gap) # unit V)
      <= sum_in z (fun j => IZR (nth j (values V) 0%Z)) (p D) / g).
    { unfold Q2R, Rdiv. simpl Qnum. simpl Qden. fold g. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, Hg|].
      rewrite !plus_IZR, mult_IZR, minus_IZR. lra. }
    lra.
Qed.

Lemma bound_holds D V room m ds z w b : holds_at D z w b V -> belongs z ds -> count z (p D) <= IZR room -> bounds D z w b (bound D V room 0 m ds).
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
Lemma lesser_bounds_left D z w b x y : bounds D z w b x -> bounds D z w b (lesser x y).
Proof. destruct x as [x|]; simpl; [|tauto]. destruct y as [y|]; simpl; [|auto]. intros H. pose proof (lesser_than_left x y). lra. Qed.
Lemma lesser_bounds_right D z w b x y : bounds D z w b y -> bounds D z w b (lesser x y).
Proof. destruct y as [y|]; simpl; [|tauto]. destruct x as [x|]; simpl; [|auto]. intros H. pose proof (lesser_than_right x y). lra. Qed.
Lemma lesser_holds_left D ls z w b x y : holds_for D ls z w b x -> holds_for D ls z w b (lesser x y).
Proof. intros [H|H]; [left; apply lesser_bounds_left, H|right; exact H]. Qed.
Lemma lesser_holds_right D ls z w b x y : holds_for D ls z w b y -> holds_for D ls z w b (lesser x y).
Proof. intros [H|H]; [left; apply lesser_bounds_right, H|right; exact H]. Qed.

Lemma alone_is_same chosen : forall ds z, belongs z ds -> holds_alone chosen ds = true -> forall j, (j < length chosen)%nat -> z j = nth j chosen false.
Proof.
  induction chosen as [|c chosen IH]; intros ds z Hb H j Hj; simpl in Hj; [lia|].
  simpl in H. apply andb_true_iff in H as [Hc H]. destruct j as [|j].
  - specialize (Hb O). rewrite head_is_nth in Hc. simpl. destruct (nth 0 ds Free); [discriminate|congruence|destruct c; [discriminate|exact Hb]].
  - simpl. apply (IH (tl ds) (fun i => z (S i)) (belongs_tail _ _ Hb) H). lia.
Qed.

(* A subset of the box is in a part that a fix closed, or in the box that it leaves. *)
Lemma fix_leaves_none_out D V room fixed z w b : holds_at D z w b V -> count z (p D) <= IZR room -> forall ds, belongs z ds ->
  let (r, ds') := fix_all D V room ds fixed in bounds D z w b r \/ belongs z ds'.
Proof.
  intros HV Hz. induction fixed as [|[[j put_in] m] fixed IH]; intros ds Hb; simpl; [right; exact Hb|].
  destruct put_in.
  - specialize (IH (decide ds j In)). destruct (fix_all D V room (decide ds j In) fixed) as [rest ds'].
    destruct (z j) eqn:E.
    + destruct IH; [apply decide_keeps; assumption|left; apply lesser_bounds_right; assumption|right; assumption].
    + left. apply lesser_bounds_left, bound_holds; [assumption|apply decide_keeps; assumption|assumption].
  - specialize (IH (decide ds j Out)). destruct (fix_all D V room (decide ds j Out) fixed) as [rest ds'].
    destruct (z j) eqn:E.
    + left. apply lesser_bounds_left, bound_holds; [assumption|apply decide_keeps; assumption|assumption].
    + destruct IH; [apply decide_keeps; assumption|left; apply lesser_bounds_right; assumption|right; assumption].
Qed.

Lemma put_length {A} (usual : A) x l : forall j, (j < length l)%nat -> length (put usual l j x) = length l.
Proof. induction l as [|y l IH]; intros [|j] H; simpl in *; try lia. rewrite IH by lia. reflexivity. Qed.
Lemma put_is_put {A} (usual : A) x j : forall l i, nth i (put usual l j x) usual = if (i =? j)%nat then x else nth i l usual.
Proof.
  induction j as [|j IH]; intros l [|i]; simpl; try reflexivity.
  - rewrite nth_of_tail. reflexivity.
  - apply head_is_nth.
  - rewrite IH, nth_of_tail. reflexivity.
Qed.

(* A classifier of the box is in a part that a tighten closed, or within the limits that it leaves. *)
Lemma tighten_leaves_none_out D V room ds z w b : l1 D = true -> known_at D z w b V -> classifier_at D z w b ->
  count z (p D) <= IZR room -> belongs z ds -> forall items limits r limits',
  tighten_all D V room ds limits items = Some (r, limits') -> limits_hold D limits w -> bounds D z w b r \/ limits_hold D limits' w.
Proof.
  intros Hl1 [[Hlen _] HK] Hw Hz Hb. destruct (HK Hl1) as [Hraw Hbelow].
  induction items as [|[[j u] m] items IH]; intros limits r limits' H Hl; simpl in H; [injection H as <- <-; right; exact Hl|].
  destruct (nth j (lines V) (0%Q, 0%Q)) as [x c] eqn:Hline.
  destruct (Nat.ltb_spec j (p D)) as [Hj|]; [|discriminate]. destruct (Qle_bool 0 u) eqn:Hu; [|discriminate]. simpl in H.
  apply Qle_bool_iff, Qle_Rle in Hu. rewrite real_of_zero in Hu.
  destruct (gain_beyond (nth j limits (None, None)) u c) as [g|] eqn:G; [|discriminate].
  destruct (tighten_all D V room ds (put (None, None) limits j (narrowed (nth j limits (None, None)) u)) items) as [[rest limits1]|] eqn:T; [|discriminate].
  injection H as <- <-. pose proof (proj1 Hraw) as Hn. pose proof (Hl Hl1 Hn j Hj) as Hin.
  destruct (Rle_lt_dec (Rabs (w O j)) (Q2R u)) as [Hsmall|Hlarge].
  - destruct (IH _ _ _ T) as [Hr|Hr]; [|left; apply lesser_bounds_right, Hr|right; exact Hr].
    intros _ _ i Hi. rewrite put_is_put. destruct (Nat.eqb_spec i j) as [->|]; [apply narrowed_holds; assumption|apply Hl; assumption].
  - left. apply lesser_bounds_left. destruct (gain_beyond_holds _ _ _ _ _ G Hu Hlarge Hin) as [g' [-> Hg]].
    assert (Ez : z j = true).
    { destruct (z j) eqn:E; [reflexivity|]. destruct (Hw O Hn) as [_ H0]. rewrite (proj1 (H0 j Hj) E), Rabs_R0 in Hlarge. lra. }
    apply bound_holds; [|apply decide_keeps; assumption|exact Hz].
    apply raw_gives; [exact Hraw|rewrite put_length by (rewrite Hlen; exact Hj); exact Hlen|].
    intros i Hi Ei. simpl. rewrite put_is_put. change (line_at (with_values V (put 0%Z (values V) j (rounded (unit V) (x - g')))) (w O) i) with (line_at V (w O) i).
    destruct (Nat.eqb_spec i j) as [->|]; [|apply Hbelow; assumption].
    eapply Rle_trans; [apply rounded_not_above|]. pose proof (grain_above_zero (unit V)). unfold line_at. rewrite Hline. simpl. rewrite Q2R_minus. nra.
Qed.

Lemma known_starts D z w b V : known_at D z w b V -> starts_at D z w b V.
Proof. unfold known_at, starts_at. intros [H H']. destruct (l1 D); [apply H'; reflexivity|exact H]. Qed.

Lemma check_holds D ls Vs z w b t : well_formed D = true -> (forall l, List.In l ls -> length (chosen l) = p D) -> allowed D z ->
  classifier_at D z w b -> (forall V, List.In (Some V) Vs -> starts_at D z w b V) ->
  forall V limits room ds r, check D ls Vs V limits room ds t = Some r ->
  match V with Some V => known_at D z w b V | None => True end -> limits_hold D limits w -> count z (p D) <= IZR room -> belongs z ds ->
  holds_for D ls z w b r.
Proof.
  intros Hwf Hls Ha Hw Hall.
  induction t as [k t IH | m | k | i | j ti IHi to IHo | i t IH | i u v t IH | m gap t IH | items t IH | fixed t IH];
    intros V limits room ds r H HV Hl Hz Hb; simpl in H.
  - destruct (nth k Vs None) as [W|] eqn:E; [|discriminate]. destruct (settled D limits W) as [W'|] eqn:ES; [|discriminate].
    eapply IH; [exact H| |exact Hl|assumption|assumption]. eapply settled_holds; [|exact Hl|exact ES].
    apply Hall. rewrite <- E. destruct (Nat.lt_ge_cases k (length Vs)) as [Hk|Hk]; [apply nth_In, Hk|].
    rewrite nth_overflow in E by exact Hk. discriminate.
  - destruct V as [W|]; [|discriminate]. injection H as <-. left. apply bound_holds; [apply HV|assumption|assumption].
  - destruct V as [W|]; [|discriminate]. destruct (nth_error ls k) as [l|] eqn:El; [|discriminate]. apply nth_error_In in El.
    destruct (holds_alone (chosen l) ds) eqn:Hal; [|discriminate].
    pose proof (bound_holds D W room 0 ds z w b (proj1 HV) Hb Hz) as B. destruct (bound D W room 0 0 ds) as [q|]; [|contradiction].
    destruct (Qle_bool (own l) q) eqn:Ho; [|discriminate]. apply Qle_bool_iff, Qle_Rle in Ho.
    right. exists l. split; [exact El|split].
    + intros j Hj. rewrite <- (Hls l El) in Hj. apply (alone_is_same (chosen l) ds z Hb Hal j Hj).
    + simpl in B. lra.
  - destruct (Z.ltb_spec (right (nth i (rows D) no_row)) (least (terms (nth i (rows D) no_row)) ds)) as [Hi|Hi]; [|discriminate].
    apply IZR_lt in Hi. pose proof (row_holds D z i Ha). pose proof (least_not_above (terms (nth i (rows D) no_row)) ds z Hb). lra.
  - destruct (check D ls Vs V limits room (decide ds j In) ti) as [x|] eqn:Ei; [|discriminate].
    destruct (check D ls Vs V limits room (decide ds j Out) to) as [y|] eqn:Eo; [|discriminate]. injection H as <-.
    destruct (z j) eqn:E.
    + apply lesser_holds_left. eapply IHi; [exact Ei|assumption|assumption|assumption|apply decide_keeps; assumption].
    + apply lesser_holds_right. eapply IHo; [exact Eo|assumption|assumption|assumption|apply decide_keeps; assumption].
  - eapply IH; [exact H|assumption|assumption|assumption|]. apply forced_keeps; [exact Hb|]. rewrite minus_IZR. pose proof (row_holds D z i Ha). lra.
  - destruct (Z.leb_spec 0 u) as [Hu|]; [|discriminate]. eapply IH; [exact H|assumption|assumption| |assumption].
    apply Z.min_case; [assumption|]. apply size_holds; [assumption|apply row_in_range, Hwf|apply row_holds, Ha].
  - destruct V as [W|]; [|discriminate]. destruct (Z.leb_spec 0 gap) as [Hgap|]; [|discriminate].
    destruct (check D ls Vs (Some W) limits room (drop (Z.min m 0) gap (values W) ds) t) as [a|] eqn:Ea; [|discriminate]. injection H as <-.
    destruct (drop_not_above (Z.min m 0) gap (values W) Hgap ds z Hb) as [Hin|Hsum].
    + apply lesser_holds_right. eapply IH; [exact Ea|assumption|assumption|assumption|assumption].
    + apply lesser_holds_left. left. apply bound_with_gap_holds; [apply HV|assumption|assumption|assumption].
  - destruct V as [W|]; [|discriminate]. destruct (l1 D) eqn:Hl1; [|discriminate].
    destruct (tighten_all D W room ds limits items) as [[x limits1]|] eqn:T; [|discriminate].
    destruct (settled D limits1 W) as [W'|] eqn:ES; [|discriminate].
    destruct (check D ls Vs (Some W') limits1 room ds t) as [a|] eqn:Ea; [|discriminate]. injection H as <-.
    destruct (tighten_leaves_none_out D W room ds z w b Hl1 HV Hw Hz Hb items limits x limits1 T Hl) as [Hx|Hl'].
    + apply lesser_holds_left. left. exact Hx.
    + apply lesser_holds_right. eapply IH; [exact Ea|eapply settled_holds; [apply known_starts, HV|exact Hl'|exact ES]|exact Hl'|assumption|assumption].
  - destruct V as [W|]; [|discriminate]. pose proof (fix_leaves_none_out D W room fixed z w b (proj1 HV) Hz ds Hb) as Hfix.
    destruct (fix_all D W room ds fixed) as [x ds'].
    destruct (check D ls Vs (Some W) limits room ds' t) as [a|] eqn:Ea; [|discriminate]. injection H as <-.
    destruct Hfix; [apply lesser_holds_left; left; assumption|apply lesser_holds_right; eapply IH; eassumption].
Qed.

(* ---- Listed subsets are allowed, and their objectives not above what is stated ---- *)

Lemma taken_is_sum a : forall chosen, row_sum (fun j => nth j chosen false) a = IZR (taken chosen a).
Proof.
  unfold row_sum. induction a as [|k a IH]; intros chosen; [reflexivity|]. simpl length. rewrite sum_from_front. simpl taken.
  rewrite plus_IZR, <- IH, head_is_nth. simpl nth at 2. f_equal.
  - destruct (nth 0 chosen false); reflexivity.
  - apply sum_ext. intros j _. rewrite nth_of_tail. reflexivity.
Qed.

Lemma weights_may_be_holds unit ks : forall chosen ls, weights_may_be unit chosen ls ks = true -> forall j, (j < length ks)%nat ->
  (nth j chosen false = false -> nth j ks 0%Z = 0%Z) /\ within (nth j ls (None, None)) (IZR (nth j ks 0%Z) * Q2R unit).
Proof.
  induction ks as [|k ks IH]; intros chosen ls H j Hj; simpl in Hj; [lia|]. simpl in H.
  apply andb_true_iff in H as [H Hrest]. apply andb_true_iff in H as [Hk Hl]. destruct j as [|j].
  - simpl nth at 2 3. rewrite <- !head_is_nth. split.
    + intros Hc. rewrite Hc, orb_false_r in Hk. apply Z.eqb_eq, Hk.
    + unfold within_limit in Hl. apply andb_true_iff in Hl as [Hlow Hhigh]. rewrite <- real_of_integer, <- Q2R_mult. unfold within.
      destruct (hd (None, None) ls) as [[low|] [high|]]; simpl in *; split; try exact I; apply Qle_Rle, Qle_bool_iff; assumption.
  - rewrite <- !nth_of_tail. apply IH; [exact Hrest|simpl; lia].
Qed.

Lemma plus_multiple_is_plus m : forall k column sums i, (i < m)%nat ->
  nth i (plus_multiple m k column sums) 0%Z = (k * nth i column 0 + nth i sums 0)%Z.
Proof.
  induction m as [|m IH]; intros k column sums i Hi; [lia|]. simpl. destruct i as [|i]; [rewrite !head_is_nth; reflexivity|].
  rewrite IH by lia. rewrite !nth_of_tail. reflexivity.
Qed.
Lemma scores_are_sums m ks : forall columns i, (i < m)%nat ->
  IZR (nth i (scores m ks columns) 0%Z) = sum (fun j => IZR (nth j ks 0%Z) * IZR (nth i (nth j columns []) 0%Z)) (length ks).
Proof.
  induction ks as [|k ks IH]; intros columns i Hi; [destruct i; reflexivity|]. simpl length. rewrite sum_from_front. simpl scores.
  specialize (IH (tl columns) i Hi). rewrite (sum_ext _ (fun j => IZR (nth j ks 0%Z) * IZR (nth i (nth j (tl columns) []) 0%Z)))
    by (intros; rewrite nth_of_tail; reflexivity).
  rewrite <- IH. simpl nth at 2. rewrite <- head_is_nth. destruct (Z.eqb_spec k 0) as [->|].
  - lra.
  - rewrite plus_multiple_is_plus, plus_IZR, mult_IZR by exact Hi. reflexivity.
Qed.

Lemma raised_above grain x : Q2R x <= IZR (raised grain x) / IZR (Zpos grain).
Proof.
  pose proof (grain_above_zero grain) as Hg. unfold raised. pose proof (Qle_Rle _ _ (Qle_ceiling (x * inject_Z (Zpos grain)))) as H.
  rewrite Q2R_mult, !real_of_integer in H. apply (Rmult_le_reg_r (IZR (Zpos grain))); [exact Hg|].
  eapply Rle_trans; [exact H|]. right. field. lra.
Qed.

Lemma real_of_max t u : 0 < u -> Rmax 0 (IZR t * u) = IZR (Z.max 0 t) * u.
Proof.
  intros Hu. destruct (Z.max_spec 0 t) as [[Ht ->]|[Ht ->]].
  - apply IZR_lt in Ht. apply Rmax_right. nra.
  - apply IZR_le in Ht. rewrite Rmult_0_l. apply Rmax_left. nra.
Qed.

Lemma losses_above sq grain unit one offset : 0 < Q2R unit -> IZR one * Q2R unit = 1 -> forall ys ss cs,
  sum (fun i => Q2R (nth i cs 0%Q) * loss sq (1 - IZR (nth i ys 0%Z) * (IZR (nth i ss 0%Z) * Q2R unit + IZR offset * Q2R unit))) (length ys)
  <= IZR (losses sq grain unit one offset ys ss cs) / IZR (Zpos grain).
Proof.
  intros Hu Hone. induction ys as [|y ys IH]; intros ss cs; [simpl; unfold Rdiv; lra|].
  simpl length. rewrite sum_from_front. simpl losses. rewrite plus_IZR. specialize (IH (tl ss) (tl cs)).
  rewrite (sum_ext _ (fun i => Q2R (nth i (tl cs) 0%Q) * loss sq (1 - IZR (nth i ys 0%Z) * (IZR (nth i (tl ss) 0%Z) * Q2R unit + IZR offset * Q2R unit))))
    by (intros; rewrite !nth_of_tail; reflexivity).
  set (missed := Z.max 0 (one - y * (hd 0%Z ss + offset))).
  assert (E : Q2R (hd 0%Q cs * (if sq then inject_Z (missed * missed) * (unit * unit) else inject_Z missed * unit))
    = Q2R (nth 0 cs 0%Q) * loss sq (1 - IZR (nth 0 (y :: ys) 0%Z) * (IZR (nth 0 ss 0%Z) * Q2R unit + IZR offset * Q2R unit))).
  { simpl nth. rewrite <- !head_is_nth, Q2R_mult. f_equal. unfold loss.
    replace (1 - IZR y * (IZR (hd 0%Z ss) * Q2R unit + IZR offset * Q2R unit)) with (IZR (one - y * (hd 0%Z ss + offset)) * Q2R unit)
      by (rewrite minus_IZR, mult_IZR, plus_IZR; rewrite <- Hone; ring).
    rewrite real_of_max by exact Hu. fold missed. destruct sq; rewrite !Q2R_mult, real_of_integer; [rewrite mult_IZR; ring|reflexivity]. }
  pose proof (raised_above grain (hd 0%Q cs * (if sq then inject_Z (missed * missed) * (unit * unit) else inject_Z missed * unit))) as H.
  rewrite E in H. unfold Rdiv in *. rewrite Rmult_plus_distr_r. lra.
Qed.

Lemma prices_above grain ps : forall chosen, sum (fun j => if nth j chosen false then Q2R (nth j ps 0%Q) else 0) (length ps)
  <= IZR (prices_of grain chosen ps) / IZR (Zpos grain).
Proof.
  induction ps as [|x ps IH]; intros chosen; [simpl; unfold Rdiv; lra|]. simpl length. rewrite sum_from_front. simpl prices_of. rewrite plus_IZR.
  specialize (IH (tl chosen)). rewrite (sum_ext _ (fun j => if nth j (tl chosen) false then Q2R (nth j ps 0%Q) else 0))
    by (intros; rewrite nth_of_tail; reflexivity).
  rewrite <- head_is_nth. simpl nth. pose proof (raised_above grain x). unfold Rdiv in *. rewrite Rmult_plus_distr_r. destruct (hd false chosen); lra.
Qed.

Lemma total_of_sizes ks : sum (fun j => Rabs (IZR (nth j ks 0%Z))) (length ks) = IZR (total (map Z.abs ks)).
Proof. induction ks as [|k ks IH]; [reflexivity|]. simpl length. rewrite sum_from_front. simpl. rewrite plus_IZR, abs_IZR, <- IH. reflexivity. Qed.

Lemma fit_at_holds D l grain one q ks offset a : match bias D with penalised s => 0 < Q2R s | _ => True end -> 0 < Q2R (unit_of_weights l) ->
  0 < Q2R (unit_of_weights l) * Q2R (scale D) -> IZR one * (Q2R (unit_of_weights l) * Q2R (scale D)) = 1 ->
  fit_at D l grain one q ks offset = Some a ->
  let w := fun j => IZR (nth j ks 0%Z) * Q2R (unit_of_weights l) in
  let b := IZR offset * (Q2R (unit_of_weights l) * Q2R (scale D)) in
  weights_at D (subset l) w b /\ fit_of D q w b <= Q2R a.
Proof.
  intros Hpos Huw Hu Hone H w b. unfold fit_at in H. destruct (_ && _) eqn:Hok in H; [|discriminate].
  apply andb_true_iff in Hok as [Hok Hb]. apply andb_true_iff in Hok as [Hlen Hw]. apply Nat.eqb_eq in Hlen. injection H as <-.
  pose proof (weights_may_be_holds _ _ _ _ Hw) as HW. split.
  - split.
    + destruct (bias D); [exact I| |exact I]. apply Z.eqb_eq in Hb. simpl. unfold b. rewrite Hb. lra.
    + intros j Hj. rewrite <- Hlen in Hj. destruct (HW j Hj) as [Hout Hin]. split; [|exact Hin]. intros Hz. unfold w. rewrite Hout by exact Hz. lra.
  - unfold fit_of, fit. rewrite !Q2R_plus. apply Rplus_le_compat; [apply Rplus_le_compat|].
    + right. rewrite <- Hlen. unfold weight_cost. destruct (l1 D).
      * rewrite Q2R_mult, real_of_integer, <- total_of_sizes, Rmult_comm, <- sum_scal. apply sum_ext. intros. unfold w.
        rewrite Rabs_mult, (Rabs_right (Q2R (unit_of_weights l))) by lra. ring.
      * rewrite !Q2R_mult, real_of_integer, half, <- balance_is_sum, Rmult_comm, <- sum_scal. apply sum_ext. intros. unfold w. field.
    + right. destruct (bias D) as [| |s]; simpl; [rewrite real_of_zero; reflexivity|rewrite real_of_zero; reflexivity|].
      assert (Hs : ~ (s == 0)%Q) by (intros N; apply Qeq_eqR in N; rewrite real_of_zero in N; lra).
      assert (Hi : 0 < / Q2R s) by (apply Rinv_0_lt_compat; exact Hpos). unfold weight_cost, b. destruct (l1 D).
      * rewrite Q2R_div, !Q2R_mult, real_of_integer, abs_IZR by exact Hs. unfold Rdiv. rewrite !Rabs_mult.
        rewrite (Rabs_right (/ Q2R s)), (Rabs_right (Q2R (unit_of_weights l))) by lra. f_equal. f_equal. f_equal.
        apply Rabs_right. nra.
      * rewrite !Q2R_mult, !Q2R_div, !Q2R_mult, real_of_integer, abs_IZR, half by exact Hs.
        replace (IZR offset * (Q2R (unit_of_weights l) * Q2R (scale D)) / Q2R s * (IZR offset * (Q2R (unit_of_weights l) * Q2R (scale D)) / Q2R s) / 2)
          with (IZR offset * IZR offset * ((Q2R (unit_of_weights l) * Q2R (scale D) / Q2R s) * (Q2R (unit_of_weights l) * Q2R (scale D) / Q2R s)) / 2) by (field; lra).
        replace (IZR offset * IZR offset) with (Rabs (IZR offset) * Rabs (IZR offset)) by (unfold Rabs; destruct (Rcase_abs (IZR offset)); ring).
        field. lra.
    + set (u := (unit_of_weights l * scale D)%Q).
      assert (Eu : Q2R u = Q2R (unit_of_weights l) * Q2R (scale D)) by apply Q2R_mult.
      pose proof (losses_above (squared D) grain u one offset ltac:(rewrite Eu; exact Hu) ltac:(rewrite Eu; exact Hone) (labels q) (scores (n q) ks (columns q)) (costs q)) as L.
      unfold Q2R at 1. simpl Qnum. simpl Qden. eapply Rle_trans; [|exact L]. right. apply sum_ext. intros i Hi. unfold real_cost, real_label. do 3 f_equal.
      rewrite scores_are_sums by exact Hi. rewrite Hlen, Eu. unfold b. f_equal. f_equal.
      rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros j _. unfold w, real_x. ring.
Qed.

Lemma fits_at_holds D l grain one : match bias D with penalised s => 0 < Q2R s | _ => True end -> 0 < Q2R (unit_of_weights l) ->
  0 < Q2R (unit_of_weights l) * Q2R (scale D) -> IZR one * (Q2R (unit_of_weights l) * Q2R (scale D)) = 1 ->
  forall qs kss os a, fits_at D l grain one qs kss os = Some a ->
  let w := fun t j => IZR (nth j (nth t kss []) 0%Z) * Q2R (unit_of_weights l) in
  let b := fun t => IZR (nth t os 0%Z) * (Q2R (unit_of_weights l) * Q2R (scale D)) in
  (forall t, (t < length qs)%nat -> weights_at D (subset l) (w t) (b t))
  /\ sum (fun t => fit_of D (nth t qs no_problem) (w t) (b t)) (length qs) <= Q2R a.
Proof.
  intros Hpos Huw Hu Hone. induction qs as [|q qs IH]; intros kss os a H; simpl in H.
  - injection H as <-. split; [intros t Ht; simpl in Ht; lia|]. simpl. rewrite real_of_zero. lra.
  - destruct (fit_at D l grain one q (hd [] kss) (hd 0%Z os)) as [a1|] eqn:E1; [|discriminate].
    destruct (fits_at D l grain one qs (tl kss) (tl os)) as [a2|] eqn:E2; [|discriminate]. injection H as <-.
    destruct (fit_at_holds _ _ _ _ _ _ _ _ Hpos Huw Hu Hone E1) as [W1 F1]. destruct (IH _ _ _ E2) as [W2 F2]. rewrite !head_is_nth in *. split.
    + intros [|t] Ht; [exact W1|]. simpl in Ht. specialize (W2 t ltac:(lia)). rewrite !nth_of_tail in W2. exact W2.
    + simpl length. rewrite sum_from_front, Q2R_plus. apply Rplus_le_compat; [exact F1|]. eapply Rle_trans; [|exact F2].
      right. apply sum_ext. intros t _. rewrite !nth_of_tail. reflexivity.
Qed.

Lemma listed_right_holds D grain one l : well_formed D = true -> listed_right D grain one l = true -> length (chosen l) = p D /\
  allowed D (subset l) /\ classifier_at D (subset l) (weights_of l) (offset_of D l)
  /\ objective D (subset l) (weights_of l) (offset_of D l) <= Q2R (stated l).
Proof.
  intros Hwf H. destruct (well_formed_holds D Hwf) as [_ [_ Hpos]]. unfold listed_right in H.
  destruct (fits_at D l grain one (problems D) (weights l) (offsets l)) as [a|] eqn:E; [|rewrite andb_false_r in H; discriminate].
  apply andb_true_iff in H as [H Hle]. apply andb_true_iff in H as [H Hone]. apply andb_true_iff in H as [H Hu].
  apply andb_true_iff in H as [H Huw]. apply andb_true_iff in H as [Hlen Hrows]. apply Nat.eqb_eq in Hlen. apply positive_holds in Huw.
  apply positive_holds in Hu. rewrite Q2R_mult in Hu. apply Qeq_bool_iff, Qeq_eqR in Hone. rewrite !Q2R_mult, real_of_integer in Hone.
  assert (Hone' : IZR one * (Q2R (unit_of_weights l) * Q2R (scale D)) = 1) by (rewrite Hone; unfold Q2R; simpl; field).
  destruct (fits_at_holds D l grain one Hpos Huw Hu Hone' _ _ _ _ E) as [W F]. apply Qle_bool_iff, Qle_Rle in Hle. rewrite Q2R_plus in Hle.
  split; [exact Hlen|split; [|split; [exact W|]]].
  - intros r Hr. rewrite forallb_forall in Hrows. specialize (Hrows r Hr). apply Z.leb_le, IZR_le in Hrows.
    unfold subset. rewrite taken_is_sum. exact Hrows.
  - unfold objective. pose proof (prices_above grain (prices D) (chosen l)) as HP.
    replace (Q2R (prices_of grain (chosen l) (prices D) # grain)) with (IZR (prices_of grain (chosen l) (prices D)) / IZR (Zpos grain)) in Hle
      by (unfold Q2R; reflexivity).
    unfold real_price, subset, weights_of, offset_of, p in *. lra.
Qed.

(* ---- The theorem ---- *)

(* If the program accepts, then each listed subset is allowed, and its classifier is one on it, with an objective of at most
   what is stated; and whatever weights and biases within their limits an allowed subset has, its objective is not below the bound that
   is claimed, or the subset is a listed one and its objective not below the bound of its own. *)
Theorem proven D points ls t claimed : accepts D points ls t claimed = true ->
  (forall l, List.In l (map snd ls) -> allowed D (subset l) /\ classifier_at D (subset l) (weights_of l) (offset_of D l)
     /\ objective D (subset l) (weights_of l) (offset_of D l) <= Q2R (stated l))
  /\ forall z w b, allowed D z -> classifier_at D z w b -> Q2R claimed <= objective D z w b
     \/ exists l, List.In l (map snd ls) /\ same_subset D z (subset l) /\ Q2R (own l) <= objective D z w b.
Proof.
  intros H. unfold accepts, reaches, found in H. destruct (well_formed D) eqn:Hwf; [|discriminate]. simpl andb in H.
  destruct (forallb _ ls) eqn:Hls; [|discriminate]. rewrite forallb_forall in Hls.
  assert (HL : forall l, List.In l (map snd ls) -> length (chosen l) = p D /\ allowed D (subset l)
    /\ classifier_at D (subset l) (weights_of l) (offset_of D l) /\ objective D (subset l) (weights_of l) (offset_of D l) <= Q2R (stated l)).
  { intros l Hin. apply in_map_iff in Hin as [[[g one] l'] [E Hin]]. simpl in E. subst l'. apply Hls in Hin.
    eapply listed_right_holds; [exact Hwf|exact Hin]. }
  destruct (check D _ _ None _ (Z.of_nat (p D)) [] t) as [r|] eqn:E; [|discriminate].
  split; [intros l Hin; apply HL, Hin|]. intros z w b Hz Hw.
  assert (Hr : holds_for D (map snd ls) z w b r).
  { eapply check_holds; [exact Hwf|intros l Hin; apply HL, Hin|exact Hz|exact Hw| |exact E|exact I| |apply count_not_above|intros j; destruct j; exact I].
    - intros V Hin. apply in_map_iff in Hin as [P [HP _]]. eapply seen_holds; eassumption.
    - intros _ Hn j Hj. apply (Hw O Hn), Hj. }
  destruct Hr as [Hr|[l [Hin [Hs Ho]]]]; [left|right; exists l; split; [exact Hin|split; [exact Hs|exact Ho]]].
  destruct r as [q|]; [|contradiction]. simpl in Hr. apply Qle_bool_iff, Qle_Rle in H. lra.
Qed.
