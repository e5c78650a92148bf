(* The goals of the functions that QED_FUNCTIONS names, separated by commas: made as `-wp` makes them, and given to the provers. `-wp-prop` would
   select by the name of a clause, wherever it occurs, and drop smoke tests whatever it selects.

   QED_GOALS says which goals: the names of some, or `smoke` for all smoke tests. Where it is not set, they are all of them. A goal of several parts is
   named without the number of a part.

   Each step of the command line is a round, and meets the goals that the rounds before have left open. QED_1_cvc4 names those that the first round
   gives to the prover that has -cvc4 behind the name of the command line's, and begins with CVC4. QED_2_z3-own names those of the second round that begin
   with Z3 in its own configuration, and so on. Those that QED_1_later names are left to the second round. *)
open Wp

let names variable = Option.map (String.split_on_char ',') (Sys.getenv_opt variable)

let is_smoke vc = match VC.get_property vc with
  | Property.IPOther { io_name } -> String.starts_with ~prefix:"wp_smoke_" io_name
  | _ -> false

let is_named goal vc =
  let id = VC.get_id vc in
  id = goal || String.starts_with ~prefix:(goal ^ "_part") id

let choose made = match names "QED_GOALS" with
  | None -> made
  | Some [ "smoke" ] -> Bag.filter is_smoke made
  | Some goals ->
      let chosen = List.map (fun goal -> goal, Bag.filter (is_named goal) made) goals in
      List.iter (fun (goal, found) -> if Bag.is_empty found then Wp_parameters.abort "no goal %s" goal) chosen;
      Bag.ulist (List.map snd chosen)

(* Gives goals to the prover of the command line, or to that which adds this to its name. *)
let give order goals =
  let prover = List.hd (Wp_parameters.Provers.get ()) in
  if not (Bag.is_empty goals) then begin
    Wp_parameters.Provers.set [ prover ^ order ];
    VC.command goals;
    Wp_parameters.Provers.set [ prover ]
  end

let round = ref 0
let left = ref None         (* names of goals, without the number of a part *)

let unnumbered vc =
  let id = VC.get_id vc in
  match Str.search_backward (Str.regexp "_part[0-9]+$") id (String.length id) with
  | place -> String.sub id 0 place
  | exception Not_found -> id

let meet functions =
  let made = Bag.ulist (List.map (fun f -> VC.generate_kf (Globals.Functions.find_by_name f)) functions) in
  let chosen = match !left with
    | None -> choose made
    | Some names -> Bag.filter (fun vc -> List.mem (unnumbered vc) names) made in
  Wp_parameters.feedback "Chosen goals: %d of %d" (Bag.length chosen) (Bag.length made);
  let those order goals =
    let names = Option.value ~default:[] (names (Printf.sprintf "QED_%d_%s" !round order)) in
    Bag.partition (fun vc -> List.mem (VC.get_id vc) names) goals in
  let later, now = those "later" chosen in
  Bag.iter (fun vc -> Wp_parameters.feedback "[Later] Goal %s" (VC.get_id vc)) later;
  let others = List.fold_left (fun goals order ->
      let these, others = those order goals in
      give ("-" ^ order) these;
      others) now [ "z3-long"; "cvc4"; "z3-own" ] in
  give "" others;
  let is_open vc = not (VC.is_proved vc) in
  left := Some (List.sort_uniq compare (Bag.fold_left (fun names vc -> if is_open vc then unnumbered vc :: names else names) [] chosen))

let run functions =
  incr round;
  if !left <> Some [] then meet functions

let () = Db.Main.extend (fun () -> if not (Wp_parameters.WP.get ()) then Option.iter run (names "QED_FUNCTIONS"))
