(* Some goals of a function alone. `-wp-prop` selects by the name of a clause, wherever it occurs, and drops smoke tests whatever it
   selects. In a run without `-wp` and with QED_FUNCTIONS, names separated by commas, the goals of these functions are made as `-wp` makes
   them. Those that QED_GOALS names, or all smoke tests where it is not set, are given to the provers of the command line. A goal of several
   parts is named without the number of a part. *)
let names variable = Option.map (String.split_on_char ',') (Sys.getenv_opt variable)

let is_smoke vc = match Wp.VC.get_property vc with
  | Property.IPOther { io_name } -> String.starts_with ~prefix:"wp_smoke_" io_name
  | _ -> false

let is_named goal vc =
  let id = Wp.VC.get_id vc in
  id = goal || String.starts_with ~prefix:(goal ^ "_part") id

let run functions =
  let made = Bag.ulist (List.map (fun f -> Wp.VC.generate_kf (Globals.Functions.find_by_name f)) functions) in
  let chosen = match names "QED_GOALS" with
    | None -> Bag.filter is_smoke made
    | Some goals ->
        let chosen = List.map (fun goal -> goal, Bag.filter (is_named goal) made) goals in
        List.iter (fun (goal, found) -> if Bag.is_empty found then Wp.Wp_parameters.abort "no goal %s" goal) chosen;
        Bag.ulist (List.map snd chosen) in
  Wp.Wp_parameters.feedback "Chosen goals: %d of %d" (Bag.length chosen) (Bag.length made);
  Wp.VC.command chosen

let () = Db.Main.extend (fun () -> Option.iter run (names "QED_FUNCTIONS"))
