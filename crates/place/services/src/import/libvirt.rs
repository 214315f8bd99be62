//! Domains of libvirt: their pins and their memory (libvirt's `formatdomain.html`, "CPU
//! Allocation", "CPU Tuning", "NUMA Node Tuning").
//!
//! The set of a domain includes its vCPUs and I/O threads, and a pinned emulator.

use super::lists::ListSpelling;
use super::{ImportRemark, ImportedSeats, SourceFile, WrittenSeat, list};
use crate::Service;
use crate::file::service_name;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use seatmap_data::document::{Position, parser_message, whole_number};
use seatmap_os::CpuSet;

/// The deepest nesting; domains stay under 12.
const MOST_DEPTH: usize = 64;

const MOST_ATTRIBUTES: usize = 32;

/// The most parts to list; the set includes all.
const MOST_DETAILS: usize = 16;

#[derive(Debug, Default)]
struct DomainXml {
    name: String,
    /// `<vcpu cpuset>`: of vCPUs without a pin, and of the emulator.
    usual: Option<CpuSet>,
    /// `<vcpu placement='auto'>`: numad chooses when the domain starts.
    is_auto: bool,
    vcpus: Option<u32>,
    pinned: u32,
    pins: CpuSet,
    emulator: Option<CpuSet>,
    nodes: CpuSet,
    details: Vec<String>,
}

/// The driver's own file of a running domain, `/run/libvirt/qemu/NAME.xml`, has the domain inside
/// `<domstatus>`.
pub fn is_libvirt(text: &str) -> bool {
    text.trim_start().starts_with('<') && text.contains("<domain")
}

