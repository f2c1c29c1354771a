import type { CodecName } from "../media/codecs/codec.ts";
import { attributes, type SdpLine, type SdpMedia } from "./sdp.ts";

/** A payload type and its meaning (`a=rtpmap`). */
export interface Format {
  readonly payloadType: number;
  readonly name: string;
  readonly clockRate: number;
}

/** Payload types that need no `a=rtpmap` (RFC 3551 section 6), mono only. */
const STATIC_TYPES: Readonly<Record<number, readonly [name: string, clockRate: number]>> = {
  0: ["PCMU", 8000],
  3: ["GSM", 8000],
  4: ["G723", 8000],
  7: ["LPC", 8000],
  8: ["PCMA", 8000],
  9: ["G722", 8000],
  13: ["CN", 8000],
  15: ["G728", 8000],
  18: ["G729", 8000],
};

const CODECS: Readonly<Record<CodecName, Format>> = {
  PCMU: { payloadType: 0, name: "PCMU", clockRate: 8000 },
  PCMA: { payloadType: 8, name: "PCMA", clockRate: 8000 },
  G722: { payloadType: 9, name: "G722", clockRate: 8000 }, // though sampled at 16,000 Hz: RFC 3551 section 4.5.2
  opus: { payloadType: 111, name: "opus", clockRate: 48_000 },
};
const EVENT = "telephone-event";
/** The first dynamic payload type; a description maps each of 96 to 127 (RFC 3551 section 6). */
const FIRST_DYNAMIC = 96;
/** Maximum number of names in an error. */
const MAX_NAMES = 12;
const EVENTS: readonly Format[] = [
  { payloadType: 101, name: EVENT, clockRate: 8000 },
  { payloadType: 110, name: EVENT, clockRate: 48_000 },
];

/**
 * Opus parameters (RFC 7587 section 6.1): wide-band mono speech at 20 kbit/s with redundancy, as our encoder produces
 * and as WhatsApp requests it.
 */
const OPUS_PARAMETERS = "maxplaybackrate=16000;sprop-maxcapturerate=16000;maxaveragebitrate=20000;useinbandfec=1";

/**
 * The formats in our offer: the codecs in their order, then telephone-event, once for each clock rate of the codecs.
 * Formats that we accepted in an answer keep their payload types, and no other format gets them (RFC 3264 section
 * 8.3.2).
 */
export function offeredFormats(codecs: readonly CodecName[], acceptedFormats: readonly Format[] = []): Format[] {
  // Events at 8000 Hz work with any codec: WhatsApp accepts no others with Opus.
  const eventFormats = EVENTS.filter(({ clockRate }) => clockRate === 8000 || codecs.includes("opus"));
  const formats = [...codecs.map((codec) => CODECS[codec]), ...eventFormats];
  const usedTypes = new Set([...formats, ...acceptedFormats].map(({ payloadType }) => payloadType));
  return formats.map((format) => {
    const previous = acceptedFormats.find((candidate) => isSameFormat(candidate, format));
    if (previous !== undefined) return { ...format, payloadType: previous.payloadType };
    if (!acceptedFormats.some(({ payloadType }) => payloadType === format.payloadType)) return format;
    let payloadType = FIRST_DYNAMIC;
    while (usedTypes.has(payloadType)) payloadType++;
    usedTypes.add(payloadType);
    return { ...format, payloadType };
  });
}

/** A medium's formats, in its order, without unknown payload types. */
export function formatsOf(media: SdpMedia): Format[] {
  const mappedFormats = new Map<number, Format>();
  for (const value of attributes(media, "rtpmap")) {
    const [, type, name = "", clockRate] = /^(\d{1,3})\s+([^\s/]{1,40})\s*\/\s*(\d{1,6})/.exec(value) ?? [];
    if (type === undefined || mappedFormats.has(Number(type))) continue;
    mappedFormats.set(Number(type), { payloadType: Number(type), name, clockRate: Number(clockRate) });
  }
  const formats: Format[] = [];
  for (const format of media.formats) {
    const payloadType = /^\d{1,3}$/.test(format) ? Number(format) : -1;
    const [name, clockRate] = STATIC_TYPES[payloadType] ?? [];
    if (payloadType < 0 || payloadType > 127) continue;
    const staticFormat = name === undefined ? undefined : { payloadType, name, clockRate: clockRate! };
    const knownFormat = mappedFormats.get(payloadType) ?? staticFormat;
    if (knownFormat !== undefined) formats.push(knownFormat);
  }
  return formats;
}

/** A format's codec; undefined if we do not support it. */
export function codecOf(format: Format): CodecName | undefined {
  return (Object.keys(CODECS) as CodecName[]).find((codec) => isSameFormat(CODECS[codec], format));
}

/** True if two formats are the same except for their payload type. */
function isSameFormat(a: Format, b: Format): boolean {
  return a.name.toLowerCase() === b.name.toLowerCase() && a.clockRate === b.clockRate;
}

/** The telephone-event format for this codec: at its clock rate, otherwise at 8000 Hz (RFC 4733 section 2.1). */
export function eventFormatFor(formats: readonly Format[], codec: Format): Format | undefined {
  const eventFormats = formats.filter(({ name }) => name.toLowerCase() === EVENT);
  return (
    eventFormats.find(({ clockRate }) => clockRate === codec.clockRate) ??
    eventFormats.find(({ clockRate }) => clockRate === 8000)
  );
}

/** The `a=rtpmap` and `a=fmtp` lines for these formats. */
export function formatLines(formats: readonly Format[]): SdpLine[] {
  return formats.flatMap(({ payloadType, name, clockRate }) => {
    const isOpus = name.toLowerCase() === "opus";
    const lines = [`rtpmap:${payloadType} ${name}/${clockRate}${isOpus ? "/2" : ""}`]; // always two channels: RFC 7587
    if (isOpus) lines.push(`fmtp:${payloadType} ${OPUS_PARAMETERS}`);
    if (name.toLowerCase() === EVENT) lines.push(`fmtp:${payloadType} 0-16`);
    return lines.map((value) => ({ type: "a", value }));
  });
}

/** The names of formats for an error, each once, without telephone-event and comfort noise. */
export function codecNames(formats: readonly Format[]): string {
  const names = new Set(formats.map(({ name }) => name));
  for (const name of names) if (["cn", "red", EVENT].includes(name.toLowerCase())) names.delete(name);
  return [...names].slice(0, MAX_NAMES).join(", ") || "none known";
}
