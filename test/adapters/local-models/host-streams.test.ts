import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HostRecogniser, HostStream } from "../../../adapters/local-models/host-engine.ts";
import { HostStreams } from "../../../adapters/local-models/host-streams.ts";
import type { FromHost, RecogniserInput } from "../../../adapters/local-models/messages.ts";

const INPUT: RecogniserInput = {
  model: { kind: "toneCtc", folder: "/models/tones", tokens: "tokens.txt", paths: {} },
  sampleRate: 8_000,
};
const PIECE = new Int16Array(640);
/** Number of pieces after which the recogniser has a new word. */
const PIECES_PER_WORD = 4;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Streams of a recogniser that recognises "a" in each chunk; with `isDeaf` it recognises nothing. */
async function openStreams({ isDeaf = false } = {}): Promise<{ streams: HostStreams; messages: FromHost[] }> {
  const messages: FromHost[] = [];
  const recogniser: HostRecogniser = {
    open() {
      let pieces = 0;
      return {
        isReady: false,
        push: () => void pieces++,
        result: () => ({ text: isDeaf ? "" : "a".repeat(Math.floor(pieces / PIECES_PER_WORD)), timestamps: [] }),
        reset: () => {
          pieces = 0;
        },
        close() {},
      } satisfies HostStream;
    },
    decode() {},
  };
  const streams = new HostStreams(
    async () => recogniser,
    (message) => void messages.push(message),
  );
  for (const stream of [1, 2]) streams.receive({ type: "open", stream, input: INPUT });
  await vi.advanceTimersByTimeAsync(20);
  return { streams, messages };
}

async function sendAudio(streams: HostStreams, stream: number, pieces: number): Promise<void> {
  for (let piece = 0; piece < pieces; piece++) {
    streams.receive({ type: "audio", stream, samples: PIECE });
    await vi.advanceTimersByTimeAsync(80);
  }
}

test("audio without new text is reported after every fifth message", async () => {
  const { streams, messages } = await openStreams({ isDeaf: true });
  await sendAudio(streams, 1, 4);
  expect(messages).toEqual([]);
  await sendAudio(streams, 1, 7);
  expect(messages).toEqual([
    { type: "progress", streams: [{ stream: 1, takenCount: 5 }] },
    { type: "progress", streams: [{ stream: 1, takenCount: 5 }] },
  ]);
});

test("new text is reported at once, with all streams' audio since the last report", async () => {
  const { streams, messages } = await openStreams();
  await sendAudio(streams, 2, 3);
  await sendAudio(streams, 1, 4);
  expect(messages).toEqual([
    {
      type: "progress",
      streams: [
        { stream: 1, takenCount: 4, partial: { text: "a", startS: undefined, endS: undefined } },
        { stream: 2, takenCount: 3 },
      ],
    },
  ]);
  await sendAudio(streams, 2, 1);
  expect(messages.at(-1)).toMatchObject({ streams: [{ stream: 2, takenCount: 1, partial: { text: "a" } }] });
});

test("fewer than five audio messages stay unreported at the end", async () => {
  const { streams, messages } = await openStreams({ isDeaf: true });
  for (let piece = 0; piece < 23; piece++) streams.receive({ type: "audio", stream: 1, samples: PIECE });
  await vi.advanceTimersByTimeAsync(1_000);
  const progress = messages.flatMap((message) => (message.type === "progress" ? message.streams : []));
  expect(progress.reduce((sum, stream) => sum + stream.takenCount, 0)).toBeGreaterThan(23 - 5);
});
