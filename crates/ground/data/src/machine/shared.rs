//! A profile for publication, without names of people or hosts.

use crate::machine::Profile;

const UNNAMED: &str = "a computer";

const HOST_NAME: &str = "the host's name";

/// A profile for publication, and the omitted facts.
#[derive(Clone, Debug)]
pub struct SharedProfile {
    /// Profile, named after its processor.
    pub profile: Profile,
    /// Omitted facts, in words: `the host's name`.
    pub left_out: Vec<&'static str>,
}

impl SharedProfile {
    /// Omits the names of the machine and of its control groups, and the builder's part of the
    /// kernel's release. All figures stay.
    pub fn of(profile: &Profile) -> Self {
        let mut shared = profile.clone();
        let mut left_out = vec![HOST_NAME];
        let model = shared.environment.cpu_model.clone().unwrap_or_else(|| UNNAMED.to_owned());
        shared.name.clone_from(&model);
        shared.origin.source = model;
        let release = shared.environment.kernel.take();
        let version = release.as_deref().map(version);
        if version != release.as_deref() {
            left_out.push("the suffix of the kernel's release");
        }
        shared.environment.kernel = version.map(str::to_owned);
        // The text contains the control group, and so a user, a job or a container.
        if shared.environment.quota.as_deref().is_some_and(|quota| quota != "none") {
            shared.environment.quota = None;
            left_out.push("the control group that limits its CPU time");
        }
        SharedProfile { profile: shared, left_out }
    }

    /// Facts that may identify a person or a host, in the words of `left_out`; empty for a profile
    /// made for publication.
    pub fn names_in(profile: &Profile) -> Vec<&'static str> {
        let shared = SharedProfile::of(profile);
        let is_named =
            shared.profile.name != profile.name || shared.profile.origin != profile.origin;
        // The first fact is always listed, because a name may be a host's.
        let mut found = shared.left_out;
        found.retain(|fact| *fact != HOST_NAME || is_named);
        found
    }

    /// One sentence about the omitted facts.
    pub fn sentence(&self) -> String {
        format!("left out for privacy: {}", self.left_out.join(", "))
    }
}

/// The numbers at the beginning of a release: `6.18.44` of `6.18.44-fc-v657`.
fn version(release: &str) -> &str {
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
    release[..end].trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::catalog;

    #[test]
    fn shared_profile_drops_names_and_keeps_figures() {
        let mut profile = catalog::load("graviton3").unwrap();
        profile.name = "alice-laptop".to_owned();
        profile.origin.source = "host alice-laptop".to_owned();
        profile.environment.kernel = Some("6.18.44-alice-rt3".to_owned());
        profile.environment.quota = Some("1.5 CPUs by /user.slice/alice.slice".to_owned());
        profile.environment.cpu_model = Some("Neoverse-V1".to_owned());
        let shared = SharedProfile::of(&profile);
        let text = shared.profile.to_json();
        assert!(!text.contains("alice"), "{text}");
        assert_eq!(shared.profile.name, "Neoverse-V1");
        assert_eq!(shared.profile.environment.kernel.as_deref(), Some("6.18.44"));
        assert_eq!(shared.profile.core_distance, profile.core_distance);
        assert_eq!(shared.left_out.len(), 3, "{}", shared.sentence());
        assert_eq!(SharedProfile::names_in(&profile), shared.left_out);
        assert_eq!(SharedProfile::names_in(&shared.profile), [""; 0]);
    }

    #[test]
    fn shared_profile_keeps_plain_kernel_release() {
        assert_eq!(version("6.12.1"), "6.12.1");
        assert_eq!(version("6.12.-x"), "6.12");
        let profile = catalog::load("graviton3").unwrap();
        assert_eq!(SharedProfile::of(&profile).left_out, ["the host's name"]);
    }
}
