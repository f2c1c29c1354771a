import type { Deadlines, FrameSink, FrameSource, Leg, LegEvent, ReleaseCause } from "ringport";

export const SAMPLE_RATE = 16_000;
const FRAME_MS = 20;
const RING_MS = 500;

/**
 * One call to the loudspeaker: it rings, answers, plays its input and sends silence.
 * @param play called with each frame of the call; the frame is only valid until `play` returns
 * @param deadlines the deadlines of the line's host, after which nothing is played
 */
export function loudspeakerLeg(play: (frame: Int16Array) => void, deadlines: Deadlines): Leg {
  let output: ReadableStreamDefaultController<LegEvent> | undefined;
  const events = new ReadableStream<LegEvent>({
    start(controller) {
      output = controller;
    },
  });
  const frame = new Int16Array((SAMPLE_RATE * FRAME_MS) / 1000);
  const silence = new Int16Array(frame.length);
  let source: FrameSource | undefined;
  let sink: FrameSink | undefined;
  let hasEnded = false;

  output?.enqueue({ type: "placed" });
  output?.enqueue({ type: "alerting" });
  let timer = setTimeout(answer, RING_MS);

  function answer(): void {
    const answeredAt = performance.now();
    let frames = 0;
    // The leg owns the clock: it pulls the frames that are due, including those that a late timer has missed.
    function tick(): void {
      try {
        for (; !hasEnded && frames * FRAME_MS <= performance.now() - answeredAt; frames++) {
          if (performance.now() >= deadlines.send) continue; // another server may carry this call by now
          source?.read(frame);
          play(frame);
          sink?.write(silence);
        }
      } catch (fault) {
        end("internal_error", String(fault));
      }
      if (!hasEnded) timer = setTimeout(tick, answeredAt + frames * FRAME_MS - performance.now());
    }
    output?.enqueue({ type: "answered" });
    tick();
    if (!hasEnded) output?.enqueue({ type: "connected" });
  }

  function end(cause: ReleaseCause, detail: string | null = null): void {
    if (hasEnded) return;
    hasEnded = true;
    clearTimeout(timer);
    output?.enqueue({ type: "ended", cause, detail });
    output?.close();
  }

  return {
    sampleRate: SAMPLE_RATE,
    frameMs: FRAME_MS,
    events,
    connectMedia(outgoing, incoming) {
      source = outgoing;
      sink = incoming;
    },
    hangUp: async () => end("released"),
  };
}
