import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamAttachment } from "../../../src/application/call-audio/streams/stream-client.ts";
import { encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { NativeDialect } from "../../../src/http/stream/native-dialect.ts";
import { cutToBytes } from "../../../src/http/stream/stream-socket.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";

type Format = ConstructorParameters<typeof NativeDialect>[1];
const PCM: Format = { encoding: "pcm_s16le", sampleRate: 16_000, callee: true, mp3Stream: undefined, now: () => 0 };

function startDialect(format: Partial<Format> = {}) {
  const output = { texts: [] as { type: string; code?: string }[], audio: [] as Uint8Array[], closed: [] as number[] };
  const dialect = new NativeDialect(
    {
      text: (message) => output.texts.push(message as { type: string }),
      audio: (data) => output.audio.push(data as Uint8Array),
      close: (code) => output.closed.push(code),
    },
    { ...PCM, ...format },
  );
  const coreCalls: string[] = [];
  const attachment: StreamAttachment = {
    queuedMs: 0,
    room: () => undefined,
    ignored() {},
    messages: 0,
    took() {},
    write: (samples, rate) => void coreCalls.push(`write ${samples.length} ${rate}`),
    mark: (name) => void coreCalls.push(`mark ${name}`),
    clear: () => void coreCalls.push("clear"),
    dtmf: (digits) => void coreCalls.push(`dtmf ${digits}`),
    hangUp: () => void coreCalls.push("hangUp"),
    detach() {},
  };
  dialect.onAttached(attachment);
  return { dialect, coreCalls, ...output };
}

test("messages from the client become calls to the core", () => {
  const { dialect, coreCalls, texts } = startDialect({ sampleRate: 24_000 });
  dialect.receive(new Uint8Array(480).fill(1));
  dialect.receive('{"type":"mark","name":"a"}');
  dialect.receive('{"type":"dtmf","digits":"12#D"}');
  dialect.receive('{"type":"clear"}');
  dialect.receive('{"type":"hangup","colour":"red"}');
  expect(coreCalls).toEqual(["write 240 24000", "mark a", "dtmf 12#D", "clear", "hangUp"]);
  expect(texts).toEqual([]);
});

test("the callee's audio has the requested encoding", () => {
  const frame = tone(1_000, 20, 8_000, 5_000);
  const mulaw = startDialect({ encoding: "mulaw", sampleRate: 8_000 });
  mulaw.dialect.callee(frame);
  expect(mulaw.audio).toEqual([encodeMulaw(frame)]);
  expect(mulaw.dialect.calleeRate).toBe(8_000);
  expect(startDialect({ callee: false }).dialect.calleeRate).toBeUndefined();
});

const invalidText = fc.oneof(
  fc.string({ unit: CODE_POINT, maxLength: 200 }),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc
    .record({
      type: fc.oneof(fc.constantFrom("mark", "clear", "hangup", "dtmf", "constructor", "__proto__"), fc.jsonValue()),
      name: fc.oneof(fc.string({ maxLength: 300 }), fc.jsonValue()),
      digits: fc.oneof(fc.string({ maxLength: 80 }), fc.jsonValue()),
    })
    .map((value) => JSON.stringify(value)),
  fc.integer({ min: 0, max: 70_000 }).map((depth) => "[".repeat(depth)),
  fc.integer({ min: 0, max: 30_000 }).map((depth) => `{"type":${"[".repeat(depth)}${"]".repeat(depth)}}`),
);

fuzz(
  "any text causes either one action or one error",
  fc.property(invalidText, (text) => {
    const { dialect, coreCalls, texts } = startDialect();
    dialect.receive(text);
    expect(coreCalls.length + texts.length).toBe(1);
    for (const error of texts) {
      expect(error).toMatchObject({ type: "error", code: expect.stringMatching(/^[a-z_]+$/) });
      expect(JSON.stringify(error).length).toBeLessThan(500);
    }
  }),
);

fuzz(
  "any bytes are audio, or end the connection with 1003",
  fc.asyncProperty(
    fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }),
    fc.constantFrom("pcm_s16le" as const, "mulaw" as const, "mp3" as const, undefined),
    async (pieces, encoding) => {
      const { dialect, closed } = startDialect({ encoding });
      for (const piece of pieces) await dialect.receive(piece);
      dialect.onClosed();
      expect(closed.every((code) => code === 1003)).toBe(true);
    },
  ),
);

fuzz(
  "a truncated text fits, and is the beginning of the original",
  fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
    const truncated = cutToBytes(text, 123);
    expect(new TextEncoder().encode(truncated).length).toBeLessThanOrEqual(123);
    expect(text.startsWith(truncated)).toBe(true);
    if (new TextEncoder().encode(text).length <= 123) expect(truncated).toBe(text);
  }),
);
