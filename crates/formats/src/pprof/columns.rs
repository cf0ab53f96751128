//! Which event each value of a sample belongs to, in a profile that is read.

use super::head::Head;
use super::messages::ValueType;
use super::value_types::{self, SAMPLES, TypeName, TypedEvent};
use crate::{Error, ErrorKind};
use model::id::Id as _;
use model::{EventId, Profile, Sampling, Unit};

/// An event, and where its weights stand.
pub(super) struct Column {
    pub(super) event: EventId,
    /// The position among a sample's values.
    value: usize,
    /// What makes the event's unit of the value's.
    factor: u64,
    /// Where the number of samples stands.
    count: Count,
}

#[derive(Clone, Copy)]
enum Count {
    /// At this position among the values.
    At(usize),
    /// The weight is the number of samples.
    Weight,
    /// The profile does not tell it.
    One,
}

/// What a sample holds of one event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Weighed {
    pub(super) weight: u64,
    pub(super) count: u64,
}

impl Column {
    /// What these values, as many as there are types, hold of the event; none where it is more
    /// than 64 bits of the event's unit.
    pub(super) fn of(&self, values: &[u64]) -> Option<Weighed> {
        let weight = values[self.value].checked_mul(self.factor)?;
        let count = match self.count {
            Count::At(position) => values[position],
            Count::Weight => weight,
            Count::One => u64::from(weight > 0),
        };
        Some(Weighed { weight, count })
    }
}

/// The events of a profile.
pub(super) struct Columns {
    pub(super) columns: Vec<Column>,
    /// How many values a sample has.
    pub(super) values: usize,
}

impl Columns {
    /// Adds an event to the profile for each type of values, but for the number of samples where
    /// others stand beside it.
    pub(super) fn new(head: &Head<'_>, profile: &mut Profile) -> Result<Self, Error> {
        let types = head.types.iter().map(|of| type_name(head, *of)).collect::<Result<Vec<_>, _>>()?;
        if types.is_empty() {
            let context = "the profile has no types of values, so that it holds no samples";
            return Err(Error::new(ErrorKind::Empty, context));
        }
        let period_type = head.period_type.map(|of| type_name(head, of)).transpose()?;
        let period = u64::try_from(head.period).ok().filter(|period| *period > 0);
        let samples = types.iter().position(|of| *of == SAMPLES).filter(|_| types.len() > 1);
        let mut columns = Vec::with_capacity(types.len());
        for (value, of) in types.iter().enumerate().filter(|(value, _)| samples != Some(*value)) {
            let TypedEvent { mut event, factor } = value_types::event(*of);
            if let Some(period) = period.filter(|_| period_type == Some(*of)) {
                event.sampling = Sampling::Period(period.saturating_mul(factor));
            }
            let count = match samples {
                Some(position) => Count::At(position),
                None if event.unit == Unit::Samples => Count::Weight,
                None => Count::One,
            };
            columns.push(Column { event: EventId::from_index(profile.events.len()), value, factor, count });
            profile.events.push(event);
        }
        Ok(Self { columns, values: types.len() })
    }
}

fn type_name<'a>(head: &'a Head<'_>, of: ValueType) -> Result<TypeName<'a>, Error> {
    Ok(TypeName { name: head.strings.get(of.r#type)?, unit: head.strings.get(of.unit)? })
}
