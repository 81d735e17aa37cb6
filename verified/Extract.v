(* Writes core.ml: the program `check` and `reaches` of Program.v in OCaml, with the integers of Zarith. *)
Require Import Program Checker.
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt ZArith.
Extraction Language OCaml.
Extraction "core.ml" found reaches.
(* The gate compares this with the axioms of Coq's real numbers. *)
Print Assumptions proven.
