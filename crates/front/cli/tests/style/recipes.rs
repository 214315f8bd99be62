//! The packaging recipes: their own tools must parse them, and their versions must be right.

use super::{assert_none, root};
use std::process::{Command, Stdio};

const CONDA: &str = "import jinja2, sys, yaml\n\
    word = lambda name: name\n\
    text = jinja2.Template(open(sys.argv[1]).read()).render(compiler=word, stdlib=word)\n\
    assert yaml.safe_load(text)['package']['name'] == 'seatmap'";
const SPACK: &str = "import ast, sys\n\
    tree = ast.parse(open(sys.argv[1]).read())\n\
    assert any(isinstance(one, ast.ClassDef) and one.name == 'Seatmap' for one in tree.body)";

/// A recipe and the command that parses it.
const PARSED: [(&str, &[&str]); 7] = [
    ("packaging/conda/meta.yaml", &["python3", "-c", CONDA]),
    ("packaging/spack/packages/seatmap/package.py", &["python3", "-c", SPACK]),
    ("packaging/homebrew/seatmap.rb", &["ruby", "-c"]),
    ("packaging/nix/default.nix", &["nix-instantiate", "--parse"]),
    ("scripts/dist", &["sh", "-n"]),
    ("scripts/package", &["sh", "-n"]),
    ("scripts/dist-check", &["sh", "-n"]),
];

/// Whether the command's prerequisites, besides its program, are installed.
fn can(command: &[&str]) -> bool {
    let probe: &[&str] = match command[0] {
        "python3" if command.contains(&CONDA) => &["-c", "import jinja2, yaml"],
        "sh" => &["-c", "true"],
        _ => &["--version"],
    };
    let mut program = Command::new(command[0]);
    program.args(probe).stdout(Stdio::null()).stderr(Stdio::null());
    program.status().is_ok_and(|status| status.success())
}

#[test]
fn programs_accept_their_recipes() {
    let mut wrong = Vec::new();
    for (recipe, command) in PARSED {
        if !can(command) {
            seatmap_needs::skipped!("no {} that reads {recipe}", command[0]);
            continue;
        }
        let output =
            Command::new(command[0]).args(&command[1..]).arg(root().join(recipe)).output().unwrap();
        if !output.status.success() {
            wrong.push(format!("{recipe}: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert_none("recipes that cannot be read", &wrong);
}

fn names_version(text: &str, version: &str) -> bool {
    text.contains(&format!("\"{version}\"")) || text.contains(&format!("-{version}.tar.gz"))
}

#[test]
fn recipes_name_current_version() {
    let version = env!("CARGO_PKG_VERSION");
    let named = PARSED.iter().filter(|(recipe, _)| recipe.starts_with("packaging/"));
    let other = named.filter(|(recipe, _)| {
        let text = std::fs::read_to_string(root().join(recipe)).unwrap();
        !names_version(&text, version)
    });
    let other: Vec<String> = other.map(|(recipe, _)| (*recipe).to_owned()).collect();
    assert_none("recipes of another version", &other);
    assert!(!names_version("version = \"0.0.9\"", version));
}
