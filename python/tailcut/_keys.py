"""The keys of a configuration and the types of their values. Made by python/tests/generate_keys.py; do not edit."""

from collections.abc import Sequence
from typing import Literal, TypedDict, Union

Quantity = Union[str, int, float]

#: Keys and values, for the ``overrides`` of ``run``, ``sweep`` and ``config``: a type checker knows them.
Overrides = TypedDict(
    "Overrides",
    {
        # Model this number of blocks of each plane, and give the host the capacity that keeps the steady tail
        # (docs/guide.md, "A scaled drive"). A drive that would not keep it is refused. The resolved configuration has
        # `geometry.blocks` and `ftl.user_capacity` in place of this key.
        "scaled_blocks": int,
        # One line of text for `tailcut show devices`.
        "description": str,
        # Channels of the drive. Each has one bus and one error-correction engine.
        "geometry.channels": int,
        # Chips (ways) on each channel.
        "geometry.chips_per_channel": int,
        # Dies (LUNs) in each chip.
        "geometry.dies_per_chip": int,
        # Planes in each die.
        "geometry.planes": int,
        # Blocks in each plane, bad ones included.
        "geometry.blocks": int,
        # Pages in each block.
        "geometry.pages": int,
        # Bytes of user data in a page.
        "geometry.page": Quantity,
        # Share of blocks that are bad from the factory. Each block is drawn from the seed.
        "geometry.bad_blocks": Quantity,
        # The part of a die that an array operation keeps busy.
        "geometry.busy_unit": Literal["die", "plane"],
        # What a read keeps busy where the busy unit is a die with several planes. Data sheets call `independent`
        # independent multi-plane reads, or independent word line reads. Queued reads begin as the schedule serves
        # them: none overtakes a program or an erase that goes before it.
        "geometry.plane_reads": Literal["together", "independent"],
        # Whether the busy unit has a second page register for programs (ONFI: program page cache, 15h). While the
        # array programs, the unit takes the next program of its queues and transfers its data; when the array is
        # done, it begins that program at once. It takes a program only if the schedule would serve it now, so that it
        # overtakes no read or erase, and only while nothing is suspended on the unit. Programs of a block keep their
        # order. A program that has the register runs next: a read that comes later waits for both programs. Only
        # while the program still waits for the channel does a read with channel priority take its place. Copybacks do
        # not use the register.
        "geometry.cache_program": bool,
        # Sense time by page type (tR): one value for SLC, two for MLC, three for TLC. Page `p` of a block has type `p
        # mod` the number of values.
        "timing.read": Sequence[str],
        # Length of one program pulse.
        "timing.program.pulse": Quantity,
        # Length of the verify after each program pulse.
        "timing.program.verify": Quantity,
        # Program pulses by page type. The program time (tPROG) is `pulses` times (`pulse` + `verify`).
        "timing.program.pulses": Sequence[int],
        # Erase loops. The erase time (tBERS) is the sum over all loops of `ramp_up` + `execution` + `recovery` +
        # `verify`.
        "timing.erase.loops": int,
        # Time to raise the erase voltage.
        "timing.erase.ramp_up": Quantity,
        # Length of the erase pulse itself: of all loops, or a list with that of each loop. Loops after the last of
        # the list are as long as the last.
        "timing.erase.execution": Union[str, Sequence[str]],
        # Time to lower the erase voltage.
        "timing.erase.recovery": Quantity,
        # Length of the verify read.
        "timing.erase.verify": Quantity,
        # Whether programs and erases take the configured times.
        "timing.program_erase": Literal["timed", "as-read", "zero"],
        # Time from the suspend command until the die is free, if the pulse is cut while its voltage is up.
        "suspend.erase.suspend": Quantity,
        # Time to raise the voltage again, to resume a pulse in its middle.
        "suspend.erase.resume": Quantity,
        # Length of the verify before a cancelled loop is repeated.
        "suspend.erase.verify": Quantity,
        # Which operations are served at the end of a loop, before the erase continues.
        "suspend.erase.serve": Literal["queued", "all"],
        # Most suspensions of one operation.
        "suspend.erase.limits.most": Union[int, Literal["none"]],
        # Time that the operation executes between a resume and the next suspension.
        "suspend.erase.limits.spacing": str,
        # Smallest remaining array time that is worth a suspension: nominal time, at the point where the operation
        # would stop.
        "suspend.erase.limits.least_left": str,
        # Of what `suspend.erase.limits.least_left` is the smallest part that is worth a suspension.
        "suspend.erase.least_left_of": Literal["erase", "loop"],
        # Whether the last loop of an erase is never suspended.
        "suspend.erase.keep_last_loop": bool,
        # Growth of the raw bit error rate with 1,000 suspensions of a block. It changes no latency.
        "suspend.erase.rber_growth": Quantity,
        # Time from the suspend command until the die is free, if a phase is cancelled.
        "suspend.program.suspend": Quantity,
        # Where the data of the page register are while the program is suspended.
        "suspend.program.data": Literal["shadow", "controller"],
        # Time to copy the data back into the page register, where the die keeps them.
        "suspend.program.reload": Quantity,
        # Most suspensions of one operation.
        "suspend.program.limits.most": Union[int, Literal["none"]],
        # Time that the operation executes between a resume and the next suspension.
        "suspend.program.limits.spacing": str,
        # Smallest remaining array time that is worth a suspension: nominal time, at the point where the operation
        # would stop.
        "suspend.program.limits.least_left": str,
        # Power while a die senses.
        "energy.read": Quantity,
        # Power while a die programs.
        "energy.program": Quantity,
        # Power while a die erases, suspends an erase or resumes one.
        "energy.erase": Quantity,
        # Payload bytes a second; `"inf"` for a bus that takes no time.
        "channel.rate": Quantity,
        # Length of the command and address cycles that start an operation, per plane addressed.
        "channel.command": Quantity,
        # Which of the operations that wait for the channel gets it next. In each group of an order, the kinds of work
        # to which `policy.schedule` gives channel priority go first, then the order is that of arrival.
        "channel.order": Literal["arrival", "commands-first", "data-first"],
        # Bytes of user data in a codeword. A read transfers and decodes whole codewords.
        "ecc.codeword": Quantity,
        # Decode time of one codeword.
        "ecc.decode": Quantity,
        # Codewords of a channel that the error correction can hold, those that it decodes included. When it is full
        # the channel stalls.
        "ecc.queue": int,
        # Engines of a channel. Each decodes one codeword at a time. Without it: one.
        "ecc.engines": int,
        # Commands that the drive accepts at once. A further one waits in the host.
        "host.queue_depth": int,
        # Payload bytes a second in each direction of the link; `"inf"` for a link that takes no time.
        "host.link_rate": Quantity,
        # Payload bytes a second from the host, if they are not those to the host.
        "host.write_link_rate": Quantity,
        # When the data of a read that needs several operations go over the link.
        "host.transfer": Literal["by-page", "whole"],
        # Fixed time from the host's submission to the controller's fetch.
        "host.submit_latency": Quantity,
        # Fixed time from the drive's completion to the host's notice of it.
        "host.complete_latency": Quantity,
        # Largest command. The host splits larger requests.
        "host.max_transfer": Quantity,
        # Processing time of one host command.
        "controller.command": Quantity,
        # Who translates addresses: the controller, or the host with pblk.
        "ftl.kind": Literal["page", "pblk"],
        # Granularity of the map.
        "ftl.mapping_unit": Quantity,
        # Capacity that the host sees. Exactly one of this key, `ftl.over_provisioning` and
        # `ftl.over_provisioning_of_user` is given.
        "ftl.user_capacity": Quantity,
        # Over-provisioning by the raw capacity: (raw − user) / raw. It is given in place of `ftl.user_capacity`.
        "ftl.over_provisioning": Quantity,
        # Over-provisioning by the user's capacity, as vendors give it: (raw − user) / user. It is given in place of
        # `ftl.user_capacity`.
        "ftl.over_provisioning_of_user": Quantity,
        # Program/erase cycles that a block is rated for, from which a run gives the endurance of the drive. With the
        # table `erase` they are `erase.worn_cycles`.
        "ftl.rated_cycles": int,
        # The blocks that are opened, written, collected and erased together.
        "ftl.extent": Literal["block", "superblock", "line"],
        # What becomes of a block that is bad from the factory or has grown bad, and of the blocks of a plane that has
        # died.
        "ftl.bad_blocks": Literal["remap", "hole"],
        # Planes of a die that one program operation covers.
        "ftl.write_planes": int,
        # Whether host reads queued at one die join into one multi-plane read, if they address the same page of their
        # blocks and different planes.
        "ftl.join_reads": bool,
        # Whether programs queued at one die join into one multi-plane program, if they are for the same page index of
        # their blocks and different planes. Host programs join host programs, and programs of a collection join those
        # of other collections. For extents of one block.
        "ftl.join_programs": bool,
        # How collection moves a valid page.
        "ftl.gc.copy": Literal["controller", "copyback"],
        # Planes of a die that one collection read covers.
        "ftl.gc.copy_planes": int,
        # Planes of a die that one collection program covers. If they are fewer than `ftl.write_planes`, a write unit
        # takes several programs.
        "ftl.gc.program_planes": int,
        # Whether reads of several collections queued at one die join, as host reads do under `ftl.join_reads`.
        "ftl.gc.join_reads": bool,
        # The most planes of a die that one erase covers. An extent of more planes is erased by several erases. Erases
        # of single blocks queued at one die join, up to this number of planes.
        "ftl.gc.erase_planes": int,
        # Collection reads (or copybacks) under way at once in one collection.
        "ftl.gc.in_flight": int,
        # The version of Linux. Its rules give the size of the ring and the chunks that the rate limiter keeps from
        # users: 4.19 and 5.1 keep one line, 5.14 keeps as many as 100 / over-provisioning in percent.
        "pblk.kernel": Literal["v4-19", "v5-1", "v5-14"],
        # Entries of the ring, if the rule of the kernel gives fewer. It is rounded up to a power of two.
        "pblk.ring": int,
        # Time of the device's controller for a vector command, in place of `controller.command`.
        "pblk.command": Quantity,
        # Time of the device's controller for each sector that it reads, in addition to that for the command. It takes
        # one sector of each command in turn.
        "pblk.read_sector": Quantity,
        # Time of the device's controller for each sector that it programs. It limits the rate of sectors, and delays
        # no command that comes alone.
        "pblk.write_sector": Quantity,
        # Whether an erase takes the semaphore of its LUN, so that the writer waits for the program before it. In
        # Linux it does not. With strides and a gate it always does.
        "pblk.erase_semaphore": bool,
        # LUNs of a stride, parity included (RAIL). Without this key there is no parity.
        "pblk.stride": int,
        # Members of a stride that are parity: 1, which is the default, or 2 (P and Q), from which any two members can
        # be computed.
        "pblk.parities": int,
        # Users write to hot LUNs, with strides and their gate, and collection to cold ones, without (RAIL-HC). The
        # key says what the share of hot LUNs follows from. It needs `pblk.stride`, more than one of them on the
        # device, and `policy.write_gate`. Without this key both write to all LUNs.
        "pblk.hot_cold": Literal["time", "writes"],
        # Share of the host capacity that preconditioning fills for a trace. A generated job fills the region that it
        # addresses.
        "age.fill": Quantity,
        # What overwrites the drive before the workload.
        "age.overwrites": Literal["workload", "uniform", "uniform-traces", "workload-or-uniform"],
        # Extents of every lane that are free when the workload begins. The drive is put into that state directly,
        # with stale units at random in the other extents, and is not overwritten. Without this key the drive is
        # overwritten until it is steady.
        "age.free": Quantity,
        # Program/erase cycles of every block before the run, in addition to those of preconditioning.
        "age.pe_cycles": int,
        # Age of the data that are on flash when the workload begins. Data written later have none.
        "age.retention": Quantity,
        # Least age of these data. With this key the age differs by block, from here to `age.retention` as `age.law`
        # says. Without it all data have that age.
        "age.retention_from": Quantity,
        # How ages that differ are distributed over the blocks: uniformly, as without this key, or with a uniform
        # logarithm, so that as many blocks are six to twelve hours old as 20 to 40 days.
        "age.law": Literal["uniform", "log-uniform"],
        # Reads that every block has had since its erase when the workload begins. They add errors only with
        # `errors.model = "power-law"`.
        "age.reads": int,
        # The unit of pulse time. All pulses are multiples of it.
        "erase.step": Quantity,
        # The longest pulse at one voltage (tEP). An erase that needs more continues at the next voltage.
        "erase.pulse": Quantity,
        # Number of voltage levels. All pulses after the first one at the last level are at the last level too.
        "erase.levels": int,
        # Largest number of fail bits that a verify counts when one step is missing (gamma).
        "erase.gamma": int,
        # Fail bits that each further missing step adds (delta).
        "erase.delta": int,
        # Number of fail bits above which a count does not show how many steps are missing (F_HIGH). The next pulse is
        # then a whole one.
        "erase.high": int,
        # Number of fail bits up to which a block counts as erased (F_PASS).
        "erase.pass": int,
        # Standard deviation of the fail bits that a verify counts before the block is erased.
        "erase.noise": int,
        # Share of erases that need one step more than the fail bits show.
        "erase.misprediction": Quantity,
        # The cycles at which the rows of `erase.rows` are looked up.
        "erase.reading": Literal["cycles", "stress"],
        # Exponent of the voltage level in the stress of a pulse. With 0 the stress does not depend on the voltage.
        "erase.stress_exponent": float,
        # Stress of over-erase (pulse time after the block is erased), relative to that of pulse time that the block
        # needs. The rows of `aero-cons` give the needed time, because those pulses end when the block is erased.
        # Without such rows, all pulse time counts as needed.
        "erase.over_erase_stress": float,
        # Program/erase cycles that each erase of the run stands for, so that a lifetime needs fewer erases. Wear
        # levelling and `age.pe_cycles` count cycles. With 1 an erase is a cycle.
        "erase.cycles_per_erase": int,
        # Whether the last loop of an erase is deferred until its extent is opened. The extent counts as free before,
        # and its first programs wait for that loop. Collections without duration have no such loop.
        "erase.defer_last_loop": bool,
        # Expected raw bit errors per KiB of a fresh block at the stated retention.
        "erase.fresh_errors": int,
        # Expected raw bit errors per KiB, at the stated retention, of a block that has been erased
        # `erase.worn_cycles` times by full pulses.
        "erase.worn_errors": int,
        # Program/erase cycles after which a block erased by full pulses has `erase.worn_errors`.
        "erase.worn_cycles": int,
        # Standard deviation of the growth of the errors from block to block, as a share of its mean.
        "erase.error_spread": Quantity,
        # Raw bit errors per KiB that an erase adds if it ends with `erase.delta` fail bits.
        "erase.residual_errors": int,
        # The total pulse time that blocks need: for each scheme, and for some numbers of program/erase cycles, the
        # shares of the blocks by total. A text such as "aero 500: 2ms 42, 2.5ms 58". Shares are in percent. Rows
        # `aero-50` are those of `aero` with a requirement of 50 errors (`policy.erase_scheme.aero.requirement`).
        "erase.rows": Sequence[str],
        # The model by which the error rate follows from cycles, age and reads.
        "errors.model": Literal["power-law", "fitted", "threshold-voltage"],
        # Time of one iteration of the decoder. A codeword takes `ecc.decode`, and as many iterations as its errors
        # need.
        "errors.iteration": Quantity,
        # The unit to which `errors.iteration` and `errors.decode_times` apply: a codeword, or all codewords of a page
        # together, of which each takes an equal share.
        "errors.decode_unit": Literal["codeword", "page"],
        # Times of the decoder by error rate, in place of iterations: the first without errors, the last at the
        # correction limit of the code, the others at equal distances between them. Between two of them the time is
        # interpolated linearly, in 254 steps. A codeword that cannot be decoded takes the last time.
        "errors.decode_times": Sequence[str],
        # The position in the queue of its die of a read whose data could not be decoded: before the reads that
        # arrived after it, or after them.
        "errors.retry_place": Literal["front", "back"],
        # Number of boundaries between threshold-voltage states that a sense of each page type must distinguish. The
        # error rates of the page types have this proportion.
        "errors.boundaries": Sequence[int],
        # Additional error rate of a page if V_REF is one step away from its optimum. It grows with the square of the
        # distance.
        "errors.step": Quantity,
        # Standard deviation of the logarithm of the error rate over blocks.
        "errors.block_spread": float,
        # Standard deviation of the logarithm of the error rate over the layers of a block. Every block has the same
        # layers.
        "errors.layer_spread": float,
        # Number of layers of a block. The pages fill the layers in order.
        "errors.layers": int,
        # Standard deviation of the logarithm of the error rate over the pages of a layer.
        "errors.page_spread": float,
        # Standard deviation of the logarithm of the error rate over the codewords of a page. Each sense draws it
        # again.
        "errors.codeword_spread": float,
        # Standard deviation, over blocks, of the logarithm of the distance between the optimum and the default of
        # V_REF. The median distance is that of the model. The additional errors at the default grow with the square
        # of the distance.
        "errors.shift_block_spread": float,
        # The same standard deviation over the layers of a block. Every block has the same layers.
        "errors.shift_layer_spread": float,
        # The same standard deviation over the boundaries of the page types. `timing.read` has a value for each type.
        "errors.shift_boundary_spread": float,
        # Blocks of each plane that are the region. The host cannot use their capacity. Each has the pages of a block
        # divided by the page types of `timing.read`. With 0 there is no region, whatever the other keys of the table
        # say.
        "slc.blocks": int,
        # Sense time of a page of the region.
        "slc.read": Quantity,
        # Program time of a page of the region: one pulse and its verify.
        "slc.program": Quantity,
        # Erase time of a block of the region, whatever scheme erases the others.
        "slc.erase": Quantity,
        # How long there must have been no host command before full blocks of the region are folded: what is valid in
        # them is programmed into other blocks, and they are erased.
        "slc.fold_idle": Quantity,
        # Share of the region's pages that are free below which its full blocks are folded at once, lane by lane.
        "slc.fold_below": Quantity,
        # Share of page programs that fail. The units are programmed again elsewhere; the block is emptied and
        # retired.
        "faults.program": Quantity,
        # Share of block erases that fail. The block is retired; a spare block takes its place while there are any.
        "faults.erase": Quantity,
        # Share of senses of a page whose data cannot be decoded, this once.
        "faults.read": Quantity,
        # Share of pages that cannot be read from their program until their block is erased.
        "faults.page": Quantity,
        # Reads of a block since its erase after which the pages of `faults.page` cannot be read. Without it: none.
        "faults.page_reads": int,
        # Share of planes that die, each at a time between the beginning of the run and `faults.within`.
        "faults.plane": Quantity,
        # Share of dies that die. See `faults.plane`.
        "faults.die": Quantity,
        # Share of channels that die. See `faults.plane`.
        "faults.channel": Quantity,
        # By when the parts have died that `faults.plane`, `faults.die` and `faults.channel` let die, in the time of
        # the run.
        "faults.within": Quantity,
        # Raw bit errors of a KiB at the stated retention that a block may be expected to have. A block that has more
        # after an erase has grown bad. Without it: any number.
        "faults.worn": int,
        # Raw bit errors of a KiB that can be corrected. The pages of a block that is expected to have more at the
        # stated retention, by its wear and by what its last erase has left, cannot be read. Without it: any number.
        "faults.correctable": int,
        # Bytes a second at which units that only parity can still give are written again elsewhere. Without it: as
        # fast as the drive can.
        "faults.rebuild_rate": Quantity,
        # Whether faults may be injected into the drive while it runs (`tailcut serve`). The drive is then prepared
        # for all of them, as it is with a rate of programs that fail.
        "faults.injected": bool,
        # Which queued operation a die executes next.
        "policy.schedule": Literal["fifo", "read-priority", "read-write-erase", "channel-reads", "ranked"],
        # Whether host writes interrupt an erase, in addition to host reads.
        "policy.schedule.read-write-erase.write_suspends_erase": bool,
        # While programs of the host and of a collection wait, one program in this many is the host's.
        "policy.schedule.channel-reads.share": int,
        # What a busy erase does when an urgent operation waits for its die.
        "policy.suspend_erase": Literal["never", "arbitrary", "immediate", "deferred", "timeout", "ideal"],
        # Delay from which on the erase completes the loop under way before it is suspended. Until then the loop is
        # cancelled.
        "policy.suspend_erase.timeout.after": Quantity,
        # Which delay is compared with `after`.
        "policy.suspend_erase.timeout.clock": Literal["erase", "oldest-write"],
        # Which pulses an erase consists of.
        "policy.erase_scheme": Literal["fixed", "ispe", "i-ispe", "dpes", "aero-cons", "aero"],
        # The voltage of a level, against that of `ispe`.
        "policy.erase_scheme.dpes.voltage": Quantity,
        # How much longer a program takes of a block that was erased at the lower voltage.
        "policy.erase_scheme.dpes.longer_programs": Quantity,
        # Which erases are at the lower voltage.
        "policy.erase_scheme.dpes.mode": Literal["always", "slack"],
        # With `mode = "slack"`: erases are at the full voltage if data on their way to flash fill more than this
        # share of the buffer's room, which is the part of the write buffer that dirty data leave.
        "policy.erase_scheme.dpes.full_above": Quantity,
        # Length of the first pulse of a block.
        "policy.erase_scheme.aero-cons.shallow": Quantity,
        # Whether every erase begins with the first pulse, also where it only adds a verify.
        "policy.erase_scheme.aero-cons.always_shallow": bool,
        # Erase-timing table: the most fail bits with which 1, 2, ... steps of `erase.step` more erase a block. With
        # more the next pulse is a whole one. Empty: `erase.gamma` with one step and `erase.delta` more with each
        # further step, up to `erase.high`.
        "policy.erase_scheme.aero-cons.table": Sequence[int],
        # Length of the first pulse of a block.
        "policy.erase_scheme.aero.shallow": Quantity,
        # Whether every erase begins with the first pulse, also where it only adds a verify.
        "policy.erase_scheme.aero.always_shallow": bool,
        # Erase-timing table: the most fail bits with which 1, 2, ... steps of `erase.step` more erase a block. With
        # more the next pulse is a whole one. Empty: `erase.gamma` with one step and `erase.delta` more with each
        # further step, up to `erase.high`.
        "policy.erase_scheme.aero.table": Sequence[int],
        # Pulse time that an erase may leave, by the level at which it ends. Levels after the last of the list have
        # its last time.
        "policy.erase_scheme.aero.left": Sequence[str],
        # Raw bit errors of a KiB that a block may have at the stated retention. The rows `aero` of `erase.rows` are
        # those of `erase.worn_errors` or more, rows `aero-50` those of 50, and with `erase.fresh_errors` or less,
        # which lets nothing be left, blocks need what they need under `aero-cons`. Between these they need a part of
        # both.
        "policy.erase_scheme.aero.requirement": int,
        # What a busy program does when an urgent operation waits for its die.
        "policy.suspend_program": Literal["never", "inter-phase", "intra-phase", "collection"],
        # What a read does whose data cannot be decoded.
        "policy.read_retry": Literal["none", "retry-ideal", "retry-one", "walk", "sentinel", "swift-read", "swift-read-plus", "rp-controller", "rif"],
        # Distance of two entries, in steps.
        "policy.read_retry.walk.stride": float,
        # Entries.
        "policy.read_retry.walk.entries": int,
        # The entries in their order, in place of `stride` and `entries`: where V_REF stands in the second sense and
        # in each that follows, as its distance from the default, in steps. At most 60.
        "policy.read_retry.walk.table": Sequence[float],
        # Whether the die begins the next sense while the data of one are transferred and decoded, from the second
        # sense on.
        "policy.read_retry.walk.pipelined": bool,
        # Time in which the die drops a sense that is not needed. Only with `pipelined`.
        "policy.read_retry.walk.drop": Quantity,
        # The share of a sense's time that is left out, from the second sense on.
        "policy.read_retry.walk.shorter": Quantity,
        # Raw bit errors of a KiB that a shorter sense adds. Only with `shorter`.
        "policy.read_retry.walk.more_errors": float,
        # Share of pages for which the first inference is right.
        "policy.read_retry.sentinel.hits": Quantity,
        # Share of pages for which the inference is right after calibration.
        "policy.read_retry.sentinel.calibrated": Quantity,
        # Distance of V_REF from the optimum after a wrong inference, in steps.
        "policy.read_retry.sentinel.miss": float,
        # Standard deviation of V_REF around the optimum after a right inference, in steps.
        "policy.read_retry.sentinel.deviation": float,
        # Share of the cells of a page that are known.
        "policy.read_retry.sentinel.cells": Quantity,
        # Whether the inference needs a sense of its own. If not, it takes the known cells of the sense that failed.
        "policy.read_retry.sentinel.extra_read": bool,
        # Standard deviation of V_REF around the optimum, in steps.
        "policy.read_retry.swift-read.deviation": float,
        # Standard deviation of V_REF around the optimum, in steps.
        "policy.read_retry.swift-read-plus.deviation": float,
        # Blocks of a plane with neighbouring numbers that share a V_REF.
        "policy.read_retry.swift-read-plus.group": int,
        # Standard deviation of V_REF around the optimum, in steps.
        "policy.read_retry.rp-controller.deviation": float,
        # Time of a prediction.
        "policy.read_retry.rp-controller.predict": Quantity,
        # Largest syndrome weight over the first 1,024 checks of one codeword that counts as correctable. Without this
        # key: the mean weight at the correction limit of the code.
        "policy.read_retry.rp-controller.threshold": int,
        # Standard deviation of V_REF around the optimum, in steps.
        "policy.read_retry.rif.deviation": float,
        # Time of a prediction.
        "policy.read_retry.rif.predict": Quantity,
        # Largest syndrome weight over the first 1,024 checks of one codeword that counts as correctable. Without this
        # key: the mean weight at the correction limit of the code.
        "policy.read_retry.rif.threshold": int,
        # Whether the second sense begins together with the prediction, and is dropped if the prediction is good. Then
        # a prediction takes time only from reads that need no second sense.
        "policy.read_retry.rif.overlap": bool,
        # How host writes are held before they are programmed.
        "policy.buffer": Literal["none", "lru"],
        # Bytes of host data that the buffer holds.
        "policy.buffer.lru.capacity": Quantity,
        # What a power cut does to held data.
        "policy.buffer.lru.power_loss": Literal["capacitor", "volatile"],
        # Time to put a write into the buffer.
        "policy.buffer.lru.write_latency": Quantity,
        # The part of the drive that the limit counts for.
        "policy.buffer.lru.queue_limit.of": Literal["die", "lane"],
        # Bytes that are held and not yet on their way to flash at which further writes to that part wait.
        "policy.buffer.lru.queue_limit.bytes": Quantity,
        # When data leave the write buffer.
        "policy.flush": Literal["immediate", "in-flight", "gc-tolerant", "watermark", "write-unit"],
        # Share of the buffer's capacity that may be on its way to flash.
        "policy.flush.in-flight.most": Quantity,
        # Flushing starts above this share of the buffer's capacity.
        "policy.flush.gc-tolerant.high": Quantity,
        # Flushing stops at this share of the buffer's capacity.
        "policy.flush.gc-tolerant.low": Quantity,
        # Flushing starts above this share of the buffer's capacity.
        "policy.flush.watermark.high": Quantity,
        # Flushing stops at this share of the buffer's capacity.
        "policy.flush.watermark.low": Quantity,
        # Which lane a write goes to.
        "policy.placement": Literal["static", "die", "dynamic"],
        # The striping order, fastest first: channel (`C`), way (`W`), die (`D`), plane (`P`).
        "policy.placement.static.order": str,
        # The striping order, fastest first: channel (`C`), way (`W`), die (`D`).
        "policy.placement.die.order": str,
        # Parity across the drive.
        "policy.redundancy": Literal["none", "rain"],
        # Units of a stripe, parity included.
        "policy.redundancy.rain.width": int,
        # Time to compute a unit from the others of its stripe.
        "policy.redundancy.rain.xor": Quantity,
        # What a host read does when a collection keeps its plane busy.
        "policy.read_path": Literal["wait", "gc-tolerant", "gc-tolerant-authors"],
        # Which extent a collection empties.
        "policy.gc_victim": Literal["greedy", "d-choices", "fifo", "cost-benefit"],
        # Extents of the lane that are drawn at random and compared.
        "policy.gc_victim.d-choices.d": int,
        # When a collection may start or continue, and when it yields.
        "policy.gc_schedule": Literal["threshold", "preemptive", "rotating", "instant", "tokens"],
        # A collection starts at or below this many free extents.
        "policy.gc_schedule.threshold.start": Quantity,
        # At or below this many free extents host writes to the lane wait.
        "policy.gc_schedule.threshold.hard": Quantity,
        # Above this many free extents a collection starts only while no host operation uses its channel or waits for
        # it. A program whose data are in its die does not.
        "policy.gc_schedule.threshold.wait_for_channel_above": Quantity,
        # A collection starts at or below this many free extents.
        "policy.gc_schedule.preemptive.start": Quantity,
        # At or below this many free extents a collection no longer yields, or yields only to reads: see `states`.
        "policy.gc_schedule.preemptive.hard": Quantity,
        # What happens at or below `hard`.
        "policy.gc_schedule.preemptive.states": Literal["two", "four"],
        # Whether nothing preempts a collection at or below `hard` while a host program waits for it.
        "policy.gc_schedule.preemptive.high_priority_writes": bool,
        # A collection starts at or below this many free extents, if no other lane of the group collects.
        "policy.gc_schedule.rotating.start": Quantity,
        # At or below this many free extents a collection may start beside others of the group: see `mode`.
        "policy.gc_schedule.rotating.hard": Quantity,
        # At or below this many free extents host writes to the lane wait.
        "policy.gc_schedule.rotating.stop": Quantity,
        # What happens at or below `hard`.
        "policy.gc_schedule.rotating.mode": Literal["yielding", "forced", "dynamic"],
        # Above this many free extents a collection starts only while no host operation uses its channel or waits for
        # it. A program whose data are in its die does not.
        "policy.gc_schedule.rotating.wait_for_channel_above": Quantity,
        # A lane collects at or below this many free extents.
        "policy.gc_schedule.instant.start": Quantity,
        # A collection starts at or below this many free extents.
        "policy.gc_schedule.tokens.start": Quantity,
        # At or below this many free extents a collection yields to nothing, and host writes to the lane wait.
        "policy.gc_schedule.tokens.hard": Quantity,
        # Most tokens of a collection, with which it begins.
        "policy.gc_schedule.tokens.most": int,
        # What a collection blocks while it runs.
        "policy.gc_scope": Literal["operation", "plane", "channel", "controller"],
        # Whether only one plane per channel collects at a time.
        "policy.gc_scope.plane.one_per_channel": bool,
        # What the drive does by itself, without a request of the host.
        "policy.background": Literal["none", "scrub", "refresh"],
        # How long the host must have been idle before scrubbing begins.
        "policy.background.scrub.idle": Quantity,
        # Time from one scrub read of a plane to the next.
        "policy.background.scrub.pause": Quantity,
        # Age of data from which on they are written again.
        "policy.background.refresh.after": Quantity,
        # Time from one choice of a block in a plane to the next.
        "policy.background.refresh.pause": Quantity,
        # Which stripes move to colder planes, and which blocks are emptied to be erased.
        "policy.wear": Literal["none", "shift-migrate", "static-threshold"],
        # A stripe moves if the wear of planes, or of groups, differs by more than this: program/erase cycles, or a
        # share of one.
        "policy.wear.shift-migrate.gap": Quantity,
        # Program/erase cycles by which the least erased extent of a lane is behind the most erased one before it is
        # emptied.
        "policy.wear.static-threshold.gap": int,
        # Which LUNs of a stride may program or erase at once (pblk).
        "policy.write_gate": Literal["none", "stride"],
        # What must pass the gate, so that reads avoid its LUN.
        "policy.write_gate.stride.covers": Literal["all", "collection"],
        # What keeps the gate of a stride closed: `collection` lets collection pass while users program. It needs
        # `covers` = `collection`: where users pass the gate too, it would change nothing.
        "policy.write_gate.stride.against": Literal["all", "collection"],
        # Whether what passes waits for the host reads that are under way to its LUN.
        "policy.write_gate.stride.waits_for_reads": bool,
        # Whether reads avoid a LUN as soon as something waits at the gate for it.
        "policy.write_gate.stride.marks_early": bool,
        # After a second with fewer host reads than this the gate is open. 0: it never is.
        "policy.write_gate.stride.off_below": int,
    },
    total=False,
)
