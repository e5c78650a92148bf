(* The clauses that one call, or one return, owes are one goal. By itself WP makes a goal of each `requires` at each call and of each `ensures`
   at the end, and repeats for each of them the work on what is known at that place. With QED_TOGETHER set, the `requires` of a contract are read
   as one clause, their conjunction, and so are the `ensures` of each of its behaviors. Two kinds of contracts stay as they are: those of
   lemmas, which ask for much that is proven in different ways, and those of the functions that QED_TOGETHER names, separated by commas. *)
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

let is_lemma name = List.mem "lemma" (String.split_on_char '_' name)

let join_contract apart = function
  | _, (Cabs.FUNDEF (Some (spec, _), (_, (name, _, _, _)), _, _, _) | Cabs.DECDEF (Some (spec, _), (_, ((name, _, _, _), _) :: _), _))
    when not (is_lemma name || List.mem name apart) -> List.iter join_behavior spec.spec_behavior
  | _ -> ()

let join apart (path, definitions) = List.iter (join_contract apart) definitions; path, definitions

let () = Option.iter (fun names -> Frontc.add_syntactic_transformation (join (String.split_on_char ',' names))) (Sys.getenv_opt "QED_TOGETHER")
