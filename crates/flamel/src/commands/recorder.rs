//! Writes a recording (`.data`) of events as they come, live or from another recording.

use crate::failure::Failure;
use crate::output::Output;
use crate::streamed_file::StreamedFile;
use anyhow::anyhow;
use model::{Body, Event, FileIdentity, Losses, Lost, LostRecords, SampleLoss, TaskIds};
use perfdata::{Error, FileBuildId, Info, RecordedEvent, WriteOptions, Writer};
use resolve::Told;
use std::path::{Path, PathBuf};

/// How recordings are written; compressing is refused where there is none.
pub fn write_options(compression: Option<i32>, recordings: &[Output]) -> Result<WriteOptions, Failure> {
    if compression.is_some() && recordings.is_empty() {
        return Err(Failure::usage(anyhow!("`-z` compresses a recording, and none is written; add `-o x.data`")));
    }
    Ok(WriteOptions { compression })
}

/// A recording that is being written.
pub struct Recorder {
    writer: Writer,
    file: StreamedFile,
    /// Why nothing more is written.
    failed: Option<Error>,
}

impl Recorder {
    /// Makes the file.
    pub fn create(path: &Path, events: &[RecordedEvent], info: Info, options: WriteOptions) -> Result<Self, Failure> {
        let (streamed, file) = StreamedFile::create(path).map_err(Failure::usage)?;
        match Writer::create(file, events, info, options) {
            Ok(writer) => Ok(Self { writer, file: streamed, failed: None }),
            Err(error) => {
                streamed.remove();
                Err(Failure::run(anyhow!(error).context(format!("write `{}`", path.display()))))
            }
        }
    }

    /// Writes an event, and what the resolver has made of it.
    pub fn event(&mut self, event: &Event<'_>, told: Told<'_>) {
        if self.failed.is_some() {
            return;
        }
        let user = match told {
            Told::Unwound(user) => Some(user),
            Told::Nothing | Told::Mapped(_) => None,
        };
        let mut event = *event;
        if let (Told::Mapped(binary), Body::Mapping(mapping)) = (told, &mut event.body)
            && let Some(build_id) = binary.build_id()
        {
            // The place on this machine's disk is worth less than the contents: another file may stand
            // there soon, and a path may be mapped twice with two contents.
            mapping.identity = FileIdentity::BuildId(build_id);
            self.writer.build_id(FileBuildId { path: binary.path.as_bytes().into(), build_id, kernel: false });
        }
        self.failed = self.writer.event(&event, user).err();
    }

    /// What the contents of a file were.
    pub fn build_id(&mut self, id: FileBuildId) {
        self.writer.build_id(id);
    }

    /// To be called a few times a second.
    pub fn tick(&mut self) {
        if self.failed.is_none() {
            self.failed = self.writer.tick().err();
        }
    }

    /// Whether more can be written.
    pub fn can_go_on(&self) -> bool {
        self.failed.is_none()
    }

    /// Writes what is left and what was lost, and puts the file in its place. Where something failed,
    /// what was written before stays.
    pub fn finish(mut self, losses: &Losses) -> Result<PathBuf, Failure> {
        let kinds = [(SampleLoss::RingFull, LostRecords::Samples), (SampleLoss::SideBandLost, LostRecords::SideBand)];
        for (reason, of) in kinds {
            let count = losses.count(reason);
            if count > 0 {
                let body = Body::Lost(Lost { count, of });
                let event = Event { time: None, cpu: None, task: TaskIds::default(), body };
                self.event(&event, Told::Nothing);
            }
        }
        let Self { writer, file, failed } = self;
        let written = failed.map_or_else(|| writer.finish(), Err);
        match written {
            Ok(_) => file.place().map_err(Failure::run),
            Err(error) => {
                let kept = format!("write `{}`, where what was recorded before is", file.path().display());
                Err(Failure::run(anyhow!(error).context(kept)))
            }
        }
    }

    /// The same for what can be made once more: where something failed, nothing stays.
    pub fn finish_or_remove(self, losses: &Losses) -> Result<PathBuf, Failure> {
        let path = self.file.path().to_owned();
        self.finish(losses).inspect_err(|_| {
            // Where it cannot be removed, the failure that is told says what it is.
            let _ = std::fs::remove_file(&path);
        })
    }

    /// Where it stands until it is whole, if that is not under its name.
    pub fn meanwhile(&self) -> Option<&Path> {
        self.file.meanwhile()
    }

    /// There is nothing in it.
    pub fn abandon(self) {
        self.file.remove();
    }
}
