//! The output of `seatmap measure`: a table, a document, a file, and the remembered profile.

use crate::args::MeasureArgs;
use seatmap_console::error::CliError;
use seatmap_console::here::host_profile;
use seatmap_console::output::{self, Destination};
use seatmap_console::view::{self, ColourChoice};
use seatmap_data::machine::{Profile, SharedProfile};
use seatmap_measure::measurement::Measurement;
use seatmap_measure::past::{self, Remembrance};
use seatmap_measure::source::RoundTripSource;
use seatmap_report::terminal::{self, DrawOptions};
use seatmap_report::{Page, html};

pub struct MeasureOutputs {
    on: String,
    is_document: bool,
    output: Option<Destination>,
    page: Option<Destination>,
    shared: Option<Destination>,
    colour: ColourChoice,
}

impl MeasureOutputs {
    pub fn new(typed: &MeasureArgs, colour: ColourChoice) -> Result<Self, CliError> {
        let output = output::beside(typed.output.as_deref(), None, "-o")?;
        let is_document = typed.forms.json || output == Some(Destination::Stdout);
        let page = output::page(typed.forms.html.as_deref(), is_document)?;
        let on_stdout = is_document
            .then_some("--json")
            .or_else(|| (page == Some(Destination::Stdout)).then_some("--html -"));
        let shared = output::beside(typed.share.as_deref(), on_stdout, "--share")?;
        Ok(MeasureOutputs { on: typed.on.clone(), is_document, output, page, shared, colour })
    }

    /// Shows, prints, writes or remembers a profile. `kind` is that of its machine.
    pub fn show(
        &self,
        measurement: &Measurement,
        source: &RoundTripSource,
        kind: &str,
    ) -> Result<(), CliError> {
        let profile = &measurement.profile;
        output::tell_each(&measurement.warnings);
        measurement.used_up.iter().for_each(|quotas| output::tell_of_used_up(quotas));
        if let Some(page) = &self.page {
            let model = source.model().map(|model| &**model);
            page.write(&html::page(profile, model, &[]))?;
        }
        let remark = match source {
            // Before it is remembered, or it would be compared with itself.
            RoundTripSource::Host { .. } => past::remark_on_change(profile),
            RoundTripSource::Replayed { .. } => Some(format!(
                "{} is {kind}: its figures were replayed with synthetic noise; nothing was \
                 measured",
                self.on
            )),
            RoundTripSource::Simulated { .. } => None,
        };
        output::tell_each(remark);
        match (&self.output, source) {
            (Some(file @ (Destination::File(_) | Destination::Stream(_))), _) => {
                file.write(&profile.to_json())?;
            }
            // A profile in a file is the user's, and does not change the remembered one.
            (_, RoundTripSource::Host { pus, .. }) => {
                let remembrance = past::remember(profile, pus);
                output::tell_each(remembrance.remark());
                tell_where(&remembrance);
            }
            _ => {}
        }
        self.share(profile)?;
        if self.is_document {
            return output::print_exact(&profile.to_json());
        }
        if [&self.page, &self.shared].contains(&&Some(Destination::Stdout)) {
            return Ok(());
        }
        output::show(&self.table(profile))
    }

    fn share(&self, profile: &Profile) -> Result<(), CliError> {
        let Some(file) = &self.shared else { return Ok(()) };
        let shared = SharedProfile::of(profile);
        file.write(&shared.profile.to_json())?;
        output::tell(&shared.sentence());
        Ok(())
    }

    fn table(&self, profile: &Profile) -> Page {
        let options = DrawOptions {
            colour: view::colour(self.colour, &std::io::stdout()),
            width: view::width(),
            ..DrawOptions::default()
        };
        let checked = profile.home_model.as_ref().and_then(|model| model.lines.as_ref()?.checked);
        let checked = checked.map(|checked| format!("Homes {checked}."));
        terminal::page(profile, &options, None).paragraph(Vec::from_iter(checked))
    }
}

fn tell_where(remembrance: &Remembrance) {
    if let (Remembrance::Kept { .. }, Some(path)) = (remembrance, host_profile()) {
        let path = path.display();
        output::tell_person(&format!(
            "saved for other commands in {path}; 'seatmap show' prints it again"
        ));
    }
}
