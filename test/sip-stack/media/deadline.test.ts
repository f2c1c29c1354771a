import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { createThreadEngine } from "../../../adapters/sip-stack/media/thread-engine.ts";
import { encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { LOOPBACK, settingsTo, until } from "./two-ends.ts";

const RTP_HEADER_BYTES = 12;

/** Loudness of the n-th frame, and its PCMU code. */
const loudness = (frame: number): number => 1_000 * frame;
const muLawOf = (frame: number): number => encodeMulaw(Int16Array.of(loudness(frame)))[0]!;

test.each([1, 3])("a deadline that passes while frame %i is read suppresses its packet", async (lateFrame) => {
  const socket = createSocket("udp4").bind(0, LOOPBACK);
  onTestFinished(() => void socket.close());
  await once(socket, "listening");
  const received: number[] = [];
  socket.on("message", (bytes) => void received.push(bytes[RTP_HEADER_BYTES]!));
  const engine = createThreadEngine();
  onTestFinished(() => engine.close());
  const deadlines = { send: Infinity };
  const session = await engine.open(
    { address: LOOPBACK, ports: [20_000, 29_999], sampleRate: 8_000, lossMs: 20_000 },
    { sending() {}, receiving() {}, digit() {}, silent() {}, lost() {} },
    deadlines,
  );
  let frame = 0;
  const read = (samples: Int16Array): number => {
    if (++frame === lateFrame) deadlines.send = -Infinity;
    return samples.fill(loudness(frame)).length;
  };
  session.connect({ read }, { write() {} });
  session.configure(settingsTo(socket.address().port));
  session.start();
  await until(() => frame === lateFrame, "the frame is read");
  deadlines.send = Infinity;
  await until(() => received.includes(muLawOf(lateFrame + 1)), "the packet of the next frame");
  expect(received).not.toContain(muLawOf(lateFrame));
});
