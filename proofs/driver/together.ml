(* Clauses that stand or fall at one place are one goal. WP makes a goal of each `requires` at each call and of each `ensures` at the end,
   and most of what a goal costs it costs whatever it says. With QED_TOGETHER set, the `requires` of a contract, and the `ensures` of
   each of its behaviors, are read as one clause that is their conjunction. *)
open Logic_ptree

let conjunction = function
  | [] -> []
  | first :: rest ->
      let also left right = { lexpr_node = PLand (left, right.tp_statement); lexpr_loc = left.lexpr_loc } in
      [ { first with tp_statement = List.fold_left also first.tp_statement rest } ]

let join_behavior b =
  let asserted p = p.tp_kind = Cil_types.Assert in
  let requires, checks = List.partition asserted b.b_requires in
  let ensures, other = List.partition (fun (kind, p) -> kind = Cil_types.Normal && asserted p) b.b_post_cond in
  b.b_requires <- conjunction requires @ checks;
  b.b_post_cond <- List.map (fun p -> Cil_types.Normal, p) (conjunction (List.map snd ensures)) @ other

let join_contract = function
  | _, (Cabs.FUNDEF (Some (spec, _), _, _, _, _) | Cabs.DECDEF (Some (spec, _), _, _)) -> List.iter join_behavior spec.spec_behavior
  | _ -> ()

let () =
  if Sys.getenv_opt "QED_TOGETHER" <> None then
    Frontc.add_syntactic_transformation (fun (path, definitions) -> List.iter join_contract definitions; path, definitions)
