import { codecOf, type Format, formatLines } from "./formats.ts";
import type { Direction } from "./remote-media.ts";
import { type Sdp, type SdpLine, type SdpMedia, writeSdp } from "./sdp.ts";

/** Length of our packets, ms of audio. */
const PTIME_MS = 20;

/** Options of a {@link LocalDescription}. */
export interface LocalDescriptionOptions {
  /** Our address as the peer sees it, and the RTP port of our session. */
  readonly address: string;
  readonly port: number;
  /** Fills the array with random bytes: the session id. */
  readonly random: (bytes: Uint8Array) => void;
}

/** The audio that our description offers or accepts. */
export interface LocalAudio {
  /** Profile of the `m=` line. */
  readonly protocol: string;
  readonly formats: readonly Format[];
  readonly rtcpMux: boolean;
  /** `a=crypto` lines. */
  readonly keys: readonly SdpLine[];
}

/**
 * Our session description (RFC 8866) throughout a call's offers and answers: one session id, and an increasing version.
 */
export class LocalDescription {
  readonly #options: LocalDescriptionOptions;
  readonly #sessionId: number;
  #version = 0;
  #media: readonly SdpMedia[] = [];
  /** The description without its o= line. */
  #body = "";
  #text = "";

  constructor(options: LocalDescriptionOptions) {
    this.#options = options;
    const id = new Uint32Array(1);
    options.random(new Uint8Array(id.buffer));
    this.#sessionId = id[0]!;
  }

  /** An offer. It has every m= line from the previous description, in the same order (RFC 3264 section 8). */
  offer(audio: LocalAudio): string {
    const isOpus = audio.formats.some((format) => codecOf(format) === "opus");
    const audioMedia = this.#audio(audio, "sendrecv", isOpus ? [attributeLine(`maxptime:${PTIME_MS}`)] : []);
    const previous = this.#media;
    return this.#describe(
      previous.length === 0 ? [audioMedia] : previous.map((media) => (media.port === 0 ? media : audioMedia)),
    );
  }

  /** An answer that accepts one medium in the remote offer and rejects the others (RFC 3264 section 6). */
  answer(offer: Sdp, acceptedMedia: SdpMedia, audio: LocalAudio, direction: Direction): string {
    return this.#describe(
      offer.media.map((media) => (media === acceptedMedia ? this.#audio(audio, direction) : rejectedMedia(media))),
    );
  }

  #audio(
    { protocol, formats, rtcpMux, keys }: LocalAudio,
    direction: Direction,
    lines: readonly SdpLine[] = [],
  ): SdpMedia {
    return {
      kind: "audio",
      port: this.#options.port,
      protocol,
      formats: formats.map(({ payloadType }) => String(payloadType)),
      lines: [
        ...formatLines(formats),
        attributeLine(`ptime:${PTIME_MS}`),
        ...keys,
        ...lines,
        ...(rtcpMux ? [attributeLine("rtcp-mux")] : []),
        attributeLine(direction),
      ],
    };
  }

  /** The text of our description, with a new version if it differs from the last one (RFC 3264 section 8). */
  #describe(media: readonly SdpMedia[]): string {
    const { address } = this.#options;
    const network = `IN ${address.includes(":") ? "IP6" : "IP4"} ${address}`;
    const session = [line("s", "-"), line("c", network), line("t", "0 0")];
    const body = writeSdp({ lines: session, media });
    this.#media = media;
    if (body === this.#body) return this.#text;
    this.#body = body;
    this.#version++;
    const origin = line("o", `- ${this.#sessionId} ${this.#version} ${network}`);
    this.#text = writeSdp({ lines: [line("v", "0"), origin, ...session], media });
    return this.#text;
  }
}

function rejectedMedia(media: SdpMedia): SdpMedia {
  return { ...media, port: 0, lines: [], formats: media.formats.length > 0 ? media.formats : ["0"] };
}

function line(type: string, value: string): SdpLine {
  return { type, value };
}

function attributeLine(value: string): SdpLine {
  return line("a", value);
}
