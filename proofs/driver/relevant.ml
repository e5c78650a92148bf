(* What a prover is not told. Each goal comes with all of WP's theories and with the definition of whatever it mentions, and reading
   them takes longer than the median proof. Two transformations for Why3 remove axioms and declarations, nothing else: what is
   proven without an axiom is proven with it.

   relevant: axioms that mention what nothing else mentions, so that no trigger finds an instance of them.
   monomorphic: after `discriminate` has made the instances that the task needs, axioms of all types, too; what is left needs no
   encoding of types. *)
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

let remembered = Wdecl.create 97

let restrict ~polymorphic task =
  let syntax = Printer.get_syntax_map task in
  let own id = not (Mid.mem id syntax) && not (id_equal id ps_equ.ls_name) in
  let dropped = Task.on_tagged_pr Printer.meta_remove_prop task in
  let goal, rest = Task.task_separate_goal task in
  let goal = match goal.td_node with Decl d -> d | _ -> raise Task.GoalNotFound in
  let decls = Task.task_tdecls rest and known = Task.task_known task in
  let axiom td = match td.td_node with
    | Decl ({ d_node = Dprop (_, pr, t) } as d) when not (Spr.mem pr dropped)
                                                 && (polymorphic || Ty.Stv.is_empty (t_ty_freevars Ty.Stv.empty t)) ->
        let i = try Wdecl.find remembered d with Not_found -> let i = instances own t in Wdecl.set remembered d i; i in
        Some (pr, t, i)
    | _ -> None in
  (* symbols that occur, and those of their definitions *)
  let rec reach live id =
    if Sid.mem id live || not (own id) then live
    else
      let live = Sid.add id live in
      match Mid.find id known with
      | { d_node = Dlogic _ | Dind _ } as d -> decl_fold mention live d
      | _ -> live
  and mention live term = Sid.fold (fun id live -> reach live id) (symbols own term) live in
  let rec fixpoint live kept axioms =
    let now, later = List.partition (fun (_, _, i) -> occur live i) axioms in
    if now = [] then kept
    else fixpoint (List.fold_left (fun live (_, t, _) -> mention live t) live now)
                  (List.fold_left (fun kept (pr, _, _) -> Spr.add pr kept) kept now) later in
  let kept = fixpoint (decl_fold mention Sid.empty goal) Spr.empty (List.filter_map axiom decls) in
  (* declarations of all that they mention, types and interpreted symbols included *)
  let rec need_id ids id =
    if Sid.mem id ids then ids
    else match Mid.find_opt id known with
      | Some d -> need (Sid.union ids (Sid.add id d.d_news)) d
      | None -> ids
  and need ids d = Sid.fold (fun id ids -> need_id ids id) (get_decl_syms d) ids in
  let needed = List.fold_left (fun ids td -> match td.td_node with
    | Decl ({ d_node = Dprop (_, pr, _) } as d) when Spr.mem pr kept -> need ids d
    | _ -> ids) (need Sid.empty goal) decls in
  let keep task td = match td.td_node with
    | Decl { d_node = Dprop (_, pr, _) } when not (Spr.mem pr kept) -> task
    | Decl { d_node = Dtype _ | Ddata _ | Dparam _ | Dlogic _ | Dind _; d_news } when Sid.disjoint d_news needed -> task
    | _ -> Task.add_tdecl task td in
  Task.add_decl (List.fold_left keep None decls) goal

let is_monomorphic task = Task.on_meta_excl Detect_polymorphism.meta_monomorphic_types_only task <> None

let () =
  Trans.register_transform "relevant" (Trans.store (restrict ~polymorphic:true)) ~desc:"Remove@ axioms@ without@ instances.";
  Trans.register_transform "monomorphic"
    (Trans.store (fun task -> if is_monomorphic task then task else restrict ~polymorphic:false task))
    ~desc:"Remove@ axioms@ of@ all@ types@ and@ those@ without@ instances."
