//! Does every error name the place, the problem and the allowed values?

use super::{GIB, open};
use crate::job::JobSet;

/// (inline text, parts that the message must contain).
const BAD: &[(&str, &[&str])] = &[
    ("randread,iodpeth=4", &["unknown option `iodpeth`", "did you mean `iodepth`"]),
    ("randread,norandommpa=1", &["did you mean `norandommap`"]),
    ("randread,qqqqqqqqqqqq=1", &["unknown option `qqqqqqqqqqqq`"]),
    ("randread,norandommpa", &["unknown option `norandommpa`"]),
    ("randreed", &["`rw=randreed`", "unknown mode", "randwrite"]),
    ("trimwrite", &["pairs are not modelled"]),
    ("rw=randread:0", &["`rw=randread:0`", "requests at each random offset: 0 is less than 1"]),
    ("rw=read:x", &["bytes to skip after each request: not a number"]),
    ("rw=read:-4k,bs=4k", &["`rw`", "to go backwards, the bytes skipped must be more than one block"]),
    ("randread,rwmixread=70.5", &["`rwmixread=70.5`", "0 to 100 percent"]),
    ("randread,random_distribution=zipf:1.2:2", &["the centre is outside 0..=1"]),
    ("randread,random_distribution=normal:10:0.5", &["no other centre is modelled"]),
    ("randread,filename=/a:/b", &["`filename=/a:/b`", "one file"]),
    ("randread,filesize=4k-8k", &["`filesize=4k-8k`", "give one length"]),
    (
        "randread,rate_iops=9,rate_ignore_thinktime=1",
        &["`rate_ignore_thinktime=1` is not supported", "catches up"],
    ),
    ("randread,rate_min=x", &["`rate_min=x`", "read,write,trim"]),
    ("randread,nrfiles=4", &["`nrfiles=4` is not supported", "numjobs"]),
    ("randread,iodepth_batch_complete=8", &["`iodepth_batch_complete=8` is not supported", "one at a time"]),
    ("randwrite,sync=2", &["`sync=2`", "none, sync or dsync"]),
    ("randread,ioengine=null", &["`ioengine=null` is refused", "no data"]),
    ("randread,ioengine=filestat,stat_type=posix", &["`ioengine=filestat` is refused"]),
    ("randread,ioengine=rbd,rbdname=x", &["`ioengine=rbd` is refused", "not on a drive of this host"]),
    ("randread,ioengine=liba", &["`ioengine=liba`", "unknown engine", "libaio"]),
    (
        "name=test rw=randread bs=4k iodepth=16",
        &["separated by commas; is `name=test,rw=randread,bs=4k,iodepth=16` meant?"],
    ),
    ("filename=/dev/sda rw=randwrite bs=4k", &["separated by commas"]),
    ("randread bs=4k", &["is `randread,bs=4k` meant?"]),
    ("--rw=randread --bs=4k", &["needs `--name"]),
    ("fio job.fio", &["`job.fio` is no option of a job"]),
    ("fio --name='a --rw=read", &["the quotation that begins with ' has no end"]),
    ("fio --name=a --rw=randread --iodpeth=4", &["unknown option `iodpeth`", "did you mean `iodepth`"]),
    ("randread,bs=0", &["`bs=0`", "0 is less than 1"]),
    ("randread,bs=4x", &["`bs=4x`", "unknown unit `x`", "1 to 1g"]),
    ("randread,bs=4KiB", &["kb_base"]),
    ("randread,bs=4k,8k,16k,32k", &["more than three"]),
    ("randread,bs=2g", &["is more than"]),
    ("randread,bs=", &["`bs` needs a value"]),
    ("randread,iodepth", &["`iodepth` needs a value"]),
    ("randread,iodepth=0", &["0 is less than 1"]),
    ("randread,numjobs=5000", &["5000 is more than 4096"]),
    ("read,numjobs=4000;read,numjobs=4000", &["more than 4096 jobs in all", "[job1]"]),
    ("randread,bsrange=8k-4k", &["the range is empty"]),
    ("randread,bsrange=8k", &["not a range"]),
    ("randread,bssplit=4k/60:8k/60", &["more than 100"]),
    ("randread,bssplit=4k/600", &["more than 100 percent"]),
    ("randread,rwmixread=101", &["101 is more than 100", "0 to 100 percent"]),
    ("randread,size=101%", &["more than 100 percent"]),
    ("randread,size=0", &["nothing to access"]),
    ("randread,size=99999999999999g", &["does not fit 64 bits"]),
    ("randread,runtime=5parsecs", &["unknown time unit `parsecs`"]),
    ("randread,runtime=99999d", &["longer than 100 years"]),
    ("randread,time_based", &["`time_based`", "needs a runtime"]),
    ("randread,random_distribution=zipf:nan", &["outside"]),
    ("randread,random_distribution=zipf:-1", &["outside"]),
    ("randread,random_distribution=pareto:1", &["outside"]),
    ("randread,random_distribution=normal", &["needs a deviation"]),
    ("randread,random_distribution=zoned:60/10", &["do not add up"]),
    ("randread,random_distribution=zoned:50/60:50/60", &["more than 100"]),
    ("randread,random_distribution=poisson", &["unknown distribution", "zipf:theta"]),
    ("randread,rate_process=uniform", &["linear or poisson"]),
    ("randrw,rate_iops=100,0,rate_process=poisson", &["needs a rate for every direction"]),
    ("randread,time_based=maybe", &["not a boolean", "0 or 1"]),
    ("randwrite,verify=crc32c", &["`verify`", "read its writes back", "do_verify=0"]),
    ("randread,latency_target=5ms", &["not supported", "measured latency"]),
    (",,,,", &["a comma with nothing before it"]),
    (",randread", &["a comma with nothing before it"]),
    ("randread,norandommap,,bs=4k", &["a comma with nothing before it"]),
    ("randread,,", &["`rw=randread,,`", "unknown mode"]),
    (";", &["an empty job"]),
    ("randread;;randwrite", &["an empty job", "[job1]"]),
    ("randread;", &["an empty job", "[job1]"]),
    ("read;read,wait_for=job0", &["stonewall"]),
    ("randread,norandommap,5", &["follows no option"]),
    ("", &["no job"]),
    ("act:0", &["0 is less than 1"]),
    ("act,multiplyer=3", &["unknown option `multiplyer`", "multiplier"]),
    ("act:5,rates=mine", &["paper or official"]),
];

