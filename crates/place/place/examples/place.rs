//! Places the tasks of a stencil on a machine from the catalog.

use seatmap_data::machine::catalog;
use seatmap_place::PlaceRequest;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = catalog::load("xeon-e5-2680-2s")?;
    let pattern = seatmap_data::pattern::generate("stencil2d:4x4")?;
    let answer = PlaceRequest::new(&machine, &pattern).place()?;
    println!(
        "cost {:.0}, at least {:.0}, unplaced {:.0}",
        answer.cost, answer.lower_bound, answer.baselines.os
    );
    println!("CPUs of the tasks: {:?}", answer.placement);
    Ok(())
}
