//! `--pipeline`: a script whose statements go to the server in one piece, and whose answers are read
//! together at its end.
//!
//! What needs an answer before the end, or does something meanwhile, cannot stand in one.

use super::WorkloadScript;
use crate::script::program::{Program, Step, StepIndex};

/// Puts the whole of a script into one pipeline, or says why that cannot be.
pub(super) fn pipelined(script: &WorkloadScript) -> Result<Program, String> {
    if let Some(why) = &script.not_preparable {
        return Err(format!("it can run in simple protocol only, which has no pipelines: {why}"));
    }
    let steps = &script.program.steps;
    if let Some(why) = steps.iter().find_map(obstacle) {
        return Err(why.to_owned());
    }
    if !steps.iter().any(|step| matches!(step, Step::Sql { .. })) {
        return Ok(script.program.clone());
    }
    let mut all = vec![Step::StartPipeline];
    // A jump to the end goes to the end of the pipeline.
    all.extend(steps.iter().cloned().map(moved));
    all.push(Step::EndPipeline);
    Ok(Program { steps: all })
}

fn obstacle(step: &Step) -> Option<&'static str> {
    match step {
        Step::Sql { store: Some(_), .. } => Some(
            "\\gset or \\aset keeps the result of a statement, and no result is there before the end",
        ),
        Step::StartPipeline | Step::SyncPipeline | Step::EndPipeline => {
            Some("it has a pipeline of its own: run it without --pipeline")
        }
        Step::Sleep { .. } => Some("\\sleep would pass before anything was sent"),
        Step::Shell { .. } => Some("\\shell and \\setshell would run before anything was sent"),
        _ => None,
    }
}

/// The step, behind one more.
fn moved(step: Step) -> Step {
    let behind = |target: StepIndex| target + 1;
    match step {
        Step::Jump { target } => Step::Jump { target: behind(target) },
        Step::JumpUnless { condition, target } => {
            Step::JumpUnless { condition, target: behind(target) }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use crate::script::Dialect;
    use crate::script::program::Step;
    use crate::workload::source::{Origin, Source};
    use crate::workload::{CompileOptions, Workload};

    fn steps(text: &str) -> Vec<Step> {
        let source = Source::new("test", text, Origin::Stdin);
        let dialect = Dialect::Postgres;
        let options = CompileOptions { dialect, pipeline: true, ..CompileOptions::default() };
        let mut workload = Workload::compile("test", vec![(source, 1)], &options).unwrap();
        workload.scripts.remove(0).program.steps
    }

    #[test]
    fn jumps_lead_to_the_same_steps_and_those_to_the_end_to_that_of_the_pipeline() {
        let steps = steps("\\set a random(0, 1)\nSELECT 1;\n\\if :a\nSELECT 2;\n\\endif\n");
        assert_eq!((&steps[0], steps.last()), (&Step::StartPipeline, Some(&Step::EndPipeline)));
        let end = u32::try_from(steps.len()).unwrap() - 1;
        let targets: Vec<u32> = steps
            .iter()
            .filter_map(|step| match step {
                Step::JumpUnless { target, .. } | Step::Jump { target } => Some(*target),
                _ => None,
            })
            .collect();
        assert!(!targets.is_empty() && targets.iter().all(|target| *target == end), "{steps:?}");
    }

    #[test]
    fn a_script_without_statements_sends_nothing() {
        assert!(steps("\\set a 1\n").iter().all(|step| matches!(step, Step::Set { .. })));
    }
}
