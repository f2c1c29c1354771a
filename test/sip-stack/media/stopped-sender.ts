import process from "node:process";
import { createEngine } from "../../../adapters/sip-stack/media/create-engine.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { realSystem } from "../../../src/ports/system.ts";

// Sends the audio of a call. Arguments: port, place of the media engine, duration in ms.

const [port, place, ms] = process.argv.slice(2);
const engine = await createEngine({
  system: realSystem,
  logger: silentLogger,
  place: place === "worker" ? "worker" : "thread",
});
const deadlines = { send: Infinity };
const session = await engine.open(
  { address: "127.0.0.1", ports: [40_000, 42_000], sampleRate: 8_000, lossMs: 20_000 },
  { sending() {}, receiving() {}, digit() {}, silent() {}, lost: (detail) => console.log(detail) },
  deadlines,
);
session.connect({ read: (frame) => frame.fill(1_000).length }, { write() {} });
const remote = { address: "127.0.0.1", port: Number(port) };
session.configure({
  remote,
  remoteRtcp: remote,
  rtcpMux: true,
  codec: "PCMU",
  payloadType: { send: 0, receive: 0 },
  telephoneEvent: undefined,
  ptimeMs: 20,
  srtp: undefined,
  direction: "sendrecv",
});
deadlines.send = realSystem.monotonic() + Number(ms);
session.start();
