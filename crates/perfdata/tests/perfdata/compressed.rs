//! Compressed records that hold too much, or what they must not.

use crate::made::*;
use crate::memory::most_held;

const LITTLE: Order = Order::Little;

fn packed(records: &[u8]) -> Vec<Vec<u8>> {
    pieces(&zstd::bulk::compress(records, 3).unwrap())
}

fn pieces(packed: &[u8]) -> Vec<Vec<u8>> {
    packed.chunks(60_000).map(|piece| record(COMPRESSED, 0, Bytes::new(LITTLE).raw(piece))).collect()
}

fn pipe(records: &[Vec<u8>]) -> Vec<u8> {
    Parts::new(vec![(Attribute::default(), vec![7])], records).pipe()
}

#[test]
fn records_come_out_of_pieces_of_any_size() {
    let records: Vec<Vec<u8>> = (1..5000).map(|time| sample(7, time, time)).collect();
    let stream = zstd::bulk::compress(&records.concat(), 1).unwrap();
    for size in [1, 7, 1000, 60_000] {
        let pieces: Vec<_> =
            stream.chunks(size).map(|piece| record(COMPRESSED, 0, Bytes::new(LITTLE).raw(piece))).collect();
        let (found, outcome) = samples(pipe(&pieces));
        assert_eq!((found.len(), outcome.damage), (4999, None), "{size}");
    }
}

#[test]
fn gigabytes_of_nothing_end_it_at_once() {
    let mut records = packed(&vec![0; 256 << 20]);
    let bomb = records.remove(0);
    let bytes = pipe(&[sample(7, 1, 1), vec![bomb; 1000].concat()]);
    let len = bytes.len();
    let ((found, outcome), most) = most_held(|| samples(bytes));
    assert_eq!(found.len(), 1);
    assert_eq!(outcome.damage.unwrap().what, "a compressed record states a size that none has");
    assert!(most < 20 * len + (64 << 20), "{most} bytes of {len}");
}

#[test]
fn gigabytes_of_records_end_it() {
    let bomb = packed(&sample(7, 1, 1).repeat(1 << 20));
    let bytes = pipe(&[sample(7, 1, 1), bomb.concat().repeat(1000)]);
    let ((all, outcome), most) = most_held(|| read(bytes, |_| ()));
    assert!(all.len() > 1 << 20);
    assert_eq!(outcome.damage.unwrap().what, "compressed records hold more than any recording does");
    assert!(most < 600 << 20, "{most} bytes");
}

#[test]
fn what_waits_too_long_for_the_end_of_its_round_is_given_out() {
    const FIELDS: u64 = IDENTIFIER | IP | TID | TIME | PERIOD | RAW;
    let large = |time: u64| {
        let body = Bytes::new(LITTLE).u64s(&[7, 0x10]).u32(5).u32(5).u64s(&[time, 1]).u32(60_004);
        // Something of each is new, as in stacks that are copied.
        let new: Vec<u8> = (0..64).map(|n| (time.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (n % 56)) as u8).collect();
        record(SAMPLE, 2, body.raw(&new).raw(&[7; 60_004 - 64]))
    };
    let mut packer = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    for time in 1..=6000u64 {
        std::io::Write::write_all(&mut packer, &large(time)).unwrap();
    }
    let records = pieces(&packer.finish().unwrap());
    let event = (Attribute { sample_type: FIELDS, ..Attribute::default() }, vec![7]);
    let bytes = Parts::new(vec![event], &records).pipe();
    let ((found, outcome), most) = most_held(|| samples(bytes));
    assert_eq!((found.len(), outcome.damage), (6000, None));
    assert!(found.is_sorted());
    assert!((256 << 20..300 << 20).contains(&most), "{most} bytes");
}

#[test]
fn compressed_records_do_not_hold_compressed_records() {
    let inner = packed(&sample(7, 1, 1)).concat();
    let (found, outcome) = samples(pipe(&[sample(7, 2, 2), packed(&inner).concat()]));
    assert_eq!(found, [(2, 2)]);
    assert_eq!(outcome.damage.unwrap().what, "a compressed record holds what none can hold");
}

#[test]
fn build_ids_without_end_end_it() {
    let mut records = Vec::new();
    for n in 0..1_000_000u64 {
        let body = Bytes::new(LITTLE).u32(1).u64s(&[n, n, n]).text("/bin/x");
        records.extend(record(67, 2, body));
    }
    let (_, outcome) = samples(pipe(&packed(&records)));
    assert_eq!(outcome.damage.unwrap().what, "compressed records tell more of the run than there is");
}

#[test]
fn damaged_streams_end_it_where_they_are() {
    let records: Vec<Vec<u8>> = (1..50_000).map(|time| sample(7, time, time * time)).collect();
    let stream = zstd::bulk::compress(&records.concat(), 1).unwrap();
    let mut pieces: Vec<Vec<u8>> =
        stream.chunks(20_000).map(|piece| record(COMPRESSED, 0, Bytes::new(LITTLE).raw(piece))).collect();
    let middle = pieces.len() / 2;
    pieces[middle][8..].fill(0xff);
    let front: usize = pieces[..middle].iter().map(Vec::len).sum();
    let bytes = pipe(&pieces);
    let data_at = bytes.len() - pieces.concat().len();
    let (found, outcome) = samples(bytes);
    assert!(found.len() > 10_000, "{}", found.len());
    let damage = outcome.damage.unwrap();
    assert_eq!((damage.offset, damage.what), ((data_at + front) as u64, "a compressed record cannot be unpacked"));
}
