//! Tests of the whole model: gradients, special cases, and that it learns.

use std::ops::ControlFlow;

use super::*;
use crate::tests::network;
use manyview_base::linalg::gemm::{Operand, product};
use manyview_base::parallel::Pool;
use manyview_data::network::{Duplicates, NetworkBuilder};

const SHAPE: Shape = Shape { nodes: 7, relations: 2, dim: 5, relation_dim: 3 };

fn model(seed: u64) -> Parameters<f64> {
    let mut model = Parameters::start(SHAPE, Key::new(seed), &[Key::new(91), Key::new(92)]);
    // Not the initial values, at which some gradients vanish.
    for (table, seed) in model.tables_mut().into_iter().skip(3).zip(70..) {
        let random = |at: usize| manyview_base::random::unit_f64(Key::new(seed).at(at, 0));
        table.iter_mut().enumerate().for_each(|(at, x)| *x += random(at) - 0.5);
    }
    model
}

/// Questions in which a subject is twice, with both relations.
fn questions() -> Vec<Question> {
    let pairs = [(0, 0), (3, 1), (0, 1), (6, 0), (2, 0), (5, 1)];
    pairs.map(|(subject, relation)| Question { subject, relation }).to_vec()
}

const KNOWN: [&[u32]; 6] = [&[1, 2], &[0, 4, 5], &[6], &[0, 1, 2, 3], &[5], &[3, 4]];

#[test]
fn gradients_are_finite_differences_with_and_without_dropout() {
    let questions = questions();
    let targets = Targets { known: 0.93, other: 0.03 };
    for chances in [[0.0; 3], [0.3, 0.4, 0.5]] {
        let drops = Drops::new(chances);
        let batch = Batch { questions: &questions, known: &KNOWN, targets, key: Key::new(5) };
        let model = model(1);
        let mut gradient = Parameters::zeros(SHAPE);
        pass::backward(&model, drops, &batch, pass::forward(&model, drops, &batch), &mut gradient);
        let loss = |table: usize, at: usize, step: f64| {
            let mut moved = model.clone();
            moved.tables_mut()[table][at] += step;
            loss::value(&pass::forward(&moved, drops, &batch).logits, SHAPE.nodes, &KNOWN, targets)
        };
        for (table, found) in gradient.tables().iter().enumerate() {
            assert!(found.iter().any(|&x| x.abs() > 1e-6), "table {table} has a gradient");
            for (at, found) in found.iter().enumerate() {
                let slope = (loss(table, at, 1e-5) - loss(table, at, -1e-5)) / 2e-5;
                assert!((found - slope).abs() < 1e-7, "table {table}, number {at}: {found} is not {slope}");
            }
        }
    }
}

/// If a relation selects one slice of the core, and that slice is the identity, the score is `e_s . e_o`.
#[test]
fn an_identity_slice_gives_inner_products() {
    let mut model = model(2);
    model.relations.copy_from_slice(&[0.0, 1.0, 0.0, 2.0, 0.5, 0.0]);
    for (line, slices) in model.core.chunks_exact_mut(SHAPE.relation_dim * SHAPE.dim).enumerate() {
        let picked = &mut slices[SHAPE.dim..2 * SHAPE.dim];
        picked.fill(0.0);
        picked[line] = 1.0;
    }
    let samples = contraction::Samples {
        inputs: &model.entities,
        input_factors: &vec![1.0; model.entities.len()],
        relations: &[0; SHAPE.nodes],
        dropout: None,
        key: Key::new(0),
    };
    let matrices = contraction::matrices(&model);
    let hidden = contraction::forward(&matrices, SHAPE.relations, SHAPE.dim, &samples);
    assert_eq!(hidden, model.entities);
    let mut scores = vec![0.0; SHAPE.nodes * SHAPE.nodes];
    let entities = Operand::new(&model.entities, SHAPE.dim);
    product(Operand::new(&hidden, SHAPE.dim), entities.transposed(), &mut scores);
    let row = |node: usize| &model.entities[node * SHAPE.dim..][..SHAPE.dim];
    let inner: f64 = row(2).iter().zip(row(4)).map(|(a, b)| a * b).sum();
    assert!((scores[2 * SHAPE.nodes + 4] - inner).abs() < 1e-12);
}

