//! Mistakes in this program's command line, each in one sentence.

use crate::PROGRAM;
use crate::verbs::command;
use clap::error::ErrorKind;
use seatmap_console::misread::sentence;
use std::ffi::OsString;

fn refusal(line: &str) -> String {
    let words: Vec<OsString> =
        std::iter::once("seatmap").chain(line.split(' ')).map(OsString::from).collect();
    sentence(&command().try_get_matches_from(&words).unwrap_err(), &PROGRAM, words).unwrap()
}

#[test]
fn mistakes_are_explained_in_one_sentence() {
    let cases = [
        (
            "measure extra",
            "'seatmap measure' takes no argument 'extra'; see 'seatmap measure --help'",
        ),
        ("bench --rnus 3 true", "'seatmap bench' has no option '--rnus'; did you mean '--runs'?"),
        (
            "run --cpunodebind 0 ./app",
            "'seatmap run' has no option '--cpunodebind'; '--cpus numa:0' lets each thread run on \
             all CPUs of node 0, '--memory node:0' allocates memory there",
        ),
        (
            "measure --membind 0",
            "'seatmap measure' has no option '--membind'; see 'seatmap measure --help'",
        ),
        ("shwo", "'seatmap' has no command 'shwo'; did you mean 'show'?"),
        (
            "rank --pattern ring:4",
            "'rank' is part of the published experiments: type 'seatmap-papers rank'",
        ),
        (
            "cell serve --policy fair",
            "'cell serve' is part of the published experiments: type 'seatmap-papers controller \
             serve'",
        ),
        (
            "cell create mine --count 2 --via socket --hold",
            "'cell create --via' is part of the published experiments: type 'seatmap-papers \
             controller create'",
        ),
        (
            "cell run --channel=socket -- ./app",
            "'cell run --channel' is part of the published experiments: type 'seatmap-papers \
             controller start'",
        ),
        ("pin ./app", "'seatmap' has no command 'pin'; did you mean 'run'?"),
        (
            "docker run ./app",
            "'seatmap' has no command 'docker'; Seatmap does not start containers; 'seatmap run \
             --cpus 0-3 --pid PID' pins a running one; docker inspect -f '{{.State.Pid}}' NAME \
             prints its PID",
        ),
        (
            "run --cpus 0 -np 4 ./app",
            "'seatmap run' has no option '-np'; Seatmap starts one program; a launcher starts the \
             ranks, and each gets its part of the seats: 'mpirun -n 4 --bind-to none seatmap run \
             --cpus 0-3 -- ./app', or srun with '--cpu-bind=none'",
        ),
        (
            "noise --cpuset-cpus 0",
            "'seatmap noise' has no option '--cpuset-cpus'; did you mean '--cpus'?",
        ),
        (
            "run ./app",
            "'seatmap run' needs --plan <FILE>, --cpus <LIST>, --match <NAME=SEATS>, --auto or \
             --fit[=<N>]; see 'seatmap run --help'",
        ),
        (
            "place --machine graviton3",
            "'seatmap place' has no option '--machine'; did you mean '--on'?",
        ),
        (
            "show --on graviton3",
            "'seatmap show' has no option '--on'; give the machine's name without an option; see \
             'seatmap show --help'",
        ),
        (
            "check 17",
            "'seatmap check' takes no argument '17'; name a running program with '--pid PID'; see \
             'seatmap check --help'",
        ),
        (
            "place",
            "'seatmap place' needs --pattern <PATTERN> or --qaplib <FILE>; see 'seatmap place --help'",
        ),
        ("show --json=3 host", "--json takes no value; see 'seatmap show --help'"),
        (
            "measure --seed 1 --seed 2",
            "--seed <N> was given more than once; see 'seatmap measure --help'",
        ),
        (
            "check --all --pid 3",
            "--all cannot be used with --pid <PID>; see 'seatmap check --help'",
        ),
        ("place --pattern", "--pattern <PATTERN> needs a value; see 'seatmap place --help'"),
        (
            "completions tcsh",
            "SHELL: 'tcsh' is not one of bash, elvish, fish, powershell, zsh; see 'seatmap completions --help'",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(refusal(line), expected);
    }
}

#[test]
fn nested_command_is_named_in_hint() {
    assert!(refusal("cell create --zzz 1").ends_with("see 'seatmap cell create --help'"));
}

#[test]
fn help_is_not_a_mistake() {
    let words = ["seatmap", "show", "--help"].map(OsString::from);
    assert_eq!(
        sentence(&command().try_get_matches_from(&words).unwrap_err(), &PROGRAM, words),
        None
    );
}

fn refused(words: &[&str]) -> String {
    refusal(&words.join(" "))
}

#[test]
fn invalid_values_are_rejected_in_own_words() {
    let pid = refused(&["run", "--cpus", "0", "--pid", "redis-server"]);
    assert!(
        pid.contains("'redis-server' is not a whole number; 'pidof redis-server' prints"),
        "{pid}"
    );
    let pids = refused(&["run", "--cpus", "0", "--pid", "11,22"]);
    assert!(pids.ends_with("'11,22' is not a whole number; give --pid once for each process"));
    let budget = refused(&["tune", "--budget", "10s", "true"]);
    assert!(
        budget.contains(
            "'10s' is not a whole number; --budget is a number of runs, and --seconds 10s"
        ),
        "{budget}"
    );
    let runs = refused(&["bench", "--runs", "2m", "true"]);
    assert!(runs.contains("--seconds 2m limits the time"), "{runs}");
    let zero = refused(&["tune", "--budget", "0", "true"]);
    assert!(zero.contains("'0' is not a whole number from 1 to 1000000"), "{zero}");
    let large = refused(&["measure", "--seed", "99999999999999999999"]);
    assert!(large.ends_with("'99999999999999999999' is too large"), "{large}");
    assert!(refused(&["cell", "create", "--count", "0"]).contains("the minimum is 1"));
}

#[test]
fn no_verb_shows_standard_library_errors() {
    let command = command();
    for verb in command.get_subcommands() {
        for option in verb.get_opts().filter_map(|option| option.get_long()) {
            let words =
                ["seatmap", verb.get_name(), &format!("--{option}=\u{1}x")].map(str::to_owned);
            let Err(error) = command.clone().try_get_matches_from(words) else { continue };
            if error.kind() != ErrorKind::ValueValidation {
                continue;
            }
            let text = sentence(&error, &PROGRAM, []).unwrap();
            for foreign in
                ["invalid digit", "is not in ", "invalid float", "cannot parse", "number too"]
            {
                assert!(!text.contains(foreign), "{} --{option}: {text}", verb.get_name());
            }
        }
    }
}
