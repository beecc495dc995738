//! What a program without privileges cannot measure, and what is written in its place.

/// DDR5-4800, JEDEC 40-39-39: the slowest common part of the servers and laptops that have DDR5.
pub(crate) struct Dram {
    pub t_rcd_ns: f64,
    pub t_cl_ns: f64,
    pub t_rp_ns: f64,
    pub t_wr_ns: f64,
    pub t_wtr_ns: f64,
    pub t_rtw_ns: f64,
    pub banks: u32,
    /// Of a channel.
    pub gb_s: f64,
}

pub(crate) const DRAM: Dram = Dram {
    t_rcd_ns: 16.25,
    t_cl_ns: 16.67,
    t_rp_ns: 16.25,
    t_wr_ns: 30.0,
    t_wtr_ns: 10.0,
    t_rtw_ns: 3.3,
    banks: 32,
    gb_s: 38.4,
};

pub(crate) const DRAM_WHY: &str = "the memory's timing cannot be read without privileges: that of DDR5-4800 (JEDEC \
                                   40-39-39); the latency as a whole is as measured";
pub(crate) const CHANNELS_WHY: &str = "how many channels serve this host cannot be read without privileges: the \
                                       least power of two whose bandwidth (DDR5-4800) is what was measured";
pub(crate) const QUEUE_WHY: &str =
    "the controller's queues cannot be seen: of the size of P4, table 3.1";
pub(crate) const REPLACEMENT_WHY: &str = "the policy is not published and was not measured";
pub(crate) const INCLUSION_WHY: &str = "not measured: as in most x86 servers";
pub(crate) const PREFETCH_WHY: &str = "the prefetchers were not measured: as machine A's, the streams of Intel's L2 (32 of them, up to 20 \
     lines ahead, two requests for each look-up)";
pub(crate) const ROB: (f64, &str) = (224.0, "not measured here: that of Skylake");
pub(crate) const STORE_BUFFER: (f64, &str) = (56.0, "not measured here: that of Skylake");
pub(crate) const FILL_BUFFERS: (f64, &str) = (12.0, "not measured here: that of Skylake");
pub(crate) const STORES_AHEAD: (f64, &str) = (
    12.0,
    "not measured here: as many as there are fill buffers of Skylake",
);
/// Of the last level's latency.
pub(crate) const SNOOP: (f64, &str) = (
    1.5,
    "one CPU only: the last level's latency and half as much again to the owner and back",
);
/// Of the next level's latency.
pub(crate) const NEARER: (f64, &str) = (
    1.0 / 3.0,
    "it came out no faster than the next level, as others use the same core: a third of that one's, about as in most \
     server CPUs",
);
