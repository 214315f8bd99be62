//! `seatmap place --on gallery`.

use crate::args::PlaceArgs;
use crate::verbs::gallery;
use seatmap_console::bar::Bar;
use seatmap_console::error::CliError;
use seatmap_console::here;
use seatmap_measure::gallery::RankingRequest;
use seatmap_report::ranking;

pub fn run(typed: &PlaceArgs, folder: Option<&str>) -> Result<(), CliError> {
    if let Some(option) = typed.of_one_seating() {
        return Err(CliError::input(format!(
            "{option} is for one machine, but --on {} compares many; choose one of them, or leave \
             {option} out",
            typed.on
        )));
    }
    let outputs = typed.forms.outputs(None)?;
    let pattern = super::pattern(typed)?;
    let named: Vec<String> = folder.map(str::to_owned).into_iter().collect();
    let request = RankingRequest {
        gallery: &gallery::of(&named)?,
        pattern: &pattern,
        objective: typed.objective.map(Into::into),
        waiting: typed.waiting(),
        smt: typed.smt(),
        kind: typed.kind.map(Into::into),
        equal_seats: typed.equal_kind,
        time: typed.time(),
        rounds: typed.rounds(),
        threads: typed.threads(),
        seed: typed.seed,
        date: here::today(),
        tool: here::tool(),
    };
    let bar = Bar::new("machines");
    let ranking = request.rank(&mut |done, all| bar.show(done, all)).map_err(CliError::input)?;
    drop(bar);
    CliError::check_input(typed.unused_loads(ranking.objective))?;
    outputs.show(&ranking, &ranking::page(&ranking))
}
