//! The events that a file's header or a pipe's first records tell of: attributes and ids.

use crate::error::Error;
use crate::header::FileHeader;
use crate::input::{Input, Section};
use records::{Attribute, ByteOrder};

/// An attribute and the ids that its records carry.
pub(crate) type WithIds = (Attribute, Vec<u64>);

/// The size of the section of ids behind each attribute.
const SECTION: u64 = 16;
/// The longest list of events that is read: perf's has some hundred bytes an event.
const LONGEST: u64 = 64 << 20;

/// Reads the attributes of a file.
pub(crate) fn of_file(input: &mut Input, header: &FileHeader) -> Result<Vec<WithIds>, Error> {
    let offset = header.attributes.offset;
    let damaged = |what| Error::Damaged { what, offset };
    let entry = header.attribute_size;
    if entry < Attribute::SHORTEST as u64 + SECTION || entry > 1 << 16 {
        return Err(Error::Damaged { what: "the size of an event's attribute is out of range", offset: 16 });
    }
    if header.attributes.size > LONGEST {
        return Err(damaged("the list of events is too long"));
    }
    let bytes = input.section(header.attributes)?;
    if (bytes.len() as u64) < header.attributes.size {
        return Err(damaged("the list of events is cut"));
    }
    let order = header.order;
    // Lists of ids do not overlap: all of them are no longer than the file.
    let mut left = input.len()?.unwrap_or(0).min(LONGEST);
    bytes
        .chunks_exact(entry as usize)
        .map(|entry| {
            let (attribute, ids) = entry.split_at(entry.len() - SECTION as usize);
            let attribute = Attribute::parse(attribute, order).ok_or_else(|| damaged("an event's attribute is cut"))?;
            let at = |at| order.u64_at(ids, at).unwrap_or(0);
            let ids = input.section(Section { offset: at(0), size: at(8).min(left) })?;
            left -= ids.len() as u64;
            Ok((attribute, ids_in(&ids, order)))
        })
        .collect()
}

/// Reads `PERF_RECORD_HEADER_ATTR`: an attribute, whose size it states itself, and ids.
pub(crate) fn of_record(body: &[u8], order: ByteOrder) -> Option<WithIds> {
    let stated = order.u32_at(body, 4)? as usize;
    let size = if stated == 0 { Attribute::SHORTEST } else { stated };
    let (attribute, ids) = body.split_at_checked(size)?;
    Some((Attribute::parse(attribute, order)?, ids_in(ids, order)))
}

fn ids_in(bytes: &[u8], order: ByteOrder) -> Vec<u64> {
    bytes.chunks_exact(8).filter_map(|id| order.u64_at(id, 0)).collect()
}
