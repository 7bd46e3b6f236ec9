//! Writes a planted network to a folder that `manyview` reads.
//!
//! Invariant: the files appear together, and a folder never has views of two networks.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::{Planted, PlantedNetwork, PlantedView, view_name};
use crate::io::{OutputFolder, write_blocks};
use manyview_base::error::{Error, Result};

/// The number of lines that one thread formats at a time.
const BLOCK: usize = 1 << 14;

impl Planted {
    /// Returns the names of the files that [`PlantedNetwork::write`] creates, for [`OutputFolder::prepare`].
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = (0..self.views).map(|view| edges_file(&view_name(view))).collect();
        files.push("labels.tsv".into());
        files.extend((0..self.views).map(|view| labels_file(&view_name(view))));
        files.extend(["nodes.txt".into(), "README.md".into()]);
        files
    }
}

impl PlantedNetwork {
    /// Writes the network to a folder: the edges of the views, the common labels, the labels of each view, the list
    /// of all nodes (some may have no edges) and the settings.
    ///
    /// # Errors
    /// Those of [`OutputFolder::prepare`] and [`PlantedNetwork::write_to`].
    pub fn write(&self, folder: &Path, force: bool) -> Result<()> {
        self.write_to(OutputFolder::prepare(folder, &self.settings.files(), force)?)
    }

    /// Writes the network to a folder that was prepared before the network was generated.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be written; [`Error::Config`] when the folder contains a view of another,
    /// larger network. Then nothing is written.
    pub fn write_to(&self, mut output: OutputFolder) -> Result<()> {
        let stray = output.path().join(edges_file(&view_name(self.views.len())));
        if stray.exists() {
            return Err(Error::config(format!(
                "{} is left from another network and would be read as a view of this one; remove it or choose \
                 another folder",
                stray.display()
            )));
        }
        for view in &self.views {
            output.write(&edges_file(&view.name), |writer| write_edges(writer, view))?;
        }
        output.write("labels.tsv", |writer| write_labels(writer, &self.labels))?;
        for view in &self.views {
            output.write(&labels_file(&view.name), |writer| write_labels(writer, &view.labels))?;
        }
        output.write("nodes.txt", |writer| write_nodes(writer, self.settings.nodes))?;
        output.write("README.md", |writer| self.write_readme(writer))?;
        output.commit()
    }

    fn write_readme(&self, writer: &mut impl Write) -> io::Result<()> {
        let list = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let Planted { nodes, views, communities, consensus, absent, skew, weighted, seed, .. } =
            self.settings;
        let (degree, noise) = (list(&self.settings.degree), list(&self.settings.noise));
        writeln!(writer, "# A planted network\n")?;
        writeln!(
            writer,
            "Made by manyview {}; the same settings give the same files.\n",
            env!("CARGO_PKG_VERSION")
        )?;
        writeln!(writer, "| setting | value | meaning |\n|---|---|---|")?;
        writeln!(writer, "| nodes | {nodes} | `n0` to `n{}`, all in `nodes.txt` |", nodes - 1)?;
        writeln!(
            writer,
            "| views | {views} | `view1.tsv`, ...: two nodes{} per line |",
            weight_words(weighted)
        )?;
        writeln!(
            writer,
            "| communities | {communities} | in `labels.tsv`; of a view's own in `labels_view1.tsv`, ... |"
        )?;
        writeln!(writer, "| degree | {degree} | average over the nodes present in a view |")?;
        writeln!(writer, "| noise | {noise} | share of edges with random ends |")?;
        writeln!(
            writer,
            "| consensus | {consensus} | share of the others inside the communities of `labels.tsv` |"
        )?;
        writeln!(writer, "| absent | {absent} | share of nodes missing from each view |")?;
        writeln!(writer, "| skew | {skew} | the node of rank r has activity r^-skew |")?;
        writeln!(writer, "| weighted | {weighted} | weights are random and carry no meaning |")?;
        writeln!(writer, "| seed | {seed} | |\n")?;
        writeln!(writer, "| view | edges |\n|---|---|")?;
        self.views.iter().try_for_each(|view| writeln!(writer, "| {} | {} |", view.name, view.edges.len()))
    }
}

fn edges_file(view: &str) -> String {
    format!("{view}.tsv")
}

fn labels_file(view: &str) -> String {
    format!("labels_{view}.tsv")
}

