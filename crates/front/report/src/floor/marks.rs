//! Colours and widths of marks, on one scale for both pictures of a comparison.

use crate::palette::{Rgb, colour, hex, is_light};

/// Colours of loads; widths are continuous.
pub const STEPS: usize = 6;
/// Lighter colours of viridis are invisible on a white background.
const LIGHTEST: f64 = 0.82;

/// Blue, vermilion, purple, sky and orange of Okabe & Ito 2008, then indigo (lighter), olive, wine,
/// teal, rose, green and sand of Tol 2021 (muted): distinguishable for people who confuse red and
/// green. The green of Okabe & Ito is for homes.
const PARTS: [Rgb; 12] = [
    [0, 114, 178],
    [213, 94, 0],
    [204, 121, 167],
    [86, 180, 233],
    [230, 159, 0],
    [80, 60, 170],
    [153, 153, 51],
    [136, 34, 85],
    [68, 170, 153],
    [204, 102, 119],
    [17, 119, 51],
    [221, 204, 119],
];
/// The colour of tasks without traffic.
const NOBODY: Rgb = [110, 119, 129];
pub const HOME: &str = "#009e73";

/// Widths and colours are relative to these.
#[derive(Clone, Copy)]
pub struct Most {
    pub load: f64,
    pub pair: f64,
}

impl Most {
    /// The class and colour, darker for more; `None` without load.
    pub fn step(self, load: f64) -> Option<(String, String)> {
        // Rounded up: the smallest load has the first step.
        (load > 0.0).then(|| step_at((load / self.load * STEPS as f64).ceil() as usize))
    }

    pub fn width(self, load: f64, widest: f64) -> f64 {
        // Lines thinner than one unit are hard to see and to point at.
        (widest * load / self.load).max(1.0)
    }

    pub fn bow(self, bytes: f64) -> f64 {
        0.7 + 1.5 * bytes / self.pair
    }
}

pub fn step_at(step: usize) -> (String, String) {
    let step = step.clamp(1, STEPS);
    let light = LIGHTEST * (STEPS - step) as f64 / (STEPS - 1) as f64;
    (format!("load-{step}"), hex(colour(light)))
}

/// The colour of a part, or of tasks without traffic, and of text on it. More than twelve parts
/// reuse the colours.
pub fn part(at: Option<usize>) -> (String, &'static str) {
    let rgb = at.map_or(NOBODY, |at| PARTS[at % PARTS.len()]);
    (hex(rgb), if is_light(rgb) { "#1b1f24" } else { "#ffffff" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_scale_from_visible_to_largest_step() {
        let most = Most { load: 100.0, pair: 10.0 };
        assert_eq!(most.step(100.0).unwrap(), ("load-6".to_owned(), "#440154".to_owned()));
        assert_eq!(most.step(0.001).unwrap().0, "load-1");
        assert_eq!(
            (most.step(0.0), most.width(0.001, 7.0), most.width(100.0, 7.0)),
            (None, 1.0, 7.0)
        );
    }
}
