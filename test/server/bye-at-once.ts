// A program that places SIP calls whose callee hangs up as soon as our first packet arrives. Prints the outcome of each.
import { sip } from "../../adapters/telephony/sip/index.ts";
import { Playout } from "../../src/audio/playout/playout.ts";
import { TestLineHost } from "../../src/testing/telephony-host.ts";
import { CallEvents, FrameRecorder } from "../../src/testing/telephony-network.ts";
import { until } from "../../src/testing/waiting.ts";
import { type FarEndCall, startFarEnd } from "../support/sip/far-end.ts";

/** Hangs up as soon as our first packet has arrived: the BYE may still overtake the media thread's report of it. */
async function hangUpImmediately(call: FarEndCall): Promise<void> {
  await until(10_000, "the first packet", () => call.heard.length > 0);
  await call.hangUp();
}

const farEnd = await startFarEnd({ callees: { "*": { acts: hangUpImmediately } } });
const [network] = sip({ trunks: [{ name: "good", server: farEnd.uri }] });
const host = new TestLineHost();
const line = await network!.open(
  { id: "inst_good", userId: "usr_1", name: "good" },
  host,
  new AbortController().signal,
);
await host.reports.next("online", 5_000);
for (let number = 0; number < 10; number++) {
  const to = `+1202555010${number}`;
  const leg = await line.dial(to, { callId: `call_${to}`, ringTimeoutMs: 10_000 }, new AbortController().signal);
  const events = new CallEvents(leg);
  leg.connectMedia(new Playout(leg.sampleRate), new FrameRecorder());
  await events.over;
  console.log(`${events.types.join(" ")}: ${events.cause}`);
}
await network!.close();
await farEnd.close();
