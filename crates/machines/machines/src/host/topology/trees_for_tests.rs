//! Trees of files for tests.

use super::tree::{FileTree, TreeEntry};
use std::collections::{BTreeSet, HashMap};

pub fn tree_of(files: &[(impl AsRef<str>, &str)]) -> FileTree {
    let files = files.iter();
    tree_of_bytes(
        files.map(|(path, text)| (path.as_ref().to_owned(), text.as_bytes().to_vec())).collect(),
    )
}

pub fn tree_of_bytes(files: Vec<(String, Vec<u8>)>) -> FileTree {
    let mut nodes = HashMap::from([(String::new(), TreeEntry::Folder(BTreeSet::new()))]);
    for (path, bytes) in files {
        let mut at = path.as_str();
        while !at.is_empty() {
            let (folder, name) = at.rsplit_once('/').unwrap_or(("", at));
            let parent = nodes
                .entry(folder.to_owned())
                .or_insert_with(|| TreeEntry::Folder(BTreeSet::new()));
            let TreeEntry::Folder(names) = parent else {
                panic!("{folder} is a file and a folder")
            };
            names.insert(name.to_owned());
            at = folder;
        }
        nodes.insert(path, TreeEntry::File(bytes));
    }
    FileTree::in_memory(String::new(), nodes)
}