/// Three groups of four nodes; each is linked to the next in one view and to the previous one in the other.
fn cycle(names: [&str; 2]) -> Network {
    let mut builder = NetworkBuilder::with_nodes((0..12).map(|node| node.to_string())).unwrap();
    for name in names {
        let view = builder.add_view(name, true, Duplicates::Sum).unwrap();
        let ahead = if name == "next" { 1 } else { 2 };
        for source in 0..12u32 {
            for target in (0..12u32).filter(|target| target % 3 == (source + ahead) % 3) {
                builder.add_edge(view, source, target, 1.0).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

fn with_task<R>(network: &Network, dim: usize, run: impl FnOnce(&mut Task<'_, '_>) -> R) -> R {
    let pool = Pool::new(Some(2)).unwrap();
    run(&mut Task::new(network, dim, 3, &pool, None, &mut |_| ControlFlow::Continue(())))
}

#[test]
fn a_tensor_of_low_rank_is_learned_by_heart() {
    let network = cycle(["next", "previous"]);
    let settings =
        TuckEr { dropout: Some([0.0; 3]), smoothing: 0.0, rate: 0.02, relation_dim: 2, ..TuckEr::default() };
    with_task(&network, 6, |task| {
        let relations = Relations::new(task, Some(true));
        assert_eq!(relations.len(), 4);
        let mut trainer = Trainer::<f64>::new(&settings, [0.0; 3], task, &relations);
        let questions = relations.ordered(0);
        assert_eq!(questions.len(), 48);
        for _ in 0..150 {
            trainer.step(settings.rate, &relations, &questions);
        }
        let known: Vec<&[u32]> = questions.iter().map(|&question| relations.known(question)).collect();
        let batch =
            Batch { questions: &questions, known: &known, targets: trainer.targets, key: Key::new(0) };
        let logits = pass::forward(&trainer.model, trainer.drops, &batch).logits;
        for (row, known) in logits.chunks_exact(12).zip(known) {
            for (object, &logit) in (0u32..).zip(row) {
                assert_eq!(logit > 0.0, known.contains(&object), "{logit} for {object} of {known:?}");
            }
        }
    });
}

#[test]
fn the_order_of_views_changes_nothing() {
    let settings =
        TuckEr { epochs: Some(3), relation_dim: 4, reverse: Some(true), batch: 10, ..TuckEr::default() };
    let vectors = |names| with_task(&cycle(names), 6, |task| settings.run(task).unwrap().vectors);
    assert_eq!(vectors(["next", "previous"]), vectors(["previous", "next"]));
}

#[test]
fn questions_are_the_nodes_with_edges_each_once_in_another_order_each_epoch() {
    let network = network();
    with_task(&network, 4, |task| {
        let relations = Relations::new(task, Some(true));
        let (first, second) = (relations.ordered(0), relations.ordered(1));
        assert_ne!(first, second);
        let sorted = |mut questions: Vec<Question>| {
            questions.sort_by_key(|question| (question.relation, question.subject));
            questions
        };
        assert_eq!(sorted(first.clone()), sorted(second));
        let with_edges: usize =
            network.views().iter().map(|view| network.nodes().len() - view.isolated()).sum();
        assert_eq!(first.len(), 2 * with_edges);
    });
}

#[test]
fn directed_views_are_also_asked_backwards() {
    let [mut first, second] = [0, 1].map(|view| network().views()[view].clone());
    first.directed = true;
    let network = Network::new(network().nodes().clone(), vec![first, second]);
    with_task(&network, 4, |task| {
        let relations = |reverse| Relations::new(task, reverse).len();
        assert_eq!([relations(None), relations(Some(false)), relations(Some(true))], [3, 2, 4]);
    });
}

#[test]
fn smoothing_is_what_it_says() {
    let of = |smoothing, smoothing_by| {
        let targets = TuckEr { smoothing, smoothing_by, ..TuckEr::default() }.targets(10);
        (targets.known, targets.other)
    };
    assert_eq!(of(0.2, Smoothing::Code), (0.9, 0.1));
    assert_eq!(of(0.2, Smoothing::Epsilon), (0.8 + 0.2 * 0.1, 0.2 * 0.1));
    assert_eq!(of(0.0, Smoothing::Code), (1.0, 0.0));
}

#[test]
fn each_bad_setting_is_named() {
    let base = TuckEr::default;
    let bad = [
        (TuckEr { epochs: Some(0), ..base() }, "epochs = 0"),
        (TuckEr { batch: 1, ..base() }, "batch = 1"),
        (TuckEr { rate: f64::NAN, ..base() }, "rate = NaN"),
        (TuckEr { decay: 1.5, ..base() }, "decay = 1.5"),
        (TuckEr { relation_dim: 0, ..base() }, "relation_dim = 0"),
        (
            TuckEr { dropout: Some([0.0, 1.0, 0.0]), ..base() },
            "dropout = 0,1,0: expected a list of 3 numbers",
        ),
        (TuckEr { smoothing: -0.1, ..base() }, "smoothing = -0.1"),
    ];
    for (settings, words) in bad {
        let message = settings.check().unwrap_err().to_string();
        assert!(message.starts_with(words), "{message}");
    }
}

#[test]
fn few_epochs_have_no_dropout_unless_it_is_given() {
    let settings = TuckEr::default();
    assert_eq!(settings.dropout_in(20), [0.0; 3]);
    assert_eq!(settings.dropout_in(MANY_EPOCHS), DROPOUT);
    let given = TuckEr { dropout: Some([0.1; 3]), ..settings };
    assert_eq!(given.dropout_in(20), [0.1; 3]);
    assert_eq!(TuckEr::of_preset(Preset::Paper).unwrap().dropout, Some(DROPOUT));
}
