//! What help shows: the settings of the method in question only, and with `-h` what most runs need.
//!
//! Invariant: this hides options and words their help; it changes nothing that is accepted.

use std::ffi::OsString;

use clap::{Arg, Command};
use manyview::settings::Setting;
use manyview::{Method, describe};

use super::settings::OTHERS;

/// The options that `manyview embed -h` shows. A name that the command does not have is an error of a test.
const ESSENTIAL: [&str; 17] = [
    "network", "view", "relation", "directed", "output", "force", "quiet", "verbose", "json", "format",
    "plan", "method", "settings", "dim", "stages", "seed", "threads",
];

/// Shapes the help of all commands for these words of a command line.
pub(super) fn shaped(command: Command, words: &[OsString]) -> Command {
    let asked = asked_for(words);
    let command = command.mut_subcommand("embed", |embed| {
        embed.mut_args(|arg| {
            let rare = !ESSENTIAL.contains(&arg.get_id().as_str());
            arg.hide_short_help(rare)
        })
    });
    // Those of the other commands that run MNMF only.
    let command = ["demo", "tune", "figures"].into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |sub| {
            of_method(sub, Method::Mnmf).mut_args(|arg| {
                let hidden = arg.get_id() == "method" || arg.is_hide_set();
                arg.hide(hidden)
            })
        })
    });
    command
        .mut_subcommand("embed", |sub| of_method(sub, asked))
        .mut_subcommand("evaluate", |sub| sub.mut_subcommand("links", |links| of_method(links, asked)))
}

/// The method that is named on the command line, if it is one.
fn asked_for(words: &[OsString]) -> Method {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let named = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--method") {
        Some("") => words.get(at + 1).copied(),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    });
    named.and_then(Method::from_name).unwrap_or(Method::DEFAULT)
}

/// Hides the settings of other methods, and describes those of this one by its own help and default.
fn of_method(command: Command, method: Method) -> Command {
    let own = describe(method);
    let settings: Vec<&str> =
        Method::ALL.into_iter().flat_map(describe).map(|setting| setting.name).collect();
    command.mut_args(|arg| {
        let id = arg.get_id().to_string();
        match own.iter().find(|setting| setting.name == id) {
            Some(setting) => described(arg, setting, method),
            None if settings.contains(&id.as_str()) => arg.hide(true),
            // Labels, which one method learns from.
            None if arg.get_help_heading() == Some(OTHERS) => arg.hide(method != Method::Mve),
            None => arg,
        }
    })
}

fn described(arg: Arg, setting: &Setting, method: Method) -> Arg {
    let default = match setting.default_text() {
        default if default.is_empty() => String::new(),
        default => format!(" [default: {default}]"),
    };
    let arg = arg.help(format!("{}{default}", setting.help));
    if method == Method::Mnmf { arg } else { arg.help_heading(format!("Settings of {}", method.name())) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    fn at_width(command: Command, width: usize) -> Command {
        command.term_width(width).mut_subcommands(|sub| at_width(sub, width))
    }

    fn help(words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut command = at_width(shaped(Cli::command(), &words), 80);
        let embed = command.find_subcommand_mut("embed").unwrap();
        let long = words.iter().any(|word| word == "--help");
        if long { embed.render_long_help().to_string() } else { embed.render_help().to_string() }
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        let text = help(&["embed", "-h"]);
        assert!(text.lines().count() <= 50, "{} lines:\n{text}", text.lines().count());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for words in ["--output <DIR>", "--dim <N>", "--help", "manyview methods"] {
            assert!(text.contains(words), "no {words} in\n{text}");
        }
    }

    #[test]
    fn the_essential_options_exist() {
        let command = Cli::command();
        let embed = command.find_subcommand("embed").unwrap();
        for name in ESSENTIAL {
            assert!(embed.get_arguments().any(|arg| arg.get_id() == name), "{name}");
        }
    }

    #[test]
    fn long_help_has_the_settings_of_one_method() {
        let mnmf = help(&["embed", "--help"]);
        assert!(mnmf.contains("--consensus-stages") && mnmf.contains("Rarely used settings"), "{mnmf}");
        assert!(!mnmf.contains("--epochs") && !mnmf.contains("deepwalk:"), "{mnmf}");
        for words in [&["embed", "--method", "mve", "--help"][..], &["embed", "--method=mve", "--help"]] {
            let mve = help(words);
            assert!(mve.contains("Settings of mve:") && mve.contains("--epochs"), "{mve}");
            assert!(mve.contains("--labels <FILE>") && !mve.contains("--consensus-stages"), "{mve}");
        }
        assert_eq!(help(&["embed", "--method", "unknown", "--help"]), mnmf);
    }

    /// No line is longer than the terminal, but for single words, headings and the usage, which clap does not wrap.
    #[test]
    fn help_wraps_at_any_width() {
        fn texts(command: &mut Command, found: &mut Vec<String>) {
            found.push(command.render_long_help().to_string());
            command.get_subcommands_mut().for_each(|sub| texts(sub, found));
        }
        for width in [50, 80, 110] {
            let mut found = Vec::new();
            texts(&mut at_width(shaped(Cli::command(), &[]), width), &mut found);
            for line in found.iter().flat_map(|text| text.lines()) {
                let unwrapped =
                    line.starts_with("Usage:") || line.ends_with(':') || !line.trim().contains(' ');
                assert!(line.chars().count() <= width || unwrapped, "{width}: {line}");
            }
        }
    }
}