#[test]
fn bad_jobs_are_explained() {
    for (text, pieces) in BAD {
        let error = match JobSet::from_inline(text) {
            Err(error) => error.to_string(),
            Ok(set) => panic!("`{text}` was read as {set:?}"),
        };
        for piece in *pieces {
            assert!(error.contains(piece), "`{text}`: {error}");
        }
        assert!(error.starts_with("inline job"), "{error}");
    }
}

#[test]
fn jobs_that_do_not_fit_are_explained() {
    let cases: &[(&str, u64, &[&str])] = &[
        ("randread,offset=2g", GIB, &["`offset`", "beyond the drive", "1073741824"]),
        ("randread,offset=100%", GIB, &["`offset`", "beyond the drive"]),
        ("randread,numjobs=3,offset_increment=512m", GIB, &["`offset_increment`", "clone 2"]),
        ("randread,numjobs=3,offset_increment=16384p", GIB, &["clone 1"]),
        ("randread,bs=1m", 1000, &["`size`", "less than one block of 1048576"]),
        ("randread,io_size=1k", GIB, &["`io_size`", "less than one block"]),
        ("randread", 0, &["beyond the drive"]),
    ];
    for (text, capacity, pieces) in cases {
        let set = JobSet::from_inline(&text.replace("16384p", "8192p")).unwrap();
        let error = set.open(*capacity, 1).unwrap_err().to_string();
        for piece in *pieces {
            assert!(error.contains(piece), "`{text}`: {error}");
        }
    }
}

