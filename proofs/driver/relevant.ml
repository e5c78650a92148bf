(* What a prover is not told. Each goal comes with all of WP's theories and with the definition of whatever it mentions, and reading
   them takes longer than the median proof. The transformation `told` for Why3 does what a list of Why3's own transformations does, in less time,
   and removes axioms and declarations, nothing else: what is proven without an axiom is proven with it.

   Removed are axioms that mention what nothing else mentions, so that no trigger finds an instance of them. Where a goal needs symbols of
   more than one type, Why3 makes the instances that the goal needs (`discriminate`). After that axioms of all types are removed too, and
   what is left needs no encoding of types.

   Why3 checks a declaration each time that it is put after others, and each of its transformations puts all of them after each other
   again. To check a goal takes long, since it is one large formula. So a goal is not given to the transformations that leave it as it is,
   or whose work on it is known otherwise:
   - what eliminates definitions sees the other declarations alone, and Why3 keeps the results from goal to goal;
   - what only concerns matches, choices and literals is left out where there are none in the axioms (`is_plain`); WP puts none into a goal,
     and where there was one, the goal would be refused when it is printed, or not be proven;
   - `discriminate` gets a small goal that applies the same symbols to the same types. What it puts in their place there replaces them in
     the goal itself.
   A task of another kind goes through all of Why3's transformations, one after the other; all tasks do with QED_STEPWISE set. *)
open Why3
open Ident
open Term
open Decl
open Theory

(* An axiom has instances where some of the symbols of Any, or all symbols of one of One, occur. *)
type instances = Any of Sid.t | One of Sid.t list

let symbols own term =
  t_s_fold (fun s _ -> s) (fun s ls -> if own ls.ls_name then Sid.add ls.ls_name s else s) Sid.empty term

let rec prenex vars triggers term = match term.t_node with
  | Tquant (Tforall, q) ->
      let more, patterns, term = t_open_quant q in
      prenex (Svs.union vars (Svs.of_list more)) (patterns @ triggers) term
  | _ -> vars, triggers, term

(* By its triggers; where it has none, by the terms from which a prover can make one: those that mention all its variables. *)
let instances own axiom =
  let vars, triggers, body = prenex Svs.empty [] axiom in
  let covers term = let free = t_vars term in Svs.for_all (fun v -> Mvs.mem v free) vars in
  let rec patterns found term =
    let found = match term.t_node with
      | Tapp (ls, _) when (own ls.ls_name || ls.ls_value <> None) && covers term -> symbols own term :: found
      | _ -> found in
    t_fold patterns found term in
  if Svs.is_empty vars then Any (symbols own axiom)
  else if triggers <> [] then One (List.map (List.fold_left (fun s t -> Sid.union s (symbols own t)) Sid.empty) triggers)
  else match patterns [] body with
    | [] -> Any (symbols own axiom)
    | found -> One found

let occur live = function
  | Any s -> Sid.is_empty s || not (Sid.disjoint s live)
  | One l -> List.exists (fun s -> Sid.subset s live) l

(* What is worked out once for each declaration. *)
let once work =
  let known = Wdecl.create 997 in
  fun d -> try Wdecl.find known d with Not_found -> let w = work d in Wdecl.set known d w; w

let mentioned = once get_decl_syms

(* The axiom that Why3 makes of the definition of f is called f'def, and is wanted where f occurs. *)
let defined pr term =
  let name = pr.pr_name.id_string in
  if not (String.ends_with ~suffix:"'def" name) then Sid.empty
  else
    let f = String.sub name 0 (String.length name - 4) in
    symbols (fun id -> id.id_string = f) term

let remembered = Wdecl.create 997
let syntax = Trans.store Printer.get_syntax_map

(* The declarations of a task without its goal that can take part in the proof of a goal. definitions: some axioms are definitions;
   polymorphic: axioms of all types count, too. *)
let select ~definitions ~polymorphic rest goal =
  let syntax = Trans.apply syntax rest in
  let own id = not (Mid.mem id syntax) && not (id_equal id ps_equ.ls_name) in
  let dropped = Task.on_tagged_pr Printer.meta_remove_prop rest in
  let decls = Task.task_tdecls rest and known = Task.task_known rest in
  let look d pr t =
    try Wdecl.find remembered d
    with Not_found ->
      let f = if definitions then defined pr t else Sid.empty in
      let seen = (if Sid.is_empty f then instances own t else Any f), symbols own t in
      Wdecl.set remembered d seen; seen in
  let axiom td = match td.td_node with
    | Decl ({ d_node = Dprop (_, pr, t) } as d) when not (Spr.mem pr dropped)
                                                 && (polymorphic || Ty.Stv.is_empty (t_ty_freevars Ty.Stv.empty t)) ->
        let instances, symbols = look d pr t in
        Some (pr, instances, symbols)
    | _ -> None in
  (* symbols that occur, and those of their definitions *)
  let rec reach live id =
    if Sid.mem id live || not (own id) then live
    else
      let live = Sid.add id live in
      match Mid.find id known with
      | { d_node = Dlogic _ | Dind _ } as d -> mention live d
      | _ -> live
  and reach_all live ids = Sid.fold (fun id live -> reach live id) ids live
  and mention live d = decl_fold (fun live t -> reach_all live (symbols own t)) live d in
  let rec fixpoint live kept axioms =
    let now, later = List.partition (fun (_, i, _) -> occur live i) axioms in
    if now = [] then kept
    else fixpoint (List.fold_left (fun live (_, _, s) -> reach_all live s) live now)
                  (List.fold_left (fun kept (pr, _, _) -> Spr.add pr kept) kept now) later in
  let kept = fixpoint (mention Sid.empty goal) Spr.empty (List.filter_map axiom decls) in
  (* declarations of all that they mention, types and interpreted symbols included *)
  let rec need_id ids id =
    if Sid.mem id ids then ids
    else match Mid.find_opt id known with
      | Some d -> need (Sid.union ids (Sid.add id d.d_news)) (mentioned d)
      | None -> ids
  and need ids symbols = Sid.fold (fun id ids -> need_id ids id) symbols ids in
  let needed = List.fold_left (fun ids td -> match td.td_node with
    | Decl ({ d_node = Dprop (_, pr, _) } as d) when Spr.mem pr kept -> need ids (mentioned d)
    | _ -> ids) (need Sid.empty (get_decl_syms goal)) decls in
  let keep td = match td.td_node with
    | Decl { d_node = Dprop (_, pr, _) } -> Spr.mem pr kept
    | Decl { d_node = Dtype _ | Ddata _ | Dparam _ | Dlogic _ | Dind _; d_news } -> not (Sid.disjoint d_news needed)
    | Use _ | Clone _ | Meta _ -> true in
  let kept, settings = List.partition (fun td -> match td.td_node with Decl _ -> true | _ -> false) (List.filter keep decls) in
  settings @ kept

(* Tasks that were made by putting a declaration after a task: goals share them as far as they begin with the same declarations. *)
let longer = Hashtbl.create 997

let extend task td =
  let tag = match task with None -> -1 | Some t -> Weakhtbl.tag_hash t.Task.task_tag in
  try Hashtbl.find longer (tag, td.td_tag)
  with Not_found -> let task = Task.add_tdecl task td in Hashtbl.add longer (tag, td.td_tag) task; task

(* Nothing is in it that the transformations for definitions, matches, choices and literals would change. *)
let is_plain = once (fun d ->
  let rec is_odd t = match t.t_node with
    | Tcase _ | Teps _ | Tconst (Constant.ConstStr _) -> true
    | _ -> t_any is_odd t in
  match d.d_node with
  | Dtype { Ty.ts_def = Ty.Range _ | Ty.Float _ } | Dlogic _ | Dind _ -> false
  | Dtype _ | Ddata _ | Dparam _ -> true
  | Dprop (_, _, t) -> not (is_odd t))

(* As `simplify_formula` does it. *)
let simplify d = match d.d_node with
  | Dprop (kind, pr, t) -> create_prop_decl kind pr (Simplify_formula.fmla_simpl t)
  | _ -> d

let simplified = once (fun d -> create_decl (simplify d))

let is_monomorphic task = Task.on_meta_excl Detect_polymorphism.meta_monomorphic_types_only task <> None
let is_closed goal = decl_fold (fun closed t -> closed && Ty.Stv.is_empty (t_ty_freevars Ty.Stv.empty t)) true goal

let separate task =
  let goal, rest = Task.task_separate_goal task in
  match goal.td_node with
  | Decl goal -> goal, rest
  | _ -> raise Task.GoalNotFound

(* The symbols that a goal applies, each with the types that it has there. *)
let applications goal =
  let same types other = Lists.equal Ty.ty_equal types other in
  let add found ls arguments value =
    let types = Ty.oty_cons arguments value and known = Mls.find_def [] ls found in
    if List.exists (fun (t, _, _) -> same types t) known then found else Mls.add ls ((types, arguments, value) :: known) found in
  let found = decl_fold (t_app_fold add) Mls.empty goal in
  Mls.fold (fun ls uses l -> List.fold_left (fun l (types, arguments, value) -> (ls, types, arguments, value) :: l) l uses) found []

(* A small formula that applies just these. *)
let small_formula applications =
  let apply (variables, formula) (ls, _, arguments, value) =
    let own = List.map (create_vsymbol (id_fresh "x")) arguments in
    let term = t_app ls (List.map t_var own) value in
    let formula' = match value with
      | None -> term
      | Some ty -> t_let_close (create_vsymbol (id_fresh "y") ty) term t_true in
    own @ variables, t_and formula' formula in
  let variables, formula = List.fold_left apply ([], t_true) applications in
  t_forall_close variables [] formula

(* By which symbols Why3 has replaced these in it; nothing, if it has changed anything else. *)
let replaced applications formula =
  let formula = match formula.t_node with
    | Tquant (Tforall, q) -> let _, _, formula = t_open_quant q in formula
    | _ -> formula in
  let rec replaced found applications formula = match applications, formula.t_node with
    | [], Ttrue -> Some found
    | (ls, types, arguments, _) :: others, Tbinop (Tand, { t_node = Tapp (ls', l) | Tlet ({ t_node = Tapp (ls', l) }, _) }, formula)
      when List.length l = List.length arguments && List.for_all (fun t -> match t.t_node with Tvar _ -> true | _ -> false) l ->
        replaced (Mls.add ls ((types, ls') :: Mls.find_def [] ls found) found) others formula
    | _ -> None in
  replaced Mls.empty (List.rev applications) formula

let rename symbols d =
  let rename ls arguments value =
    let types = Ty.oty_cons arguments value in
    snd (List.find (fun (t, _) -> Lists.equal Ty.ty_equal types t) (Mls.find ls symbols)) in
  decl_map (t_app_map rename) d

let stepwise = Sys.getenv_opt "QED_STEPWISE" <> None

let tell env =
  let why3 names = Trans.seq (List.map (fun name -> Trans.lookup_transform name env) names) in
  let define = why3 [ "eliminate_builtin"; "eliminate_definition"; "eliminate_inductive" ] in
  let detect = why3 [ "detect_polymorphism" ] in
  let algebraic = why3 [ "eliminate_algebraic_if_poly" ] in
  let discriminate = why3 [ "discriminate_if_poly" ] in
  let finish = why3 [ "eliminate_literal"; "eliminate_epsilon"; "simplify_formula"; "detect_polymorphism"; "encoding_smt_if_poly" ] in
  let is_plain td = match td.td_node with Decl d -> is_plain d | _ -> true in
  let simplified td = match td.td_node with Decl d -> simplified d | _ -> td in
  (* what finish would make, or nothing *)
  let finish_plain add kept goal =
    if not (List.for_all is_plain kept && is_closed goal) then None
    else
      let task = Trans.apply detect (List.fold_left add None (List.map simplified kept)) in
      if is_monomorphic task then Some (Task.add_decl task (simplify goal)) else None in
  Trans.store (fun task ->
    let goal, rest = separate task in
    let kept = select ~definitions:true ~polymorphic:true (Trans.apply define rest) goal in
    let bare = List.fold_left extend None kept in
    (* its instances, by a small goal that applies the same symbols *)
    let instantiated () =
      let applied = applications goal in
      let small = create_prop_decl Pgoal (create_prsymbol (id_fresh "small")) (small_formula applied) in
      let small, rest = separate (Trans.apply discriminate (Trans.apply algebraic (Task.add_decl bare small))) in
      match small.d_node with
      | Dprop (_, _, formula) -> Option.map (fun symbols -> rename symbols goal, rest) (replaced applied formula)
      | _ -> None in
    let plain =
      if stepwise || not (List.for_all is_plain kept && is_closed goal) then None
      else if is_monomorphic (Trans.apply detect bare) then finish_plain extend kept goal
      else
        Option.bind (instantiated ()) (fun (goal, rest) ->
          finish_plain Task.add_tdecl (select ~definitions:false ~polymorphic:false rest goal) goal) in
    match plain with
    | Some task -> task
    | None ->
        let task = Trans.apply algebraic (Trans.apply detect (Task.add_decl bare goal)) in
        if is_monomorphic task then Trans.apply finish task
        else
          let goal, rest = separate (Trans.apply discriminate task) in
          let kept = select ~definitions:false ~polymorphic:false rest goal in
          Trans.apply finish (Task.add_decl (List.fold_left Task.add_tdecl None kept) goal))

let () = Trans.register_env_transform "told" tell ~desc:"Remove@ axioms@ without@ instances,@ and@ what@ provers@ do@ not@ know."