fn weight_words(weighted: bool) -> &'static str {
    if weighted { " and a weight" } else { "" }
}

fn write_edges(writer: &mut BufWriter<File>, view: &PlantedView) -> io::Result<()> {
    write_blocks(writer, view.edges.len(), BLOCK, |edges, text| {
        for edge in edges {
            let (a, b) = view.edges[edge];
            push_node(text, a);
            text.push(b'\t');
            push_node(text, b);
            if let Some(weights) = &view.weights {
                write!(text, "\t{}", weights[edge]).expect("writing to memory cannot fail");
            }
            text.push(b'\n');
        }
    })
}

fn write_labels(writer: &mut BufWriter<File>, labels: &[u32]) -> io::Result<()> {
    write_blocks(writer, labels.len(), BLOCK, |nodes, text| {
        for node in nodes {
            push_node(text, node as u32);
            text.push(b'\t');
            push_number(text, labels[node]);
            text.push(b'\n');
        }
    })
}

fn write_nodes(writer: &mut BufWriter<File>, nodes: usize) -> io::Result<()> {
    write_blocks(writer, nodes, BLOCK, |nodes, text| {
        for node in nodes {
            push_node(text, node as u32);
            text.push(b'\n');
        }
    })
}

fn push_node(text: &mut Vec<u8>, node: u32) {
    text.push(b'n');
    push_number(text, node);
}

fn push_number(text: &mut Vec<u8>, number: u32) {
    write!(text, "{number}").expect("writing to memory cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyview_base::random::text_key;
    use std::fs;

    fn small() -> Planted {
        Planted { nodes: 30, views: 2, communities: 3, degree: vec![4.0], absent: 0.1, ..Planted::default() }
    }

    fn read(folder: &Path) -> Vec<(String, String)> {
        let mut files: Vec<(String, String)> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn the_folder_holds_the_network() {
        let folder = tempfile::tempdir().unwrap();
        let network = Planted { weighted: true, ..small() }.generate().unwrap();
        network.write(folder.path(), false).unwrap();
        let files = read(folder.path());
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let mut expected = network.settings.files();
        expected.sort();
        assert_eq!(names, expected);
        let text = |name: &str| &files.iter().find(|(file, _)| file == name).unwrap().1;
        assert_eq!(text("nodes.txt").lines().collect::<Vec<_>>(), network.nodes().iter().collect::<Vec<_>>());
        for view in &network.views {
            let lines = view.edges.iter().zip(view.weights.as_ref().unwrap());
            let lines: String = lines.map(|((a, b), weight)| format!("n{a}\tn{b}\t{weight}\n")).collect();
            assert_eq!(*text(&edges_file(&view.name)), lines);
        }
        let labels: String =
            network.labels.iter().zip(0..).map(|(label, node)| format!("n{node}\t{label}\n")).collect();
        assert_eq!(*text("labels.tsv"), labels);
        assert!(text("README.md").contains("| degree | 4 |"));
        assert!(text("README.md").contains("| view2 | 54 |"));
    }

    /// Benchmarks and tests elsewhere rely on these bytes; a change must be announced.
    #[test]
    fn the_bytes_never_change() {
        let folder = tempfile::tempdir().unwrap();
        Planted { skew: 0.5, weighted: true, seed: 7, ..small() }
            .generate()
            .unwrap()
            .write(folder.path(), false)
            .unwrap();
        let all: String = read(folder.path())
            .into_iter()
            .filter(|(name, _)| name != "README.md")
            .map(|(_, text)| text)
            .collect();
        assert_eq!(text_key(&all), 4_959_837_347_790_220_582);
    }

    #[test]
    fn existing_networks_are_not_overwritten_or_mixed() {
        let folder = tempfile::tempdir().unwrap();
        Planted { views: 3, ..small() }.generate().unwrap().write(folder.path(), false).unwrap();
        let before = read(folder.path());
        let network = small().generate().unwrap();
        let error = network.write(folder.path(), false).unwrap_err().to_string();
        assert!(error.contains("view1.tsv exists already; pass --force to overwrite"), "{error}");
        let error = network.write(folder.path(), true).unwrap_err().to_string();
        assert!(error.contains("view3.tsv is left from another network"), "{error}");
        assert_eq!(read(folder.path()), before);
        fs::remove_file(folder.path().join("view3.tsv")).unwrap();
        network.write(folder.path(), true).unwrap();
    }
}
