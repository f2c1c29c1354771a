import { afterEach, expect, test, vi } from "vitest";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { type FarEnd, startFarEnd } from "../../../support/sip/far-end.ts";
import { field, parameter, readSip, writeSip } from "../../../support/sip/sip-text.ts";
import { type DatagramPeer, datagramPeer, Opened } from "../transport/sockets.ts";
import { LiveAgent, type LiveCall } from "./support/live-agent.ts";

const opened = new Opened();
afterEach(() => opened.close());

/** An answered call, and the port of ours that it lives on. */
async function answered(system?: ManualSystem): Promise<{ farEnd: FarEnd; call: LiveCall; port: number }> {
  const farEnd = opened.add(await startFarEnd({ callees: { bob: {} } }));
  const live = opened.add(new LiveAgent(farEnd.uri, system && { system }));
  const call = live.call("bob");
  await call.told("answered");
  const invite = farEnd.calls[0]!.requests[0]!.text;
  return { farEnd, call, port: Number(/:(\d+)/.exec(field(invite, "Via").replace(/^.*?UDP /, ""))?.[1]) };
}

/** An INVITE of a scanner that waits for no answer. */
function stray(n: number, { address, port }: DatagramPeer): Buffer {
  return writeSip({
    start: "INVITE sip:100@127.0.0.1 SIP/2.0",
    fields: [
      ["Via", `SIP/2.0/UDP ${address}:${port};branch=z9hG4bKstray${n};rport`],
      ["Max-Forwards", "70"],
      ["From", `<sip:scanner@${address}>;tag=${n}`],
      ["To", "<sip:100@127.0.0.1>"],
      ["Call-ID", `stray-${n}`],
      ["CSeq", "1 INVITE"],
    ],
    body: "",
  });
}

test("a flood of calls to us from a server's address leaves room for the BYE, and is answered once each", async () => {
  const system = new ManualSystem();
  const { farEnd, call, port } = await answered(system);
  const scanner = opened.add(await datagramPeer());
  for (let sent = 0; sent < 4_200; ) {
    for (let n = 0; n < 100; n++) scanner.send(stray(sent++, scanner), port);
    await vi.waitFor(() => expect(scanner.received.length).toBeGreaterThanOrEqual(sent), 5_000);
  }
  await system.advance(500); // a response that is kept would be repeated now
  farEnd.calls[0]!.hangUp();
  await call.told("ended bye");
  const responses = scanner.received.map(({ text }) => readSip(Buffer.from(text)));
  expect(new Set(responses.map(({ start }) => start))).toEqual(new Set(["SIP/2.0 480 Temporarily Unavailable"]));
  expect(new Set(responses.map((text) => parameter(field(text, "Via"), "branch"))).size).toBe(4_200);
  expect(responses).toHaveLength(4_200);
});

test("calls to us from anywhere else are not answered at all", async () => {
  const { farEnd, call, port } = await answered();
  const scanner = opened.add(await datagramPeer("127.0.0.2"));
  for (let n = 0; n < 200; n++) scanner.send(stray(n, scanner), port, "127.0.0.1");
  farEnd.calls[0]!.hangUp();
  await call.told("ended bye");
  expect(scanner.received).toEqual([]);
});