pub fn read(file: &SourceFile<'_>, seats: &mut ImportedSeats) -> Result<(), String> {
    let mut reader = Reader::from_str(file.text);
    let mut open: Vec<String> = Vec::new();
    let mut domain: Option<(usize, DomainXml)> = None;
    loop {
        let start = reader.buffer_position();
        let event = reader
            .read_event()
            .map_err(|error| syntax(file.text, reader.error_position(), &error.to_string()))?;
        match event {
            Event::Start(_) if open.len() == MOST_DEPTH => {
                return Err(syntax(file.text, start, "elements are nested too deeply"));
            }
            Event::Start(element) => {
                let name = element.name().as_ref().to_owned();
                if name == "domain" && domain.is_none() {
                    domain = Some((open.len(), DomainXml::default()));
                } else if let Some((_, domain)) = &mut domain {
                    domain.element(&name, open.last(), &element)?;
                }
                open.push(name);
            }
            Event::Empty(element) => {
                if let Some((_, domain)) = &mut domain {
                    domain.element(element.name().as_ref(), open.last(), &element)?;
                }
            }
            Event::Text(text) => {
                let text = text.xml10_content();
                if let Some((depth, domain)) = &mut domain {
                    domain.text(&open[*depth..], &text);
                }
            }
            Event::GeneralRef(reference) => {
                let referred = referred(&reference)
                    .ok_or_else(|| syntax(file.text, start, "unknown XML entity"))?;
                if let Some((depth, domain)) = &mut domain {
                    domain.text(&open[*depth..], &referred);
                }
            }
            Event::End(_) => {
                open.pop();
                let is_over = domain.as_ref().is_some_and(|(depth, _)| *depth == open.len());
                if let Some((_, whole)) = domain.take_if(|_| is_over) {
                    let seat = whole.seat(file, &mut seats.remarks)?;
                    seats.add(seat)?;
                }
            }
            Event::Eof if !open.is_empty() => {
                return Err(syntax(file.text, start, "the file ends too early"));
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// By number, or one of XML's own five names.
fn referred(reference: &BytesRef<'_>) -> Option<String> {
    if reference.is_char_ref() {
        return reference.resolve_char_ref().ok().flatten().map(String::from);
    }
    resolve_xml_entity(reference).map(str::to_owned)
}

fn syntax(text: &str, at: u64, problem: &str) -> String {
    let offset = usize::try_from(at).unwrap_or(usize::MAX);
    format!("{}: {}", Position::of(text.as_bytes(), offset), parser_message(problem))
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.attributes();
    let found = attributes.with_checks(false).take(MOST_ATTRIBUTES);
    found.filter_map(Result::ok).find(|one| one.key.as_ref() == name).and_then(|one| {
        one.normalized_value(XmlVersion::Implicit1_0).ok().map(|value| value.into_owned())
    })
}

fn set(element: &BytesStart<'_>, key: &str) -> Result<Option<CpuSet>, String> {
    let Some(text) = attribute(element, key) else { return Ok(None) };
    let place = format!("{key} of <{}>", element.name().as_ref());
    list(&place, &text, ListSpelling::Libvirt).map(Some)
}

impl DomainXml {
    /// `around` is the element's parent.
    fn element(
        &mut self,
        name: &str,
        around: Option<&String>,
        element: &BytesStart<'_>,
    ) -> Result<(), String> {
        match (name, around.map(String::as_str)) {
            ("vcpu", Some("domain")) => {
                self.usual = set(element, "cpuset")?;
                self.is_auto = attribute(element, "placement").as_deref() == Some("auto");
            }
            ("vcpupin" | "iothreadpin", Some("cputune")) => {
                let Some(own) = set(element, "cpuset")? else { return Ok(()) };
                self.pins = self.pins.with(&own);
                self.pinned += u32::from(name == "vcpupin");
                if self.details.len() < MOST_DETAILS {
                    let (key, word) = match name {
                        "vcpupin" => ("vcpu", "vCPU"),
                        _ => ("iothread", "I/O thread"),
                    };
                    let number = attribute(element, key).unwrap_or_default();
                    self.details.push(format!("{word} {number} on {}", own));
                }
            }
            ("emulatorpin", Some("cputune")) => self.emulator = set(element, "cpuset")?,
            ("memory" | "memnode", Some("numatune")) => {
                if let Some(own) = set(element, "nodeset")? {
                    self.nodes = self.nodes.with(&own);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// `open` has the elements from the domain inwards.
    fn text(&mut self, open: &[String], text: &str) {
        let [_, inner] = open else { return };
        match inner.as_str() {
            // References split a text.
            "name" => self.name += text,
            "vcpu" => self.vcpus = whole_number(text.trim()),
            _ => {}
        }
    }

    fn seat(
        mut self,
        file: &SourceFile<'_>,
        remarks: &mut Vec<ImportRemark>,
    ) -> Result<WrittenSeat, String> {
        self.name = self.name.trim().to_owned();
        if self.name.is_empty() {
            return Err("this <domain> has no <name>".to_owned());
        }
        let domain = self.name.clone();
        let without_pin = self.vcpus.map_or(0, |vcpus| vcpus.saturating_sub(self.pinned));
        match &self.usual {
            Some(usual) => {
                if without_pin > 0 || self.pinned == 0 {
                    self.pins = self.pins.with(usual);
                }
                // The emulator has these CPUs too.
                self.emulator.get_or_insert_with(|| usual.clone());
            }
            None if self.is_auto => remarks.push(ImportRemark::AutoPlacement { domain }),
            None if self.pinned > 0 && without_pin > 0 => {
                let vcpus = self.vcpus.unwrap_or(0);
                remarks.push(ImportRemark::PartlyPinned { domain, pinned: self.pinned, vcpus });
            }
            None if self.pinned > 0 && self.emulator.is_none() => {
                remarks.push(ImportRemark::EmulatorAnywhere { domain });
            }
            None => {}
        }
        if let Some(emulator) = &self.emulator {
            self.pins = self.pins.with(emulator);
        }
        let service = Service {
            name: service_name(&self.name, ""),
            domain: Some(self.name),
            share: true,
            ..Service::default()
        };
        Ok(WrittenSeat::new(
            service,
            &self.pins,
            &self.nodes,
            vec![file.name.to_owned()],
            self.details,
        ))
    }
}
