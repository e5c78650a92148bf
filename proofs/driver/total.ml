(* Every function ends and returns, unless its contract says otherwise: a contract without a word on termination gets
   `terminates \true`, one without a word on exit gets `exits \false`. They are goals where the function has a body, and what is believed
   of it where it has none, as if they were written. *)
open Cil_types

let emitter = Emitter.create "Total" [ Emitter.Funspec ] ~correctness:[] ~tuning:[]

let says_exits b = List.exists (fun (kind, _) -> kind = Exits) b.b_post_cond

let complete kf =
  let spec = Annotations.funspec ~populate:false kf in
  if spec.spec_behavior <> [] then begin
    if spec.spec_terminates = None then
      Annotations.add_terminates emitter kf (Logic_const.new_predicate Logic_const.ptrue);
    if not (List.exists says_exits spec.spec_behavior) then
      Annotations.add_ensures emitter kf ~behavior:Cil.default_behavior_name
        [ Exits, Logic_const.new_predicate Logic_const.pfalse ]
  end

let () = Ast.apply_after_computed (fun _ -> Globals.Functions.iter complete)
