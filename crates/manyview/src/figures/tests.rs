use manyview_core::mnmf::Mnmf;
use manyview_data::generate::Planted;

use super::*;

fn planted() -> (Network, Labels) {
    let planted = Planted { nodes: 150, views: 2, communities: 3, ..Planted::default() }.generate().unwrap();
    let network = planted.network().unwrap();
    let labels = planted.labels.iter().map(|label| [label.to_string()]);
    let labels = Labels::from_sets(network.nodes().iter(), labels).unwrap();
    (network, labels)
}

fn settings(figures: &[Figure]) -> FigureSettings {
    let mnmf = Mnmf { dim: 32, stages: 4, max_iter: 20, ..Mnmf::default() };
    FigureSettings {
        model: Model::from(mnmf),
        figures: figures.to_vec(),
        repeats: 2,
        ..FigureSettings::default()
    }
}

fn drawn(labels: bool, figures_of: &[Figure]) -> Figures {
    let (network, of_nodes) = planted();
    let labels = labels.then_some(&of_nodes);
    figures(&network, labels, &settings(figures_of), &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn every_figure_has_its_panels_and_a_value_per_tick() {
    let found = drawn(true, &[]);
    let names: Vec<Figure> = found.drawings.iter().map(|drawing| drawing.figure).collect();
    assert_eq!(names, Figure::ALL);
    for Drawing { figure, panels } in &found.drawings {
        let names: Vec<&str> = panels.iter().map(|panel| panel.name).collect();
        assert_eq!(names, figure.panel_names());
        for panel in panels {
            if panel.shape == Shape::Map {
                assert_eq!(panel.places.len(), 150);
                assert!(panel.places.iter().flatten().count() > 140);
                continue;
            }
            assert!(!panel.ticks.is_empty() && !panel.curves.is_empty(), "{panel:?}");
            for curve in &panel.curves {
                assert_eq!(curve.values.len(), panel.ticks.len(), "{panel:?}");
                assert!(curve.values.iter().all(|value| value.mean.is_finite() && value.mean >= 0.0));
            }
        }
    }
    // 32 stages need more than 32 columns.
    assert!(
        found.notes.iter().any(|note| note.starts_with("stages leaves out 32, 64: ")),
        "{:?}",
        found.notes
    );
}

#[test]
fn errors_fall_with_stages_and_weights_add_up_to_one() {
    let found = drawn(false, &[Figure::Weights, Figure::Stages]);
    let [stages, weights] = &found.drawings[..] else { panic!("two figures") };
    assert_eq!((stages.figure, stages.panels.len()), (Figure::Stages, 1), "no scores without labels");
    assert!(stages.panels[0].curves[0].values.iter().all(|error| error.mean > 0.0 && error.mean < 1.0));
    let weights = &weights.panels[0];
    assert_eq!((weights.ticks.len(), weights.curves.len()), (8, 2));
    for stage in 0..8 {
        let sum: f64 = weights.curves.iter().map(|curve| curve.values[stage].mean).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }
}

#[test]
fn figures_of_scores_need_labels() {
    let (network, _) = planted();
    let mut none = |_: &Event<'_>| ControlFlow::Continue(());
    let told = figures(&network, None, &settings(&[Figure::Dim]), &mut none).unwrap_err().to_string();
    assert!(told.starts_with("the figure dim shows scores, which need labels"), "{told}");
    let found = drawn(false, &[]);
    assert_eq!(found.drawings.len(), 4);
    assert!(
        found.notes[0].starts_with("without labels, ablation, dim, gamma, consensus-stages are left out"),
        "{:?}",
        found.notes
    );
}

#[test]
fn what_fixes_the_plan_is_refused_and_a_break_ends_it() {
    let refused = |mnmf: Mnmf| {
        let settings = FigureSettings { model: Model::from(mnmf), ..FigureSettings::default() };
        settings.check().unwrap_err().to_string()
    };
    assert!(refused(Mnmf { auto: true, ..Mnmf::default() }).contains("auto"));
    let dims = Some(vec![128, 128]);
    assert!(refused(Mnmf { stage_dims: dims, stages: 2, ..Mnmf::default() }).contains("stage_dims"));
    let (network, _) = planted();
    let found = figures(&network, None, &settings(&[Figure::Weights]), &mut |_| ControlFlow::Break(()));
    assert!(matches!(found, Err(Error::Interrupted)));
}
