//! Runs the fuzz targets for a while, or one input; see `fuzz/README.md`.

mod memory;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use manyview::parallel::Pool;
use manyview_fuzz::runner::{Plan, Tally, attempt, silence_panics};
use manyview_fuzz::{TARGETS, Target};

#[global_allocator]
static COUNTING: memory::Counting = memory::Counting;

const USAGE: &str = "\
fuzz [options]

  --seconds N      how long, all targets together [default: 30]
  --minutes N      the same in minutes
  --executions N   at most this many executions of each target
  --target NAME    only this target; may be repeated
  --seed N         the seed, which determines every input [default: 1]
  --from N         the first execution [default: 0]
  --threads N      how many threads [default: all cores]
  --input FILE     run one target on one file
  --corpus DIR     the seeds [default: fuzz/corpus]
  --failures DIR   where inputs that failed are written [default: target/fuzz-failures]
";

struct Args {
    plan: Plan,
    input: Option<PathBuf>,
}

fn parse() -> Result<Args> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate is in fuzz/targets");
    let mut plan = Plan {
        targets: Vec::new(),
        seed: 1,
        from: 0,
        executions: None,
        time: Duration::from_secs(30),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        corpus: root.join("fuzz/corpus"),
        failures: root.join("target/fuzz-failures"),
        memory: Some(memory::peak),
    };
    let mut input = None;
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        if name == "-h" || name == "--help" {
            write!(std::io::stdout(), "{USAGE}")?;
            std::process::exit(0);
        }
        let value = args.next().with_context(|| format!("{name} needs a value\n\n{USAGE}"))?;
        let number = || value.parse::<u64>().with_context(|| format!("{name} {value}: expected a number"));
        match name.as_str() {
            "--seconds" => plan.time = Duration::from_secs(number()?),
            "--minutes" => plan.time = Duration::from_secs(60 * number()?),
            "--executions" => {
                // The number decides and not the time.
                (plan.executions, plan.time) = (Some(number()?), Duration::from_secs(1 << 30));
            }
            "--target" => {
                let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                let target = Target::named(&value);
                plan.targets.push(target.with_context(|| {
                    format!("there is no target {value}; the targets are {}", names.join(", "))
                })?);
            }
            "--seed" => plan.seed = number()?,
            "--from" => plan.from = number()?,
            "--threads" => plan.threads = number()?.clamp(1, 4096) as usize,
            "--input" => input = Some(PathBuf::from(value)),
            "--corpus" => plan.corpus = value.into(),
            "--failures" => plan.failures = value.into(),
            _ => bail!("there is no option {name}\n\n{USAGE}"),
        }
    }
    if plan.targets.is_empty() {
        plan.targets = TARGETS.iter().collect();
    }
    Ok(Args { plan, input })
}

fn main() -> Result<ExitCode> {
    let Args { plan, input } = parse()?;
    silence_panics();
    let Some(input) = input else { return report(&plan, &plan.run()?) };
    let [target] = plan.targets[..] else { bail!("--input needs one --target") };
    let bytes = std::fs::read(&input).with_context(|| input.display().to_string())?;
    let pool = Pool::new(Some(1))?;
    let mut out = std::io::stdout();
    match pool.run(|| attempt(target, &bytes, &pool, plan.memory)) {
        Ok(outcome) => {
            writeln!(out, "{}: {outcome:?}", target.name)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(message) => {
            writeln!(out, "{}: FAILED: {message}", target.name)?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Prints a table, the failures with the commands that repeat them, and the sums.
fn report(plan: &Plan, tallies: &[Tally]) -> Result<ExitCode> {
    let mut out = std::io::stdout();
    writeln!(out, "{:<12} {:>12} {:>8} {:>12}  result", "target", "executions", "parsed", "per second")?;
    let row = |name: &str, executions: u64, parsed: u64, busy: Duration, result: &str| {
        let share = 100.0 * parsed as f64 / executions.max(1) as f64;
        let rate = executions as f64 / busy.as_secs_f64().max(1e-9);
        format!("{name:<12} {executions:>12} {share:>6.1} % {rate:>12.0}  {result}")
    };
    for tally in tallies {
        let result = if tally.failure.is_some() { "FAILED" } else { "passed" };
        writeln!(out, "{}", row(tally.name, tally.executions, tally.parsed, tally.busy, result))?;
    }
    let executions = tallies.iter().map(|tally| tally.executions).sum();
    let parsed = tallies.iter().map(|tally| tally.parsed).sum();
    let busy = tallies.iter().map(|tally| tally.busy).sum();
    writeln!(out, "{}", row("all", executions, parsed, busy, "").trim_end())?;
    writeln!(out, "seed {}, {} threads, per second and core", plan.seed, plan.threads)?;
    for tally in tallies {
        let Some(failure) = &tally.failure else { continue };
        let (name, seed, input) = (tally.name, plan.seed, failure.input.display());
        writeln!(out, "\n{name} failed in execution {}: {}", failure.execution, failure.message)?;
        writeln!(out, "  the smallest input found: {input}")?;
        writeln!(out, "  cargo run --profile fuzz -p manyview-fuzz -- --target {name} --input {input}")?;
        writeln!(
            out,
            "  cargo run --profile fuzz -p manyview-fuzz -- --target {name} --seed {seed} --from {} --executions 1",
            failure.execution
        )?;
    }
    let failed = tallies.iter().filter(|tally| tally.failure.is_some()).count();
    writeln!(out, "{} passed, {failed} failed", tallies.len() - failed)?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