#[test]
fn file_errors_name_their_line() {
    let cases: &[(&str, &str)] = &[
        ("bs=4k\n", "j.fio:1: `bs=4k` stands before the first [section]"),
        ("[a]\nrw=read\ninclude b.fio\n", "j.fio:3 [a]: option `include` is not supported"),
        ("[a]\n\n# x\niodeth=4\n", "j.fio:4 [a]: unknown option `iodeth`; did you mean `iodepth`?"),
        ("[a\nrw=read\n", "j.fio:1: `[a` is not a [section] header"),
        ("[]\n", "j.fio:1: `[]` is not a [section] header"),
        ("[global]\nbs=4k\n", "j.fio: no job"),
        (
            "[a]\nsize=${TAILCUT_NO_SUCH}\n",
            "j.fio:2 [a]: `size=${TAILCUT_NO_SUCH}`: the environment variable `TAILCUT_NO_SUCH` is not set",
        ),
        ("[a]\nsize=${SIZE\n", "j.fio:2 [a]: `size=${SIZE`: a `}` is missing"),
        ("[a]\rrw=read\r\niodeth=4\n", "j.fio:3 [a]: unknown option `iodeth`"),
        ("[a] rw=randread\n", "j.fio:1: `[a] rw=randread` is not a [section] header"),
    ];
    for (text, start) in cases {
        let error = JobSet::from_job_file("j.fio", text).unwrap_err().to_string();
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn what_differs_from_fio_is_said() {
    let warnings = |text: &str| -> String {
        let set = JobSet::from_inline(text).unwrap();
        let opened = open(text, GIB);
        set.warnings().iter().chain(opened.warnings()).map(|w| format!("{w}\n")).collect()
    };
    let cases = [
        ("randread,direct=1,thread,ioengine=libaio", "these options have no effect here: direct, thread\n"),
        ("randread,direct=0", "`direct=0`: there is no page cache here"),
        ("randread,verify=0", ""),
        ("randread,verify=crc32c", ""),
        ("randwrite,verify=crc32c,do_verify=0", ""),
        ("randread,ioengine=psync,iodepth=8", "one request outstanding; `iodepth=8` has no effect"),
        ("randread,ioengine=psync,iodepth=8,io_submit_mode=offload,rate_iops=10", ""),
        ("randread,rw_sequencer=identical", "`rw_sequencer` has no effect"),
        ("read,size=4m,offset=4m;read", "counts from the start of the drive"),
        ("randread,stonewall", ""),
        ("randread,randrepeat=0", "always repeats exactly"),
        ("randread,size=5g", "`size` is cut to 1073741824 bytes"),
        ("randread,rwmixread=70", "`rwmixread` and `rwmixwrite` have no effect on a job that is not mixed"),
        ("write,rwmixwrite=30", "`rwmixread` and `rwmixwrite` have no effect"),
        ("randread,rwmixread=0.0", "`rwmixread` and `rwmixwrite` have no effect"),
        ("randrw,rwmixread=0", ""),
        ("randrw,rwmixread=100", ""),
        ("randread,thinktime_blocks=4", "`thinktime_blocks` has no effect without `thinktime`"),
        ("randread,thinktime_blocks=4,thinktime=1ms", ""),
        (
            "randread,rate_iops=9,rate_iops_min=5",
            "`rate_iops_min`: fio ends a job that is slower; here it goes on",
        ),
        ("randread,rate_iops=9,rate_ignore_thinktime=0,thp=1", "no effect here: rate_ignore_thinktime, thp"),
        ("randrw,rwmixread=70,rate_iops=100", "50.0 % of the requests are reads"),
        ("randrw,rate_iops=100,0", "it paces the whole job"),
        ("randread,rate_process=poisson", "without `rate`"),
        ("read,random_distribution=zipf", "no effect on a sequential job"),
        ("randread,fsync=3", "never flushes"),
        ("randread,bssplit=4k/50:8k/20", "the rest goes to its last size"),
    ];
    for (text, piece) in cases {
        let said = warnings(text);
        assert!(said.contains(piece) && said.is_empty() == piece.is_empty(), "{text}: {said}");
    }
}

#[test]
fn all_problems_of_a_description_come_at_once() {
    let text = "[a]\nrw=randrw\ntime_based\nrate_iops=10,0\nrate_process=poisson\n[b]\niodeth=3\nbs=x\n";
    let error = JobSet::from_job_file("j.fio", text).unwrap_err().to_string();
    let starts: Vec<&str> = error.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(starts, ["j.fio:1 [a]", "j.fio:1 [a]", "j.fio:7 [b]", "j.fio:8 [b]"], "{error}");
    for piece in ["needs a runtime", "needs a rate for every direction", "did you mean `iodepth`", "`bs=x`"] {
        assert!(error.contains(piece), "{error}");
    }
    let many = JobSet::from_inline(&vec!["nothing=1"; 40].join(",")).unwrap_err().to_string();
    assert_eq!(many.lines().count(), 21, "{many}");
    assert!(many.ends_with("and 20 further problems"), "{many}");
}

#[test]
fn every_honoured_option_is_handled() {
    use crate::job::options::{HONOURED, names};
    for name in HONOURED {
        // The value 1 is invalid for some options. The message must then be about the
        // value, and must not say that the option is not handled.
        let text = format!("read,{name}=1");
        if let Err(error) = JobSet::from_inline(&text) {
            assert!(!error.to_string().contains("not handled"), "{error}");
        }
    }
    let mut names: Vec<&str> = names().collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|w| w[0] != w[1]), "an option is listed twice");
}
