//! The stripe width up to which rotating collection keeps up: Appendix A of Yan et al.,
//! FAST'17. The planes of a group collect one after another, so each may spend 1/N of the
//! time collecting.
//!
//! The paper assumes that each written page is collected once. In the long run, pages moved
//! by collections are collected again: only a share of `1 - valid` of the collected space
//! becomes free, and the bound is lower by that factor. Both bounds are given.

use serde::Serialize;
use tailcut_core::device::config::DeviceConfig;
use tailcut_units::Span;

/// The inputs of the bound, all for one plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PlaneLoad {
    /// Bytes of a page, which is also the size of the register.
    pub page_bytes: u64,
    /// Pages of a block.
    pub block_pages: u32,
    /// Bytes a second that are written to the plane.
    pub write_bytes_per_s: f64,
    /// Share of valid pages in a collected block.
    pub valid: f64,
    /// Time to move one page inside the plane, in seconds.
    pub copyback_s: f64,
    /// Time to erase a block, in seconds; the paper sets it to 0.
    pub erase_s: f64,
}

/// The bound and its intermediate results, step by step (Table 3c to f).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RotationBound {
    /// Pages written a second; collection must free as many.
    pub pages_per_s: f64,
    /// Pages moved a second.
    pub copybacks_per_s: f64,
    /// Blocks erased a second.
    pub erases_per_s: f64,
    /// Seconds of collection in a second.
    pub collection_s_per_s: f64,
    /// The stripe width must be less than this; infinite if nothing is collected.
    pub width_below: f64,
    /// The largest such width; absent if it is too small for parity, or if any width is
    /// possible.
    pub widest: Option<u32>,
    /// As `width_below`, if the pages that collections move are collected again.
    pub lasting_width_below: f64,
    /// The largest width below `lasting_width_below`, as `widest`.
    pub lasting_widest: Option<u32>,
}

/// The largest stripe width below a bound.
fn widest(below: f64) -> Option<u32> {
    let widest = below.ceil() - 1.0;
    (2.0..=f64::from(u32::MAX)).contains(&widest).then_some(widest as u32)
}

impl PlaneLoad {
    /// Compute Table 3c to f.
    pub fn bound(&self) -> RotationBound {
        let pages_per_s = self.write_bytes_per_s / self.page_bytes as f64;
        let copybacks_per_s = pages_per_s * self.valid;
        let erases_per_s = pages_per_s / f64::from(self.block_pages.max(1));
        let collection_s_per_s = copybacks_per_s * self.copyback_s + erases_per_s * self.erase_s;
        let width_below = 1.0 / collection_s_per_s;
        let lasting_width_below = width_below * (1.0 - self.valid);
        RotationBound {
            pages_per_s,
            copybacks_per_s,
            erases_per_s,
            collection_s_per_s,
            width_below,
            widest: widest(width_below),
            lasting_width_below,
            lasting_widest: widest(lasting_width_below),
        }
    }
}

/// Time to write one page to its plane: over the channel and into the array.
pub fn user_write(c: &DeviceConfig) -> Span {
    Span(Span::transfer(c.geometry.page, c.channel.rate).0 + program(c))
}

/// Time to move a page inside its plane.
pub fn copyback(c: &DeviceConfig) -> Span {
    Span(mean(c.timing.read.iter().map(|s| s.0)) + program(c))
}

/// Time to erase a block without suspension.
pub fn erase(c: &DeviceConfig) -> Span {
    c.timing.erase.total()
}

/// Bytes of a plane, all blocks and pages included.
pub fn plane_bytes(c: &DeviceConfig) -> u64 {
    u64::from(c.geometry.blocks) * u64::from(c.geometry.pages) * c.geometry.page
}

/// The number of planes of the drive.
pub fn planes(c: &DeviceConfig) -> u32 {
    let g = &c.geometry;
    g.channels * g.chips_per_channel * g.dies_per_chip * g.planes
}

/// The highest write rate of a plane, in bytes a second: one register per user write (Table
/// 3b).
pub fn full_speed(c: &DeviceConfig) -> f64 {
    c.geometry.page as f64 / (user_write(c).0.max(1) as f64 / 1e9)
}

/// The write rate of a plane in bytes a second, at `per_day` drive writes a day (Table 3i).
pub fn at_drive_writes(plane_bytes: u64, per_day: f64, day: Span) -> f64 {
    plane_bytes as f64 * per_day / (day.0.max(1) as f64 / 1e9)
}

/// The highest write rate of the drive, in bytes a second: the smallest of the rates of its
/// planes, its channels and its link.
pub fn most_written(c: &DeviceConfig) -> f64 {
    let channels = f64::from(c.geometry.channels) * c.channel.rate as f64;
    let rate = c.host.rate_from_host();
    let link = if rate == u64::MAX { f64::INFINITY } else { rate as f64 };
    (f64::from(planes(c)) * full_speed(c)).min(channels).min(link)
}

/// The smallest buffer in bytes: what is written in a second to the collecting planes, which
/// are one in `width`.
pub fn least_buffer(most_written: f64, width: u32) -> f64 {
    most_written / f64::from(width.max(1))
}

fn program(c: &DeviceConfig) -> u64 {
    let p = &c.timing.program;
    mean(p.pulses.iter().map(|&n| u64::from(n) * (p.pulse.0 + p.verify.0)))
}

fn mean(of: impl ExactSizeIterator<Item = u64>) -> u64 {
    let n = of.len().max(1) as u64;
    of.sum::<u64>() / n
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: f64 = 1_048_576.0;
    const DAY: Span = Span(8 * 3600 * 1_000_000_000);

    fn load(write_bytes_per_s: f64) -> PlaneLoad {
        PlaneLoad {
            page_bytes: 4096,
            block_pages: 256,
            write_bytes_per_s,
            valid: 0.25,
            copyback_s: 840e-6,
            erase_s: 0.0,
        }
    }

    /// Table 3 of FAST'17. Its MB are binary and rounded: 1,152 pages of 4 KB are 4.5 MB.
    #[test]
    fn the_papers_table_3() {
        let full = load(4.5 * MB).bound();
        assert_eq!((full.pages_per_s, full.copybacks_per_s), (1152.0, 288.0));
        assert_eq!((full.collection_s_per_s * 1e3).round(), 242.0);
        assert_eq!((full.widest, full.lasting_widest), (Some(4), Some(3)));
        let bytes = at_drive_writes(4 << 30, 5.0, DAY);
        assert_eq!(format!("{:.1}", bytes / MB), "0.7");
        let day = load(bytes).bound();
        assert_eq!((day.collection_s_per_s * 1e3).round(), 38.0);
        assert_eq!((day.widest, day.lasting_widest), (Some(26), Some(19)));
        assert_eq!(least_buffer(2048.0 * MB, 8), 256.0 * MB);
    }

    #[test]
    fn bounds_at_the_edges() {
        let erase = PlaneLoad { erase_s: 2e-3, ..load(4.5 * MB) }.bound();
        assert_eq!(erase.erases_per_s, 4.5);
        assert_eq!((erase.collection_s_per_s * 1e3).round(), 251.0);
        assert_eq!((erase.widest, load(40.0 * MB).bound().widest), (Some(3), None));
        let nothing = load(0.0).bound();
        assert!(nothing.width_below.is_infinite() && nothing.widest.is_none());
    }
}
