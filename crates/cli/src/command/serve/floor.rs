//! `--floor`: subtracts the round trip of this machine from the host latencies of the model.

use crate::args::LayerArgs;
use crate::args::serve::{Floor, ServeArgs};
use crate::error::CliError;
use tailcut_config::Resolved;
use tailcut_units::Span;
use tailcut_units::quantity::human_time;

/// Lower the host latencies of a configuration. Returns a line that describes the change too. Without `--floor`
/// nothing changes.
pub fn lowered(args: &ServeArgs, resolved: Resolved) -> Result<(Resolved, Option<String>), CliError> {
    let Some(floor) = args.floor else { return Ok((resolved, None)) };
    let wall = match floor {
        Floor::Known(span) => span,
        Floor::Auto => {
            let failed = |e| CliError::Failed(format!("--floor: the round trip cannot be measured: {e}"));
            Span(tailcut_live::floor::measure().map_err(failed)?.as_nanos() as u64)
        }
    };
    let host = &resolved.config.host;
    let (submit, complete) = (host.submit_latency, host.complete_latency);
    // Speed of the model's time relative to the clock.
    let floor = Span((wall.0 as f64 * args.speed) as u64);
    let from_complete = floor.0.min(complete.0);
    let from_submit = (floor.0 - from_complete).min(submit.0);
    let left = Span(floor.0 - from_complete - from_submit);
    let mut layers: LayerArgs = args.layers.clone();
    layers.set.push(format!("host.submit_latency={}ns", submit.0 - from_submit));
    layers.set.push(format!("host.complete_latency={}ns", complete.0 - from_complete));
    let lowered = layers.resolve(&args.device, &[&args.scheme])?;
    let text = format!(
        "a request takes {} on this machine without a drive: {} of the host's {} in the model are taken off, and {} remain in what clients measure\n",
        human_time(wall),
        human_time(Span(from_complete + from_submit)),
        human_time(Span(submit.0 + complete.0)),
        human_time(left)
    );
    Ok((lowered, Some(text)))
}
