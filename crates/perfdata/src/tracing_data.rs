//! What tells of tracepoints' fields, `HEADER_TRACING_DATA`: the files of tracefs that describe them,
//! one after the other, as trace-cmd's files of version 0.6 begin (trace-cmd.dat.v6(5), and the
//! kernel's tools/perf/util/trace-event-read.c). Pure; whoever records reads tracefs.

/// What tracefs says of some tracepoints: the contents of its files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TracepointFormats {
    /// `events/header_page`: a page of the kernel's own buffer, by which perf learns the size of a
    /// `long`.
    pub header_page: Vec<u8>,
    /// `events/header_event`
    pub header_event: Vec<u8>,
    /// The tracepoints by the folders that they lie in.
    pub systems: Vec<TracepointSystem>,
    /// `printk_formats`: texts that some formats name by their addresses; may be empty.
    pub printk_formats: Vec<u8>,
}

/// Tracepoints of one folder of `events`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TracepointSystem {
    /// The folder's name.
    pub name: String,
    /// Each tracepoint's file `format`.
    pub formats: Vec<Vec<u8>>,
}

/// 23, 8 and 68 begin each file of trace-cmd.
const MAGIC: &[u8] = b"\x17\x08\x44tracing";
const VERSION: &[u8] = b"0.6\0";

impl TracepointFormats {
    /// The section's contents in this machine's byte order; `page_size` in bytes.
    pub fn to_bytes(&self, page_size: u32) -> Vec<u8> {
        let mut bytes = [MAGIC, VERSION].concat();
        bytes.push(u8::from(cfg!(target_endian = "big")));
        bytes.push(size_of::<std::ffi::c_long>() as u8);
        bytes.extend(page_size.to_ne_bytes());
        bytes.extend(b"header_page\0");
        put_file(&mut bytes, &self.header_page);
        bytes.extend(b"header_event\0");
        put_file(&mut bytes, &self.header_event);
        // Formats of the function tracer, which are no tracepoints.
        put_count(&mut bytes, 0);
        put_count(&mut bytes, self.systems.len());
        for system in &self.systems {
            bytes.extend(system.name.bytes().filter(|byte| *byte != 0));
            bytes.push(0);
            put_count(&mut bytes, system.formats.len());
            system.formats.iter().for_each(|format| put_file(&mut bytes, format));
        }
        // Names of the kernel's functions, which perf no longer takes from here.
        put_count(&mut bytes, 0);
        put_count(&mut bytes, self.printk_formats.len());
        bytes.extend(&self.printk_formats);
        // Names of threads, which records tell.
        put_file(&mut bytes, &[]);
        bytes
    }
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend((count as u32).to_ne_bytes());
}

fn put_file(bytes: &mut Vec<u8>, contents: &[u8]) {
    bytes.extend((contents.len() as u64).to_ne_bytes());
    bytes.extend(contents);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads one field after the other.
    struct Fields<'a>(&'a [u8]);

    impl<'a> Fields<'a> {
        fn bytes(&mut self, count: usize) -> &'a [u8] {
            let (bytes, rest) = self.0.split_at(count);
            self.0 = rest;
            bytes
        }
        fn count(&mut self) -> usize {
            u32::from_ne_bytes(self.bytes(4).try_into().unwrap()) as usize
        }
        fn file(&mut self) -> Vec<u8> {
            let size = u64::from_ne_bytes(self.bytes(8).try_into().unwrap());
            self.bytes(size as usize).to_vec()
        }
        fn text(&mut self) -> String {
            let len = self.0.iter().position(|byte| *byte == 0).unwrap();
            let text = String::from_utf8(self.bytes(len).to_vec()).unwrap();
            self.bytes(1);
            text
        }
    }

    fn system(name: &str, formats: &[&[u8]]) -> TracepointSystem {
        TracepointSystem { name: name.into(), formats: formats.iter().map(|format| format.to_vec()).collect() }
    }

    #[test]
    fn what_was_put_in_stands_where_perf_looks_for_it() {
        let formats = TracepointFormats {
            header_page: b"\tfield: u64 timestamp;".to_vec(),
            header_event: b"# compressed entry header".to_vec(),
            systems: vec![system("sched", &[b"name: sched_switch", b"name: sched_waking"]), system("empty", &[])],
            printk_formats: b"0xffffffff82000000 : \"text\"".to_vec(),
        };
        let bytes = formats.to_bytes(4096);
        let mut fields = Fields(&bytes);
        assert_eq!(fields.bytes(3), [23, 8, 68]);
        assert_eq!((fields.bytes(7), fields.text().as_str()), (&b"tracing"[..], "0.6"));
        assert_eq!(fields.bytes(2), [u8::from(cfg!(target_endian = "big")), 8]);
        assert_eq!((fields.count(), fields.text().as_str()), (4096, "header_page"));
        let header_page = fields.file();
        assert_eq!(fields.text(), "header_event");
        let header_event = fields.file();
        assert_eq!(fields.count(), 0);
        let systems = (0..fields.count())
            .map(|_| {
                let name = fields.text();
                TracepointSystem { name, formats: (0..fields.count()).map(|_| fields.file()).collect() }
            })
            .collect();
        assert_eq!(fields.count(), 0);
        let size = fields.count();
        let printk_formats = fields.bytes(size).to_vec();
        assert_eq!(TracepointFormats { header_page, header_event, systems, printk_formats }, formats);
        assert_eq!((fields.file(), fields.0), (vec![], &[][..]));
    }
}
