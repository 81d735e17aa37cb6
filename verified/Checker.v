(* The theorem `proven` about the program of Program.v: what it accepts holds for every allowed subset and every
   classifier, over the real numbers. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals Qminmax Qround List Bool Arith.
Require Import Duality Program.
Import ListNotations.

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
Definition bounds D z (r : option Q) :=
  match r with None => False | Some q => forall w b, classifier_at D z w b -> Q2R q <= objective D z w b end.
(* The same where listed subsets may be alone in parts, with bounds of their own. *)
Definition holds_for D ls z r :=
  bounds D z r \/ exists l, List.In l ls /\ same_subset D z (subset l) /\ bounds D z (Some (own l)).

Lemma bound_with_gap_holds D V room gap m ds z : holds_at D z V -> belongs z ds -> count z (p D) <= IZR room ->
  IZR (parts (Z.min m 0) (values V) ds) + IZR (Z.min m 0) * (count z (length (values V)) - IZR (inside ds (length (values V)))) + IZR gap
  <= sum_in z (fun j => IZR (nth j (values V) 0%Z)) (length (values V)) ->
  bounds D z (bound D V room gap m ds).
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

Lemma bound_holds D V room m ds z : holds_at D z V -> belongs z ds -> count z (p D) <= IZR room -> bounds D z (bound D V room 0 m ds).
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
Lemma lesser_bounds_left D z a b : bounds D z a -> bounds D z (lesser a b).
Proof.
  destruct a as [a|]; simpl; [|tauto]. destruct b as [b|]; simpl; [|auto].
  intros H w c Hw. specialize (H w c Hw). pose proof (lesser_than_left a b). lra.
Qed.
Lemma lesser_bounds_right D z a b : bounds D z b -> bounds D z (lesser a b).
Proof.
  destruct b as [b|]; simpl; [|tauto]. destruct a as [a|]; simpl; [|auto].
  intros H w c Hw. specialize (H w c Hw). pose proof (lesser_than_right a b). lra.
Qed.
Lemma lesser_holds_left D ls z a b : holds_for D ls z a -> holds_for D ls z (lesser a b).
Proof. intros [H|H]; [left; apply lesser_bounds_left, H|right; exact H]. Qed.
Lemma lesser_holds_right D ls z a b : holds_for D ls z b -> holds_for D ls z (lesser a b).
Proof. intros [H|H]; [left; apply lesser_bounds_right, H|right; exact H]. Qed.

Lemma alone_is_same chosen : forall ds z, belongs z ds -> holds_alone chosen ds = true -> forall j, (j < length chosen)%nat -> z j = nth j chosen false.
Proof.
  induction chosen as [|c chosen IH]; intros ds z Hb H j Hj; simpl in Hj; [lia|].
  simpl in H. apply andb_true_iff in H as [Hc H]. destruct j as [|j].
  - specialize (Hb O). rewrite head_is_nth in Hc. simpl. destruct (nth 0 ds Free); [discriminate|congruence|destruct c; [discriminate|exact Hb]].
  - simpl. apply (IH (tl ds) (fun i => z (S i)) (belongs_tail _ _ Hb) H). lia.
Qed.

(* A subset of the box is in a part that a fix closed, or in the box that it leaves. *)
Lemma fix_leaves_none_out D V room fixed z : holds_at D z V -> count z (p D) <= IZR room -> forall ds, belongs z ds ->
  let (b, ds') := fix_all D V room ds fixed in bounds D z b \/ belongs z ds'.
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

Lemma check_holds D ls Vs z t : well_formed D = true -> (forall l, List.In l ls -> length (chosen l) = p D) -> allowed D z ->
  (forall V, List.In (Some V) Vs -> holds_at D z V) ->
  forall V room ds r, check D ls Vs V room ds t = Some r -> match V with Some V => holds_at D z V | None => True end -> count z (p D) <= IZR room -> belongs z ds -> holds_for D ls z r.
Proof.
  intros Hwf Hls Ha Hall.
  induction t as [k t IH | m | k | i | j ti IHi to IHo | i t IH | i u v t IH | m gap t IH | fixed t IH]; intros V room ds r H HV Hz Hb; simpl in H.
  - destruct (nth k Vs None) as [W|] eqn:E; [|discriminate]. eapply IH; [exact H| |assumption|assumption].
    apply Hall. rewrite <- E. destruct (Nat.lt_ge_cases k (length Vs)) as [Hk|Hk]; [apply nth_In, Hk|].
    rewrite nth_overflow in E by exact Hk. discriminate.
  - destruct V as [W|]; [|discriminate]. injection H as <-. left. apply bound_holds; assumption.
  - destruct V as [W|]; [|discriminate]. destruct (nth_error ls k) as [l|] eqn:El; [|discriminate]. apply nth_error_In in El.
    destruct (holds_alone (chosen l) ds) eqn:Hal; [|discriminate].
    pose proof (bound_holds D W room 0 ds z HV Hb Hz) as B. destruct (bound D W room 0 0 ds) as [b|]; [|injection H as <-; left; exact B].
    destruct (Qle_bool (own l) b) eqn:Ho; [|discriminate]. apply Qle_bool_iff, Qle_Rle in Ho.
    right. exists l. split; [exact El|split].
    + intros j Hj. rewrite <- (Hls l El) in Hj. apply (alone_is_same (chosen l) ds z Hb Hal j Hj).
    + intros w c Hw. specialize (B w c Hw). lra.
  - destruct (Z.ltb_spec (right (nth i (rows D) no_row)) (least (terms (nth i (rows D) no_row)) ds)) as [Hl|Hl]; [|discriminate].
    apply IZR_lt in Hl. pose proof (row_holds D z i Ha). pose proof (least_not_above (terms (nth i (rows D) no_row)) ds z Hb). lra.
  - destruct (check D ls Vs V room (decide ds j In) ti) as [a|] eqn:Ei; [|discriminate].
    destruct (check D ls Vs V room (decide ds j Out) to) as [b|] eqn:Eo; [|discriminate]. injection H as <-.
    destruct (z j) eqn:E.
    + apply lesser_holds_left. eapply IHi; [exact Ei|assumption|assumption|apply decide_keeps; assumption].
    + apply lesser_holds_right. eapply IHo; [exact Eo|assumption|assumption|apply decide_keeps; assumption].
  - eapply IH; [exact H|assumption|assumption|]. apply forced_keeps; [exact Hb|]. rewrite minus_IZR. pose proof (row_holds D z i Ha). lra.
  - destruct (Z.leb_spec 0 u) as [Hu|]; [|discriminate]. eapply IH; [exact H|assumption| |assumption].
    apply Z.min_case; [assumption|]. apply size_holds; [assumption|apply row_in_range, Hwf|apply row_holds, Ha].
  - destruct V as [W|]; [|discriminate]. destruct (Z.leb_spec 0 gap) as [Hgap|]; [|discriminate].
    destruct (check D ls Vs (Some W) room (drop (Z.min m 0) gap (values W) ds) t) as [a|] eqn:Ea; [|discriminate]. injection H as <-.
    destruct (drop_not_above (Z.min m 0) gap (values W) Hgap ds z Hb) as [Hin|Hsum].
    + apply lesser_holds_right. eapply IH; [exact Ea|assumption|assumption|assumption].
    + apply lesser_holds_left. left. apply bound_with_gap_holds; assumption.
  - destruct V as [W|]; [|discriminate]. pose proof (fix_leaves_none_out D W room fixed z HV Hz ds Hb) as Hfix.
    destruct (fix_all D W room ds fixed) as [b ds'].
    destruct (check D ls Vs (Some W) room ds' t) as [a|] eqn:Ea; [|discriminate]. injection H as <-.
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

Lemma fit_at_holds D l grain one q ks offset a : match bias D with penalised s => 0 < Q2R s | _ => True end ->
  0 < Q2R (unit_of_weights l) * Q2R (scale D) -> IZR one * (Q2R (unit_of_weights l) * Q2R (scale D)) = 1 ->
  fit_at D l grain one q ks offset = Some a ->
  let w := fun j => IZR (nth j ks 0%Z) * Q2R (unit_of_weights l) in
  let b := IZR offset * (Q2R (unit_of_weights l) * Q2R (scale D)) in
  weights_at D (subset l) w b /\ fit_of D q w b <= Q2R a.
Proof.
  intros Hpos Hu Hone H w b. unfold fit_at in H. destruct (_ && _) eqn:Hok in H; [|discriminate].
  apply andb_true_iff in Hok as [Hok Hb]. apply andb_true_iff in Hok as [Hlen Hw]. apply Nat.eqb_eq in Hlen. injection H as <-.
  pose proof (weights_may_be_holds _ _ _ _ Hw) as HW. split.
  - split.
    + destruct (bias D); [exact I| |exact I]. apply Z.eqb_eq in Hb. simpl. unfold b. rewrite Hb. lra.
    + intros j Hj. rewrite <- Hlen in Hj. destruct (HW j Hj) as [Hout Hin]. split; [|exact Hin]. intros Hz. unfold w. rewrite Hout by exact Hz. lra.
  - unfold fit_of, fit. rewrite !Q2R_plus. apply Rplus_le_compat; [apply Rplus_le_compat|].
    + right. rewrite <- Hlen, !Q2R_mult, real_of_integer, half, <- balance_is_sum, Rmult_comm, <- sum_scal. apply sum_ext. intros. unfold w. field.
    + right. destruct (bias D) as [| |s]; simpl; [rewrite real_of_zero; reflexivity|rewrite real_of_zero; reflexivity|].
      assert (Hs : ~ (s == 0)%Q) by (intros N; apply Qeq_eqR in N; rewrite real_of_zero in N; lra).
      rewrite !Q2R_mult, !Q2R_div, !Q2R_mult, real_of_integer, half by exact Hs. unfold b. field. lra.
    + set (u := (unit_of_weights l * scale D)%Q).
      assert (Eu : Q2R u = Q2R (unit_of_weights l) * Q2R (scale D)) by apply Q2R_mult.
      pose proof (losses_above (squared D) grain u one offset ltac:(rewrite Eu; exact Hu) ltac:(rewrite Eu; exact Hone) (labels q) (scores (n q) ks (columns q)) (costs q)) as L.
      unfold Q2R at 1. simpl Qnum. simpl Qden. eapply Rle_trans; [|exact L]. right. apply sum_ext. intros i Hi. unfold real_cost, real_label. do 3 f_equal.
      rewrite scores_are_sums by exact Hi. rewrite Hlen, Eu. unfold b. f_equal. f_equal.
      rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros j _. unfold w, real_x. ring.
Qed.

Lemma fits_at_holds D l grain one : match bias D with penalised s => 0 < Q2R s | _ => True end ->
  0 < Q2R (unit_of_weights l) * Q2R (scale D) -> IZR one * (Q2R (unit_of_weights l) * Q2R (scale D)) = 1 ->
  forall qs kss os a, fits_at D l grain one qs kss os = Some a ->
  let w := fun t j => IZR (nth j (nth t kss []) 0%Z) * Q2R (unit_of_weights l) in
  let b := fun t => IZR (nth t os 0%Z) * (Q2R (unit_of_weights l) * Q2R (scale D)) in
  (forall t, (t < length qs)%nat -> weights_at D (subset l) (w t) (b t))
  /\ sum (fun t => fit_of D (nth t qs no_problem) (w t) (b t)) (length qs) <= Q2R a.
Proof.
  intros Hpos Hu Hone. induction qs as [|q qs IH]; intros kss os a H; simpl in H.
  - injection H as <-. split; [intros t Ht; simpl in Ht; lia|]. simpl. rewrite real_of_zero. lra.
  - destruct (fit_at D l grain one q (hd [] kss) (hd 0%Z os)) as [a1|] eqn:E1; [|discriminate].
    destruct (fits_at D l grain one qs (tl kss) (tl os)) as [a2|] eqn:E2; [|discriminate]. injection H as <-.
    destruct (fit_at_holds _ _ _ _ _ _ _ _ Hpos Hu Hone E1) as [W1 F1]. destruct (IH _ _ _ E2) as [W2 F2]. rewrite !head_is_nth in *. split.
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
  apply andb_true_iff in H as [Hlen Hrows]. apply Nat.eqb_eq in Hlen.
  apply positive_holds in Hu. rewrite Q2R_mult in Hu. apply Qeq_bool_iff, Qeq_eqR in Hone. rewrite !Q2R_mult, real_of_integer in Hone.
  assert (Hone' : IZR one * (Q2R (unit_of_weights l) * Q2R (scale D)) = 1) by (rewrite Hone; unfold Q2R; simpl; field).
  destruct (fits_at_holds D l grain one Hpos Hu Hone' _ _ _ _ E) as [W F]. apply Qle_bool_iff, Qle_Rle in Hle. rewrite Q2R_plus in Hle.
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
  destruct (check D _ _ None (Z.of_nat (p D)) [] t) as [r|] eqn:E; [|discriminate].
  split; [intros l Hin; apply HL, Hin|]. intros z w b Hz Hw.
  assert (Hr : holds_for D (map snd ls) z r).
  { eapply check_holds; [exact Hwf|intros l Hin; apply HL, Hin|exact Hz| |exact E|exact I|apply count_not_above|intros j; destruct j; exact I].
    intros V Hin. apply in_map_iff in Hin as [P [HP _]]. eapply seen_holds; eassumption. }
  destruct Hr as [Hr|[l [Hin [Hs Ho]]]]; [left|right; exists l; split; [exact Hin|split; [exact Hs|apply Ho, Hw]]].
  destruct r as [q|]; [|contradiction].
  apply Rle_trans with (Q2R q); [apply Qle_Rle, Qle_bool_iff, H|apply Hr, Hw].
Qed.
