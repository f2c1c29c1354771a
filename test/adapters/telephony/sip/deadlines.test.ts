import { createSocket } from "node:dgram";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { TestLineHost } from "../../../../src/testing/telephony-host.ts";
import { until } from "../../../sip-stack/media/two-ends.ts";

/** Time longer than the pause before an INVITE's first retransmission (T1, RFC 3261 section 17.1.1.1), ms. */
const RETRANSMISSION_MS = 700;

/** A line on a trunk whose peer sends no response, and the number of INVITEs that the peer has received. */
async function silentTrunk() {
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  onTestFinished(() => void socket.close());
  await once(socket, "listening");
  const methods: string[] = [];
  socket.on("message", (bytes) => void methods.push(bytes.toString().split(" ", 1)[0] ?? ""));
  const server = `sip:127.0.0.1:${socket.address().port}`;
  const [telephony] = sip({ trunks: [{ name: "silent", server, probe: "none" }], media: "thread" });
  if (!telephony) throw new Error("no telephony");
  onTestFinished(() => telephony.close());
  const host = new TestLineHost();
  const line = await telephony.open(
    { id: "inst_1", userId: "usr_1", name: "Desk" },
    host,
    new AbortController().signal,
  );
  await host.reports.next("online", 5_000);
  const dial = () =>
    line.dial("+12025550100", { callId: "call_1", ringTimeoutMs: 60_000 }, new AbortController().signal);
  const invites = () => methods.filter((method) => method === "INVITE").length;
  return { host, dial, invites };
}

test("an INVITE is not retransmitted after its deadline unless that is extended", async () => {
  const { host, dial, invites } = await silentTrunk();
  await dial();
  await until(() => invites() === 1, "the first INVITE");
  host.deadlines.send = -Infinity;
  await pause(RETRANSMISSION_MS);
  expect(invites()).toBe(1);
  host.deadlines.send = Infinity;
  await until(() => invites() === 2, "the retransmission");
});

test("a deadline during dialling prevents the INVITE", async () => {
  const { host, dial, invites } = await silentTrunk();
  const dialling = dial();
  host.deadlines.dial = host.deadlines.send = -Infinity;
  await expect(dialling).rejects.toMatchObject({ name: "DialError", release: "line_lost" });
  await pause(100);
  expect(invites()).toBe(0);
});
