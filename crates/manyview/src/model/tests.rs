//! The one path of settings: names, presets, rules, files.

use serde_json::json;

use super::*;
use manyview_core::mnmf::ColumnLayout;
use manyview_core::nmf::Solver;

fn model(method: Method, preset: Preset, given: Value) -> Result<Model> {
    let Value::Object(given) = given else { panic!("an object") };
    Model::with_settings(method, preset, &given)
}

fn mnmf(preset: Preset, given: Value) -> Mnmf {
    let MethodSettings::Mnmf(settings) = model(Method::Mnmf, preset, given).unwrap().settings else {
        panic!("mnmf was asked for")
    };
    settings
}

#[test]
fn nothing_given_is_the_preset() {
    for preset in Preset::ALL {
        assert_eq!(mnmf(preset, json!({})), Mnmf::preset(preset));
    }
}

#[test]
fn what_is_given_overrides_the_preset_and_what_follows_from_it() {
    let settings = mnmf(Preset::Authors, json!({"stages": 6, "solver": "mu", "negative": 2}));
    assert_eq!((settings.stages, settings.consensus_stages), (6, Some(3)));
    assert_eq!((settings.solver, settings.unique_solver), (Solver::Mu, None));
    assert_eq!((settings.proximity.negative, settings.proximity.window), (2.0, 1));
    assert_eq!((settings.layout, settings.unique_max_iter), (ColumnLayout::Code, Some(50)));
    assert_eq!(mnmf(Preset::Authors, json!({"max_iter": 7})).unique_max_iter, None);
}

#[test]
fn stage_dims_set_stages_and_dim() {
    let settings = mnmf(Preset::Default, json!({"stage_dims": [8, 4, 4]}));
    assert_eq!((settings.stages, settings.dim, settings.consensus_stages), (3, 16, None));
    let settings = mnmf(Preset::Authors, json!({"stage_dims": [8, 4, 4], "consensus_stages": 1}));
    assert_eq!((settings.stages, settings.dim, settings.consensus_stages), (3, 16, Some(1)));
    let settings = mnmf(Preset::Default, json!({"stage_dims": [8, 4, 4], "dim": 20}));
    assert!(settings.plan(2).is_err(), "a dim that contradicts is refused, not ignored");
}

/// A run.json has all settings. They once all counted as given, and rules between settings stopped working.
#[test]
fn options_over_an_earlier_run_change_what_follows_from_them() {
    let over = |run: &Model, given: Value| {
        let file =
            SettingsFile { method: Some(Method::Mnmf), preset: None, settings: run.to_json(), of_run: true };
        let Value::Object(given) = given else { panic!("an object") };
        let MethodSettings::Mnmf(settings) = file.model(None, None, &given).unwrap().settings else {
            panic!("the run was one of mnmf")
        };
        settings
    };
    let authors = Model::new(Method::Mnmf, Preset::Authors).unwrap();
    let six = over(&authors, json!({"stages": 6}));
    assert_eq!((six.stages, six.consensus_stages), (6, Some(3)));
    assert_eq!(over(&authors, json!({"solver": "mu"})).unique_solver, None);
    assert_eq!(over(&authors, json!({"max_iter": 7})).unique_max_iter, None);
    let default = Model::default();
    let dims = over(&default, json!({"stage_dims": [8, 4]}));
    assert_eq!((dims.stages, dims.dim), (2, 12));
    let chosen = model(Method::Mnmf, Preset::Default, json!({"consensus_stages": 1})).unwrap();
    assert_eq!(
        over(&chosen, json!({"stages": 6})).consensus_stages,
        Some(1),
        "a number that was chosen stays"
    );
    let dims =
        model(Method::Mnmf, Preset::Default, json!({"stage_dims": [8, 4], "consensus_stages": 2})).unwrap();
    assert_eq!(over(&dims, json!({})).consensus_stages, Some(2), "nothing given changes nothing");
}

#[test]
fn seed_and_threads_belong_to_every_method() {
    for method in Method::ALL {
        let model = model(method, Preset::Default, json!({"seed": 5, "threads": 2, "dim": 12})).unwrap();
        assert_eq!((model.seed, model.threads, model.settings.dim()), (5, Some(2), 12), "{method:?}");
        model.check().unwrap();
        assert!(model.to_json().contains_key("seed"));
    }
    for threads in [json!(0), json!(100_000), json!("x")] {
        let told =
            model(Method::NetMf, Preset::Default, json!({"threads": threads})).unwrap_err().to_string();
        assert!(told.starts_with("threads = ") && told.contains("from 1 to 4096"), "{told}");
    }
}

#[test]
fn settings_of_other_methods_are_refused_with_whose_they_are() {
    let told = |method, given| model(method, Preset::Default, given).unwrap_err().to_string();
    let epochs = told(Method::Mnmf, json!({"epochs": 3}));
    assert!(epochs.starts_with("epochs: mnmf has no such setting; it belongs to deepwalk"), "{epochs}");
    let unknown = told(Method::NetMf, json!({"wlks": 3}));
    assert!(unknown.starts_with("netmf has no setting \"wlks\"; its settings are dim"), "{unknown}");
    let preset = model(Method::NetMf, Preset::Authors, json!({})).unwrap_err().to_string();
    assert_eq!(preset, "netmf has no preset \"authors\"; use default or paper");
}

#[test]
fn older_spellings_are_still_accepted() {
    assert_eq!(
        mnmf(Preset::Default, json!({"normalise": "max"})),
        mnmf(Preset::Default, json!({"normalize": "max"}))
    );
    assert_eq!(
        mnmf(Preset::Default, json!({"stop": "six-looks"})),
        mnmf(Preset::Default, json!({"stop": "six-checks"}))
    );
    assert_eq!(
        model(Method::MtneC, Preset::Default, json!({"give": "mean"})).unwrap(),
        model(Method::MtneC, Preset::Default, json!({"columns": "mean"})).unwrap()
    );
}

#[test]
fn files_and_runs_give_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    std::fs::write(&path, "method = \"mnmf\"\npreset = \"paper\"\nstages = 4\ngamma = 2\n").unwrap();
    let file = read_settings(&path).unwrap();
    let given = [("dim".to_owned(), json!(32))].into_iter().collect();
    let from_file = file.model(None, None, &given).unwrap();
    let direct = model(Method::Mnmf, Preset::Paper, json!({"stages": 4, "gamma": 2, "dim": 32})).unwrap();
    assert_eq!(from_file, direct);

    let network =
        Network::from_edges(&[("v", &[("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0)])]).unwrap();
    let small =
        model(Method::Mnmf, Preset::Paper, json!({"stages": 2, "dim": 2, "seed": 3, "negative": 1})).unwrap();
    small.fit(&network).unwrap().save(folder.path().join("result")).unwrap();
    let again = read_settings(&folder.path().join("result/run.json")).unwrap();
    assert_eq!(again.model(None, None, &Map::new()).unwrap(), small, "open settings stay open");

    for (text, told) in [
        ("dim = ", "settings.toml:1: not a settings file"),
        ("method = \"x\"", "method = \"x\": expected one of mnmf, deepwalk"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = read_settings(&path).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}
