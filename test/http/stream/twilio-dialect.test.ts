import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type {
  StreamAttachment,
  StreamEventData,
  StreamEventName,
} from "../../../src/application/call-audio/streams/stream-client.ts";
import { MULAW_LEVELS } from "../../../src/audio/samples/g711-companding.ts";
import { pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import { TwilioDialect, twilioParameters, twilioStreamSid } from "../../../src/http/stream/twilio-dialect.ts";
import { fuzz } from "../../support/fuzz.ts";

const SID = "MZ00112233445566778899aabbccddeeff";
const STREAM = { streamSid: SID, callSid: "call_1", accountSid: "usr_anna", customParameters: { FirstName: "Jane" } };

interface SentMessage {
  readonly event: string;
  readonly sequenceNumber?: string;
  readonly streamSid?: string;
  readonly mark?: { readonly name: string };
  readonly media?: Record<string, string>;
}

const MAX_MARKS = 4;

/** A dialect with a connected bot, the messages to the bot, and the calls to the core. */
function connect(): {
  dialect: TwilioDialect;
  sent: SentMessage[];
  coreCalls: unknown[][];
  warnings: string[];
  emit: (event: StreamEventName, data?: StreamEventData) => void;
  receive: (message: unknown) => void;
} {
  const sent: SentMessage[] = [];
  const coreCalls: unknown[][] = [];
  const warnings: string[] = [];
  let markCount = 0;
  const dialect = new TwilioDialect(
    {
      text: (message) => sent.push(JSON.parse(JSON.stringify(message))),
      audio: (data) => sent.push(JSON.parse(data as string)),
      close: (...args) => coreCalls.push(["close", ...args]),
    },
    { ...STREAM, warn: (detail) => warnings.push(detail) },
  );
  const attachment: StreamAttachment = {
    write: (samples, sampleRate) => coreCalls.push(["write", samples, sampleRate]),
    queuedMs: 0,
    room: () => undefined,
    ignored() {},
    messages: 0,
    took: () => {},
    mark(name) {
      if (markCount === MAX_MARKS) throw new RangeError(`At most ${MAX_MARKS} marks can wait.`);
      markCount++;
      coreCalls.push(["mark", name]);
    },
    clear() {
      markCount = 0;
      coreCalls.push(["clear"]);
    },
    dtmf: (digits) => coreCalls.push(["dtmf", digits]),
    hangUp: () => coreCalls.push(["hangUp"]),
    detach: (isIntentional) => coreCalls.push(["detach", isIntentional]),
  };
  dialect.onAttached(attachment);
  return {
    dialect,
    sent,
    coreCalls,
    warnings,
    emit: (event, data = {}) => dialect.event({ event, timestamp: 0, data }),
    receive: (message) => dialect.receive(JSON.stringify(message)),
  };
}

/** A bot whose call has been answered, without the messages before. */
function connectAnswered(): ReturnType<typeof connect> {
  const bot = connect();
  bot.emit("answered");
  bot.sent.length = 0;
  return bot;
}

describe("messages to the bot", () => {
  test("connected and start follow pickup, as in Twilio's documentation", () => {
    const { sent, emit } = connect();
    emit("ringing");
    expect(sent).toEqual([]);
    emit("answered");
    expect(sent).toEqual([
      { event: "connected", protocol: "Call", version: "1.0.0" },
      {
        event: "start",
        sequenceNumber: "1",
        start: {
          accountSid: "usr_anna",
          streamSid: SID,
          callSid: "call_1",
          tracks: ["inbound"],
          mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
          customParameters: { FirstName: "Jane" },
        },
        streamSid: SID,
      },
    ]);
  });

  test("the callee's audio is sent every 20 ms as numbered mu-law in Base64", () => {
    const { dialect, sent } = connectAnswered();
    const loudTone = tone(1000, 60, 8000, 16_000);
    for (let i = 0; i < 3; i++) dialect.callee(loudTone.subarray(160 * i, 160 * (i + 1)));
    expect(sent.map(({ sequenceNumber }) => sequenceNumber)).toEqual(["2", "3", "4"]);
    expect(sent.map(({ media }) => [media?.chunk, media?.timestamp])).toEqual([
      ["1", "0"],
      ["2", "20"],
      ["3", "40"],
    ]);
    expect(Object.keys(sent[0] ?? {})).toEqual(["event", "sequenceNumber", "media", "streamSid"]);
    expect(sent[0]).toMatchObject({ event: "media", streamSid: SID, media: { track: "inbound" } });
    const codes = sent.flatMap(({ media }) => [...Buffer.from(media?.payload ?? "", "base64")]);
    expect(codes.length).toBe(480);
    codes.forEach((code, i) => {
      expect(Math.abs((MULAW_LEVELS[code] ?? 0) - (loudTone[i] ?? 0))).toBeLessThanOrEqual(512);
    });
    expect(dialect.calleeRate).toBe(8000);
  });

  test("keys and the final stop message share one sequence", () => {
    const { dialect, sent, emit } = connectAnswered();
    emit("dtmf", { digit: "#" });
    emit("buffer_high", { queued_ms: 31_000 });
    emit("completed", { reason: "callee_hung_up" });
    dialect.over();
    expect(sent).toEqual([
      { event: "dtmf", streamSid: SID, sequenceNumber: "2", dtmf: { track: "inbound_track", digit: "#" } },
      { event: "stop", sequenceNumber: "3", stop: { accountSid: "usr_anna", callSid: "call_1" }, streamSid: SID },
    ]);
  });

  test("an unanswered call sends no message", () => {
    const { dialect, sent, emit } = connect();
    emit("ringing");
    emit("failed", { reason: "busy" });
    dialect.over();
    expect(sent).toEqual([]);
  });

  test("events before a reconnection are not sent again", () => {
    const sent: SentMessage[] = [];
    const output = { text: (message: object) => sent.push(message as SentMessage), audio: () => {}, close: () => {} };
    const dialect = new TwilioDialect(output, STREAM);
    for (const [event, data] of [
      ["ringing", {}],
      ["answered", {}],
      ["dtmf", { digit: "1" }],
      ["mark", { name: "greeting" }],
    ] as const)
      dialect.event({ event, timestamp: 0, data });
    dialect.onAttached({} as StreamAttachment);
    expect(sent.map(({ event }) => event)).toEqual(["connected", "start"]);
  });
});

describe("messages from the bot", () => {
  test("media of any length is played as mu-law at 8 kHz", () => {
    const { coreCalls, receive, warnings } = connectAnswered();
    for (const length of [1, 2, 3, 160, 161, 5000]) {
      const codes = Uint8Array.from({ length }, (_, i) => (i * 7) & 0xff);
      receive({ event: "media", streamSid: SID, media: { payload: Buffer.from(codes).toString("base64") } });
      expect(coreCalls.pop()).toEqual(["write", Int16Array.from(codes, (code) => MULAW_LEVELS[code] ?? 0), 8000]);
    }
    receive({ event: "media", streamSid: SID, media: { payload: "" } });
    expect([coreCalls, warnings]).toEqual([[], []]);
  });

  test.each([
    [
      "an MP3 with a tag",
      Buffer.from("ID3\x04\0\0\0\0\0\x0aTIT2......"),
      "this is MP3: send mu-law at 8 kHz in media messages",
    ],
    ["JSON", Buffer.from('{"error":"no credit"}'), /^this is text \(JSON\), not audio/],
    ["Ogg", Buffer.concat([Buffer.from("OggS\0\x02"), Buffer.alloc(20)]), /^this is Ogg.*: send mu-law at 8 kHz/],
  ])("media that is %s closes the connection with 1003", (_, bytes, reason) => {
    const { coreCalls, receive } = connectAnswered();
    const media = (payload: Uint8Array) =>
      receive({ event: "media", streamSid: SID, media: { payload: Buffer.from(payload).toString("base64") } });
    media(new Uint8Array(160).fill(0x31));
    media(bytes);
    media(new Uint8Array(160));
    expect(coreCalls.map(([name]) => name)).toEqual(["write", "close"]);
    expect(coreCalls[1]?.slice(1)).toEqual([1003, expect.stringMatching(reason)]);
  });

  test("media with a WAV header is played in its format, and mu-law again after it", () => {
    const { coreCalls, receive } = connectAnswered();
    const samples = Int16Array.of(1, -2, 300, 4);
    const wav = Buffer.concat([wavHeader({ sampleRate: 24_000, samples: 4 }), pcmToBytes(samples)]);
    receive({ event: "media", streamSid: SID, media: { payload: wav.toString("base64") } });
    receive({ event: "media", streamSid: SID, media: { payload: Buffer.from([0x80, 0x80]).toString("base64") } });
    expect(coreCalls).toEqual([
      ["write", samples, 24_000],
      ["write", Int16Array.of(32_124, 32_124), 8_000],
    ]);
  });

  test("a mark is returned when it is reached", () => {
    const { sent, coreCalls, receive, emit } = connectAnswered();
    receive({ event: "mark", streamSid: SID, mark: { name: "one" } });
    receive({ event: "mark", streamSid: SID, mark: { name: "two" } });
    expect([sent, coreCalls]).toEqual([
      [],
      [
        ["mark", "one"],
        ["mark", "two"],
      ],
    ]);
    emit("mark", { name: "one" });
    emit("mark", { name: "two" });
    emit("mark", { name: "two" });
    expect(sent).toEqual([
      { event: "mark", sequenceNumber: "2", streamSid: SID, mark: { name: "one" } },
      { event: "mark", sequenceNumber: "3", streamSid: SID, mark: { name: "two" } },
    ]);
  });

  test("clear drops the queue and returns each pending mark once and in order", () => {
    const { sent, coreCalls, receive, emit } = connectAnswered();
    for (const name of ["one", "two", "two", "three"]) receive({ event: "mark", streamSid: SID, mark: { name } });
    emit("mark", { name: "one" });
    sent.length = 0;
    coreCalls.length = 0;
    receive({ event: "clear", streamSid: SID });
    expect(coreCalls).toEqual([["clear"]]);
    emit("cleared", { heard_ms: 20 });
    expect(sent.map(({ event, mark }) => [event, mark?.name])).toEqual([
      ["mark", "two"],
      ["mark", "two"],
      ["mark", "three"],
    ]);
    receive({ event: "clear", streamSid: SID });
    expect(sent.length).toBe(3);
  });

  test.each<[string, string | Uint8Array]>([
    ["a binary message", new Uint8Array([1, 2, 3])],
    ["no JSON", "{"],
    ["no object", "[1]"],
    ["null", "null"],
    ["no streamSid", JSON.stringify({ event: "clear" })],
    ["the streamSid of another stream", JSON.stringify({ event: "clear", streamSid: "MZ1" })],
    ["no event", JSON.stringify({ streamSid: SID })],
    ["an unknown event", JSON.stringify({ streamSid: SID, event: "hangup" })],
    ["media without a payload", JSON.stringify({ streamSid: SID, event: "media" })],
    ["media that is not Base64", JSON.stringify({ streamSid: SID, event: "media", media: { payload: "???" } })],
    ["a payload that is not text", JSON.stringify({ streamSid: SID, event: "media", media: { payload: [1] } })],
    ["a mark without a name", JSON.stringify({ streamSid: SID, event: "mark", mark: {} })],
    [
      "a mark with an endless name",
      JSON.stringify({ streamSid: SID, event: "mark", mark: { name: "x".repeat(1025) } }),
    ],
  ])("%s is ignored, with one warning per stream", (_, data) => {
    const { dialect, sent, coreCalls, warnings } = connectAnswered();
    for (let i = 0; i < 3; i++) dialect.receive(data);
    expect([sent, coreCalls]).toEqual([[], []]);
    expect(warnings).toEqual([expect.stringMatching(/^[a-z].*[a-zA-Z0-9]$/)]);
  });

  test("messages before the stream's start are ignored", () => {
    const { coreCalls, receive, emit, warnings } = connect();
    receive({ event: "media", streamSid: SID, media: { payload: "AAAA" } });
    receive({ event: "clear", streamSid: SID });
    expect([coreCalls.length, warnings.length]).toEqual([0, 1]);
    emit("answered");
    receive({ event: "clear", streamSid: SID });
    expect(coreCalls).toEqual([["clear"]]);
  });

  test("a mark beyond the limit is ignored; earlier marks are still returned", () => {
    const { sent, coreCalls, receive, warnings } = connectAnswered();
    for (let i = 0; i < 5; i++) receive({ event: "mark", streamSid: SID, mark: { name: String(i) } });
    expect(warnings).toEqual([expect.stringMatching(/^a mark message was ignored: \w/)]);
    expect(coreCalls.length).toBe(4);
    receive({ event: "clear", streamSid: SID });
    expect(sent.map(({ mark }) => mark?.name)).toEqual(["0", "1", "2", "3"]);
  });

  test("a mark that is reached immediately is returned immediately", () => {
    const { dialect, sent } = connectAnswered();
    const mark = (name: string): void => dialect.event({ event: "mark", timestamp: 0, data: { name } });
    dialect.onAttached({ mark } as StreamAttachment);
    dialect.receive(JSON.stringify({ event: "mark", streamSid: SID, mark: { name: "now" } }));
    expect(sent).toEqual([{ event: "mark", sequenceNumber: "2", streamSid: SID, mark: { name: "now" } }]);
  });
});

test("the id of a stream has Twilio's form", () => {
  expect(twilioStreamSid((bytes) => bytes.fill(0x0a))).toBe(`MZ${"0a".repeat(16)}`);
});

test("custom parameters are taken from the query", () => {
  const search = "?protocol=twilio&parameter.FirstName=Jane&parameter.Note=a%20b%26c&audio=callee&parameter.=x";
  expect(twilioParameters(search)).toEqual({ FirstName: "Jane", Note: "a b&c", "": "x" });
  expect(twilioParameters("")).toEqual({});
});

const message = fc.record(
  {
    event: fc.oneof(fc.constantFrom("media", "mark", "clear", "start", "dtmf"), fc.jsonValue()),
    streamSid: fc.oneof({ weight: 5, arbitrary: fc.constant(SID) }, fc.jsonValue()),
    media: fc.oneof(
      fc.record({ payload: fc.oneof(fc.base64String({ maxLength: 400 }), fc.string(), fc.jsonValue()) }),
      fc.jsonValue(),
    ),
    mark: fc.oneof(fc.record({ name: fc.oneof(fc.string(), fc.jsonValue()) }), fc.jsonValue()),
    __proto__: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const data = fc.oneof(
  fc.string(),
  fc.json(),
  fc.uint8Array({ maxLength: 100 }),
  message.map((value) => JSON.stringify(value)),
);
fuzz(
  "no message throws, replies are Twilio's, and marks return at most once",
  fc.property(fc.array(data, { maxLength: 20 }), (messages) => {
    const { dialect, sent, coreCalls, warnings } = connectAnswered();
    for (const botMessage of messages) dialect.receive(botMessage);
    const marks = coreCalls.filter(([name]) => name === "mark").map(([, name]) => name);
    for (const name of marks) dialect.event({ event: "mark", timestamp: 0, data: { name: String(name) } });
    expect(sent.map(({ event, mark }) => [event, mark?.name]).sort()).toEqual(
      marks.map((name) => ["mark", name]).sort(),
    );
    expect(sent.map(({ sequenceNumber }) => sequenceNumber)).toEqual(sent.map((_, i) => String(i + 2)));
    for (const [name, samples, rate] of coreCalls) {
      expect(["write", "mark", "clear"]).toContain(name);
      if (name === "write") expect([samples instanceof Int16Array, rate]).toEqual([true, 8000]);
    }
    expect(warnings.length).toBeLessThanOrEqual(1);
  }),
);
