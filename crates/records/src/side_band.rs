//! The records between the samples: mappings, names, forks, exits, losses.

use crate::fields::{Fields, halves, split_sample_id};
use crate::record::{Decoded, Header, Layout};
use model::{
    Address, Body, BuildId, Event, EventId, FileIdentity, FileOffset, Inode, Lost, LostRecords, Mapping, TaskIds,
    Throttle, text::until_nul,
};
use perf_event_open_sys::bindings as sys;

/// Decodes what follows the header of a record that is no sample.
pub(crate) fn decode<'a>(
    header: Header,
    body: &'a [u64],
    layout: &Layout,
    event_of: impl Fn(u64) -> Option<EventId>,
) -> Option<Decoded<'a>> {
    let (body, common) = split_sample_id(body, layout)?;
    let mut fields = Fields { rest: body };
    let mut task = common.task;
    let is_data = u32::from(header.misc) & sys::PERF_RECORD_MISC_MMAP_DATA != 0;
    let body = match header.kind {
        sys::PERF_RECORD_MMAP | sys::PERF_RECORD_MMAP2 if is_data => return Some(Decoded::Ignored),
        sys::PERF_RECORD_MMAP => {
            task = fields.task()?;
            Body::Mapping(mapping(header, &mut fields, |_| Some(FileIdentity::Unknown))?)
        }
        sys::PERF_RECORD_MMAP2 => {
            task = fields.task()?;
            Body::Mapping(mapping(header, &mut fields, |fields| mmap2_identity(header.misc, fields))?)
        }
        sys::PERF_RECORD_COMM => {
            task = fields.task()?;
            let name = until_nul(fields.rest_as_bytes());
            if u32::from(header.misc) & sys::PERF_RECORD_MISC_COMM_EXEC != 0 {
                Body::Exec(name)
            } else {
                Body::Name(name)
            }
        }
        sys::PERF_RECORD_FORK | sys::PERF_RECORD_EXIT => {
            let (pid, parent_pid) = fields.halves()?;
            let (tid, parent_tid) = fields.halves()?;
            task = TaskIds::new(pid, tid);
            if header.kind == sys::PERF_RECORD_EXIT {
                Body::Exit
            } else {
                Body::Fork { parent: TaskIds::new(parent_pid, parent_tid) }
            }
        }
        sys::PERF_RECORD_LOST => {
            let writer = fields.word()?;
            // Sampled events have a ring of their own: only samples are lost from it.
            let of = if event_of(writer).is_some() { LostRecords::Samples } else { LostRecords::SideBand };
            Body::Lost(Lost { count: fields.word()?, of })
        }
        sys::PERF_RECORD_LOST_SAMPLES => Body::Lost(Lost { count: fields.word()?, of: LostRecords::Samples }),
        sys::PERF_RECORD_THROTTLE | sys::PERF_RECORD_UNTHROTTLE => {
            fields.word()?;
            let event = event_of(fields.word()?);
            Body::Throttle(Throttle { event, begins: header.kind == sys::PERF_RECORD_THROTTLE })
        }
        sys::PERF_RECORD_READ
        | sys::PERF_RECORD_AUX
        | sys::PERF_RECORD_ITRACE_START
        | sys::PERF_RECORD_SWITCH
        | sys::PERF_RECORD_SWITCH_CPU_WIDE
        | sys::PERF_RECORD_NAMESPACES
        | sys::PERF_RECORD_KSYMBOL
        | sys::PERF_RECORD_BPF_EVENT
        | sys::PERF_RECORD_CGROUP
        | sys::PERF_RECORD_TEXT_POKE
        | sys::PERF_RECORD_AUX_OUTPUT_HW_ID => return Some(Decoded::Ignored),
        _ => return Some(Decoded::Unknown),
    };
    Some(Decoded::Event(Event { time: common.time, cpu: common.cpu, task, body }))
}

fn mapping<'a>(
    header: Header,
    fields: &mut Fields<'a>,
    identity: impl FnOnce(&mut Fields<'a>) -> Option<FileIdentity>,
) -> Option<Mapping<'a>> {
    Some(Mapping {
        start: Address(fields.word()?),
        len: fields.word()?,
        offset: FileOffset(fields.word()?),
        identity: identity(fields)?,
        path: until_nul(fields.rest_as_bytes()),
        kernel: u32::from(header.misc) & sys::PERF_RECORD_MISC_CPUMODE_MASK == sys::PERF_RECORD_MISC_KERNEL,
    })
}

/// What MMAP2 says of the file: its build id, or its place on a file system. Protection and
/// flags follow and are passed over: only executable mappings are asked for.
fn mmap2_identity(misc: u16, fields: &mut Fields<'_>) -> Option<FileIdentity> {
    let file = fields.words(3)?;
    fields.word()?;
    if u32::from(misc) & sys::PERF_RECORD_MISC_MMAP_BUILD_ID != 0 {
        // One byte of length, three of padding, twenty of build id.
        let bytes: &[u8] = bytemuck::cast_slice(file);
        let id = bytes[4..].get(..usize::from(bytes[0]))?;
        return Some(BuildId::new(id).map_or(FileIdentity::Unknown, FileIdentity::BuildId));
    }
    let (major, minor) = halves(file[0]);
    let (number, generation) = (file[1], file[2]);
    Some(if number == 0 {
        FileIdentity::Unknown
    } else {
        FileIdentity::Inode(Inode { major, minor, number, generation })
    })
}
