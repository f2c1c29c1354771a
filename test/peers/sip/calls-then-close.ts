// A program that places calls of every kind over SIP trunks and closes them. It ends when no handle is left:
// no socket, no timer, no worker. Prints the outcome of each call.
import { createSocket } from "node:dgram";
import { sip, type Trunk } from "../../../adapters/telephony/sip/index.ts";
import { Playout } from "../../../src/audio/playout/playout.ts";
import { TestLineHost } from "../../../src/testing/telephony-host.ts";
import { CallEvents, FrameRecorder } from "../../../src/testing/telephony-network.ts";
import { callees, startFarEnd } from "../../support/sip/far-end.ts";

const farEnd = await startFarEnd({
  callees: {
    "+12025550101": callees.speaks,
    "+12025550102": callees.busy,
    "+12025550103": callees.rings,
    "+12025550104": callees.noCommonCodec,
    "+12025550105": callees.speaks,
  },
  registrar: { challenge: { user: "agent", password: "s3cret" }, expires: 60 },
});
const goodTrunk = {
  server: farEnd.uri,
  user: "agent",
  password: "s3cret",
  register: true,
  codecs: ["opus", "PCMU"],
} as const;
/** Receives every datagram and never responds. */
const silentServer = createSocket("udp4");
await new Promise<void>((resolve) => silentServer.bind(0, "127.0.0.1", resolve));
const trunks: readonly Trunk[] = [
  { name: "good", ...goodTrunk },
  { name: "nowhere", server: "sip:nowhere.invalid", probe: "none" },
  { name: "refused", server: "sip:127.0.0.1:9;transport=tcp", probe: "none" },
  { name: "silent", server: `sip:127.0.0.1:${silentServer.address().port}`, probe: "none" },
];

/** Places one call, acts on it, and prints its end; a call that is left is closed with everything else. */
async function call(trunk: string, to: string, act: "hang up" | "wait" | "leave"): Promise<void> {
  const line = lines.get(trunk)!;
  const report = (cause: string): void => console.log(`${trunk} ${to} ${cause}`);
  try {
    const leg = await line.dial(to, { callId: `call_${to}`, ringTimeoutMs: 10_000 }, new AbortController().signal);
    const events = new CallEvents(leg);
    leg.connectMedia(new Playout(leg.sampleRate), new FrameRecorder());
    if (act === "hang up") await events.next(to.endsWith("3") ? "alerting" : "connected", 5_000);
    if (act === "leave") await events.next(trunk === "silent" ? "placed" : "connected", 5_000);
    if (act === "hang up") await leg.hangUp();
    if (act !== "leave") report((await events.next("ended", 10_000)).cause);
  } catch (fault) {
    report((fault as { release?: string }).release ?? String(fault));
  }
}

const networks = sip({ trunks });
const lines = new Map(
  await Promise.all(
    networks.map(async (network) => {
      const host = new TestLineHost();
      const name = network.name.slice("sip/".length);
      const line = await network.open(
        { id: `inst_${name}`, userId: "usr_1", name },
        host,
        new AbortController().signal,
      );
      await host.reports.next("online", 5_000);
      return [name, line] as const;
    }),
  ),
);
await Promise.all([
  call("good", "+12025550101", "hang up"),
  call("good", "+12025550102", "wait"),
  call("good", "+12025550103", "hang up"),
  call("good", "+12025550104", "wait"),
  call("good", "+12025550105", "leave"),
  call("nowhere", "+12025550101", "wait"),
  call("refused", "+12025550101", "wait"),
  call("silent", "+12025550101", "leave"),
]);
const closingAt = performance.now();
await Promise.all(networks.map((network) => network.close()));
console.log(`closed within ${Math.ceil((performance.now() - closingAt) / 1_000)} s`);
console.log(`registered for ${farEnd.registrations.at(-1)?.expires} s at the end`);
console.log(`calls left: ${farEnd.calls.filter(({ end }) => end === undefined).length}`);
await farEnd.close();
silentServer.close();
