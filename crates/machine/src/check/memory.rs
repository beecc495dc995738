//! Checks of `[memories]`.

use super::{MOST_CHANNELS, MOST_ENTRIES, above_zero, at_most, device};
use crate::device::Device;
use crate::file::Sections;
use crate::{Machine, Memory, WriteOrder};

/// Most memories: results name them by a byte.
const MOST: usize = 256;

/// Adds what is wrong with the memories.
pub fn check(machine: &Machine, parts: &Sections) {
    if machine.memories.is_empty() || machine.memories.len() > MOST {
        let what = format!("there are {} memories", machine.memories.len());
        parts.wrong("memories", what, format!("describe 1 to {MOST}"));
    }
    for memory in &machine.memories {
        channels(machine, memory, parts);
        controller(memory, parts);
        let key = format!("memories.{}.device", memory.name);
        device::check(&memory.device, machine.line, &key, parts);
    }
}

fn channels(machine: &Machine, memory: &Memory, parts: &Sections) {
    let around = format!("memories.{}", memory.name);
    above_zero(parts, [(&*around, "channels", memory.channels.into())]);
    at_most(
        parts,
        MOST_CHANNELS,
        [(&*around, "channels", memory.channels.into())],
    );
    let interleave = memory.interleave.0;
    if interleave == 0 || !interleave.is_multiple_of(machine.line.0) {
        let what = format!("{interleave} B would cut lines of {} B", machine.line.0);
        let help = "give a multiple of the line";
        parts.wrong(&format!("{around}.interleave"), what, help);
    }
    if memory.capacity.is_some_and(|capacity| capacity.0 == 0) {
        let help = "leave it out for as much as is asked for";
        parts.wrong(&format!("{around}.capacity"), "is 0", help);
    }
}

fn controller(memory: &Memory, parts: &Sections) {
    let around = format!("memories.{}.controller", memory.name);
    let controller = memory.controller;
    above_zero(
        parts,
        [
            (&*around, "read_queue", controller.read_queue.into()),
            (&*around, "write_queue", controller.write_queue.into()),
            (&*around, "bus", controller.bus.map_or(1.0, |bus| bus.0)),
        ],
    );
    let batch = controller.drain_batch.unwrap_or_default();
    at_most(
        parts,
        MOST_ENTRIES,
        [
            (&*around, "read_queue", controller.read_queue.into()),
            (&*around, "write_queue", controller.write_queue.into()),
            (&*around, "drain_batch", batch.into()),
        ],
    );
    if controller.drain_low >= controller.drain_high {
        let what = format!(
            "{} is not below drain_high, {}: draining would stop before it starts",
            controller.drain_low, controller.drain_high
        );
        let help = "give drain_low < drain_high <= write_queue";
        parts.wrong(&format!("{around}.drain_low"), what, help);
    }
    let is_pcm = matches!(memory.device, Device::Pcm(_));
    if controller.write_order == WriteOrder::FrFcfs && !is_pcm {
        let what = "fr-fcfs asks when each bank is ready, which only PCM tells";
        let help = "leave it out: lines of a row go together";
        parts.wrong(&format!("{around}.write_order"), what, help);
    }
    if controller.drain_high > controller.write_queue {
        let what = format!(
            "{} is above the {} entries of the write queue: draining would never start",
            controller.drain_high, controller.write_queue
        );
        let help = "give drain_low < drain_high <= write_queue";
        parts.wrong(&format!("{around}.drain_high"), what, help);
    }
}
