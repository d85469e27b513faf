//! What a comparison says, in words: the one place from which terminal, Markdown and page have it.

use crate::result::comparison::{Comparison, Verdict};

/// A verdict in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// Who against whom, and the verdict.
    pub(super) headline: String,
    /// What belongs to it: what could have been found, what makes an arm another thing than the
    /// other.
    pub(super) rest: Vec<String>,
    /// Without a verdict the ratio.
    pub(super) ratio: Option<String>,
}

/// What `comparison` says, on its workload where there are several; `name` writes a name.
pub(super) fn of(comparison: &Comparison, with_workload: bool, name: fn(&str) -> String) -> Said {
    let Comparison { arm, baseline, workload, sentence, ratio, .. } = comparison;
    let on = if with_workload { format!(", {}", name(workload)) } else { String::new() };
    let metric = match comparison.metric.as_str() {
        "response_p99_ms" => ", 99th percentile of response",
        _ => "",
    };
    let mut parts = sentence.split("; ");
    let verdict = parts.next().unwrap_or_default();
    // A sentence that there is no verdict has a colon of its own.
    let mark = if comparison.verdict == Verdict::None { "," } else { ":" };
    let mut headline =
        format!("{} against {}{on}{metric}{mark} {verdict}", name(arm), name(baseline));
    let (hazards, rest): (Vec<&str>, Vec<&str>) = parts.partition(|part| is_hazard(part));
    for hazard in hazards {
        headline.push_str("; ");
        headline.push_str(hazard);
    }
    let interval = comparison.ci_low.zip(comparison.ci_high);
    let interval = interval.filter(|_| comparison.verdict == Verdict::None);
    let ratio = interval.map(|(low, high)| {
        format!("ratio {ratio:.4}, 95 % confidence interval {low:.4}-{high:.4}")
    });
    Said { headline, rest: rest.into_iter().map(str::to_owned).collect(), ratio }
}

/// The parts of a sentence that tell that an arm may lose what it committed. A verdict is never
/// shown without them.
pub(super) fn hazards(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split("; ").filter(|part| is_hazard(part))
}

fn is_hazard(part: &str) -> bool {
    part.contains(" is not durable: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(verdict: Verdict, sentence: &str) -> Comparison {
        Comparison {
            baseline: "ext4".into(),
            arm: "xfs".into(),
            workload: "tpcb-like".into(),
            metric: "tps".into(),
            rounds: 8,
            paired: true,
            ratio: 1.072,
            ci_low: Some(1.018),
            ci_high: Some(1.128),
            p: None,
            p_holm: None,
            verdict,
            sentence: sentence.into(),
            margin: 0.03,
            mde: None,
            rounds_needed: None,
            levels: Vec::new(),
        }
    }

    #[test]
    fn what_qualifies_a_verdict_stays_beside_it() {
        let one = comparison(
            Verdict::Faster,
            "faster by 7.2 % (1.8-12.8); xfs is not durable: fsync=off",
        );
        let said = of(&one, false, str::to_owned);
        let verdict = "faster by 7.2 % (1.8-12.8); xfs is not durable: fsync=off";
        assert_eq!(said.headline, format!("xfs against ext4: {verdict}"));
        assert!(said.rest.is_empty());
        let said = of(&one, true, |name| format!("<{name}>"));
        assert_eq!(said.headline, format!("<xfs> against <ext4>, <tpcb-like>: {verdict}"));
    }

    #[test]
    fn without_a_verdict_there_is_the_ratio() {
        let said = of(&comparison(Verdict::None, "no verdict: why"), false, str::to_owned);
        assert_eq!(said.headline, "xfs against ext4, no verdict: why");
        let ratio = "ratio 1.0720, 95 % confidence interval 1.0180-1.1280";
        assert_eq!((said.rest.len(), said.ratio.as_deref()), (0, Some(ratio)));
        let mut latency = comparison(Verdict::Slower, "higher by 7.2 % (1.8-12.8)");
        latency.metric = "response_p99_ms".into();
        let said = of(&latency, false, str::to_owned);
        assert!(said.headline.starts_with("xfs against ext4, 99th percentile of response: higher"));
    }
}
