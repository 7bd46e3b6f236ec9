//! Random parts of a network, on which the running time is measured.

use manyview_base::linalg::Csr;
use manyview_base::random::{Key, text_key, unit_f64};
use manyview_data::network::{EdgeCounts, Network, Nodes, View};

/// The network of some nodes, about this share of all, and the edges among them. A larger share contains the smaller ones.
///
/// # Errors
/// Those of [`Nodes::new`], which ids that are distinct do not cause.
pub(super) fn part(network: &Network, share: f64, seed: u64) -> manyview_base::error::Result<Network> {
    let key = Key::new(seed).with(text_key("part of the nodes"));
    let kept: Vec<usize> =
        (0..network.nodes().len()).filter(|&node| unit_f64(key.at(node, 0)) < share).collect();
    let mut row_of = vec![None; network.nodes().len()];
    for (row, &node) in kept.iter().enumerate() {
        row_of[node] = Some(row);
    }
    let nodes = Nodes::new(kept.iter().map(|&node| network.nodes().id(node)))?;
    let of_view = |view: &View| {
        let mut edges = Vec::new();
        for (row, &node) in kept.iter().enumerate() {
            let (cols, weights) = view.adjacency.row(node);
            let among = cols
                .iter()
                .zip(weights)
                .filter_map(|(&col, &weight)| row_of[col as usize].map(|col| (row, col, weight)));
            edges.extend(among);
        }
        let (name, directed) = (view.name.clone(), view.directed);
        let counts = EdgeCounts { given: edges.len(), ..EdgeCounts::default() };
        View { name, directed, adjacency: Csr::from_triplets(kept.len(), kept.len(), edges), counts }
    };
    let views = network.views().iter().map(of_view).collect();
    Ok(Network::new(nodes, views))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_edges_among_its_nodes() {
        let names: Vec<String> = (0..200).map(|at| format!("n{at}")).collect();
        let edges: Vec<(&str, &str, f64)> = (0..200)
            .flat_map(|at| [(at, (at + 1) % 200, 1.0), (at, (at * 7 + 3) % 200, 2.0)])
            .filter(|(a, b, _)| a != b)
            .map(|(a, b, weight)| (names[a].as_str(), names[b].as_str(), weight))
            .collect();
        let network = Network::from_edges(&[("x", &edges)]).unwrap();
        let half = part(&network, 0.5, 3).unwrap();
        assert!((70..130).contains(&half.nodes().len()), "{}", half.nodes().len());
        let id = |network: &Network, node: usize| network.nodes().id(node).to_owned();
        let all = |network: &Network| -> Vec<(String, String, f64)> {
            let matrix = &network.views()[0].adjacency;
            let row = |row: usize| {
                let (cols, weights) = matrix.row(row);
                let entry = move |(&col, &weight): (&u32, &f64)| {
                    (id(network, row), id(network, col as usize), weight)
                };
                cols.iter().zip(weights).map(entry).collect::<Vec<_>>()
            };
            (0..matrix.rows()).flat_map(row).collect()
        };
        let kept: Vec<String> = half.nodes().iter().map(str::to_owned).collect();
        let mut expected = all(&network);
        expected.retain(|(a, b, _)| kept.contains(a) && kept.contains(b));
        let mut found = all(&half);
        expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
        found.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(found, expected);
        assert!(!found.is_empty());
        assert_eq!(all(&part(&network, 1.0, 3).unwrap()), all(&network));
        let quarter = part(&network, 0.25, 3).unwrap();
        assert!(quarter.nodes().iter().all(|id| kept.contains(&id.to_owned())));
    }
}
