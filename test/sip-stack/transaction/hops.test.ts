import { expect, test } from "vitest";
import { responseTo, type SipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";
import type { Hop } from "../../../adapters/sip-stack/transport/transport.ts";
import { type RecordedRequest, request, send } from "./trunk.ts";
import { tcp, udp, Wire } from "./wire.ts";

const URI = "sip:them@there.example";
const FIRST = udp("192.0.2.11");
const SECOND = udp("192.0.2.12");

async function sendRequest(wire: Wire, method = "INVITE", body = ""): Promise<RecordedRequest> {
  const sent = send(wire.transactions, request(method, URI, {}, body), URI);
  await wire.system.settle();
  return sent;
}

/** `udp 192.0.2.11 INVITE` for every sent message. */
function sentMessages(wire: Wire): string[] {
  return wire.sentMessages.map(
    ({ message, flow }) => `${flow.kind} ${flow.remote.address} ${message.kind === "request" && message.method}`,
  );
}

test("an unreachable hop is tried last and probed with increasing pauses", async () => {
  const wire = new Wire();
  wire.hops = [tcp("192.0.2.11"), tcp("192.0.2.12")];
  wire.unreachable.add("tcp 192.0.2.11");
  for (const ms of [0, 29_999, 1, 59_999, 1]) {
    await wire.system.advance(ms);
    await sendRequest(wire);
    wire.answer(200);
  }
  expect(wire.connectionAttempts).toEqual(
    ["11", "12", "12", "11", "12", "12", "11", "12"].map((last) => `tcp 192.0.2.${last}`),
  );
  await wire.transactions.close();
});

test("a failed hop is tried first again after any response to its probe", async () => {
  const wire = new Wire();
  wire.hops = [FIRST, SECOND];
  await sendRequest(wire);
  await wire.system.advance(4_000);
  wire.answer(200);
  const sentBefore = wire.sentMessages.length;
  await wire.system.advance(30_000);
  await sendRequest(wire);
  const [probe] = wire.sentMessages.slice(sentBefore);
  expect(`${probe?.flow.remote.address} ${probe?.message.kind === "request" && probe.message.method}`).toBe(
    "192.0.2.11 OPTIONS",
  );
  expect(sentMessages(wire).at(-1)).toBe("udp 192.0.2.12 INVITE");
  wire.answer(403, { method: "OPTIONS" });
  await wire.system.settle();
  await sendRequest(wire);
  expect(sentMessages(wire).at(-1)).toBe("udp 192.0.2.11 INVITE");
  await wire.transactions.close();
});

test("a hop that responds only to probes is probed less often each time", async () => {
  const wire = new Wire();
  wire.hops = [FIRST, SECOND];
  /** Sends an INVITE that the first hop ignores; returns the hops that were tried. */
  const placeCall = async (): Promise<string[]> => {
    const sentBefore = wire.sentMessages.length;
    await sendRequest(wire);
    const [first] = wire.sentMessages
      .slice(sentBefore)
      .filter(({ message }) => message.kind === "request" && message.method === "INVITE");
    if (first?.flow.remote.address === FIRST.address) await wire.system.advance(4_000);
    wire.answer(200);
    const sent = wire.sentMessages.slice(sentBefore).filter(({ message }) => message.kind === "request");
    return [...new Set(sent.map(({ message, flow }) => `${flow.remote.address} ${(message as SipRequest).method}`))];
  };
  const [inviteToFirst, probeOfFirst, inviteToSecond] = [
    `${FIRST.address} INVITE`,
    `${FIRST.address} OPTIONS`,
    `${SECOND.address} INVITE`,
  ];
  for (const waitMs of [30_000, 60_000, 120_000]) {
    expect(await placeCall()).toEqual([inviteToFirst, inviteToSecond]);
    await wire.system.advance(waitMs - 1);
    expect(await placeCall()).toEqual([inviteToSecond]);
    await wire.system.advance(1);
    expect((await placeCall()).toSorted()).toEqual([probeOfFirst, inviteToSecond]);
    wire.answer(200, { method: "OPTIONS" });
    await wire.system.settle();
  }
  await sendRequest(wire);
  wire.answer(486); // the first hop responds to a call at last
  expect(await placeCall()).toEqual([inviteToFirst, inviteToSecond]);
  await wire.system.advance(30_000);
  expect((await placeCall()).toSorted()).toEqual([probeOfFirst, inviteToSecond]);
  await wire.transactions.close();
});

test.each([408, 503])("a probe's %i leaves the hop last", async (status) => {
  const wire = new Wire();
  wire.hops = [FIRST, SECOND];
  await sendRequest(wire);
  await wire.system.advance(4_000);
  await wire.system.advance(30_000);
  await sendRequest(wire);
  wire.answer(status, { method: "OPTIONS" });
  await wire.system.settle();
  await sendRequest(wire);
  expect(sentMessages(wire).at(-1)).toBe("udp 192.0.2.12 INVITE");
  await wire.transactions.close();
});

test("the trunk's flow avoids a failed hop", async () => {
  const wire = new Wire();
  wire.hops = [tcp("192.0.2.11"), tcp("192.0.2.12")];
  wire.unreachable.add("tcp 192.0.2.11");
  for (let n = 0; n < 2; n++)
    expect((await wire.transactions.flowTo(URI, new AbortController().signal)).remote.address).toBe("192.0.2.12");
  expect(wire.connectionAttempts).toEqual(["11", "12", "12"].map((last) => `tcp 192.0.2.${last}`));
  await wire.transactions.close();
});

test("an unanswered request that may have arrived is reported as unanswered", async () => {
  const outcomeOf = async (
    hops: Hop[],
    act: (wire: Wire) => unknown,
  ): Promise<readonly [string | undefined, boolean]> => {
    const wire = new Wire();
    wire.hops = hops;
    const sent = await sendRequest(wire);
    await act(wire);
    await wire.system.settle();
    const result = [sent.events.at(-1), sent.transaction.isUnanswered] as const;
    await wire.transactions.close();
    return result;
  };
  const refuse = (wire: Wire) => wire.breakFlow(wire.message(0).flow, "refused");
  expect(await outcomeOf([FIRST], (wire) => wire.answer(503))).toEqual(["503", false]);
  expect(await outcomeOf([FIRST], refuse)).toEqual(["refused", false]);
  expect(await outcomeOf([], () => {})).toEqual(["dns", false]);
  // The first copy may have arrived.
  expect(await outcomeOf([FIRST], (wire) => wire.system.advance(500).then(() => refuse(wire)))).toEqual([
    "refused",
    true,
  ]);
  expect(await outcomeOf([FIRST], (wire) => wire.system.advance(32_000))).toEqual(["timeout", true]);
  const failAfterTrying = async (wire: Wire): Promise<void> => {
    wire.answer(100);
    wire.breakFlow(wire.message(0).flow, "closed");
  };
  expect(await outcomeOf([tcp("192.0.2.11")], failAfterTrying)).toEqual(["closed", true]);
  const silentThen503 = async (wire: Wire): Promise<void> => {
    await wire.system.advance(4_000);
    wire.answer(503);
  };
  expect(await outcomeOf([FIRST, SECOND], silentThen503)).toEqual(["503", true]);
});

test("a request without a working hop fails with the last fault", async () => {
  const wire = new Wire();
  wire.hops = [tcp("192.0.2.11"), tcp("192.0.2.12")];
  for (const { address } of wire.hops) wire.unreachable.add(`tcp ${address}`);
  const sent = await sendRequest(wire);
  expect(sent.events).toEqual(["refused"]);
  expect(await sent.end).toMatchObject({ message: "tcp 192.0.2.12 refused" });
});

test("a target without an address fails the request", async () => {
  const wire = new Wire();
  wire.hops = [];
  expect((await sendRequest(wire)).events).toEqual(["dns"]);
});

test("a silent hop costs 8 * T1 before the next one is tried", async () => {
  const wire = new Wire();
  wire.hops = [FIRST, SECOND];
  const sent = await sendRequest(wire);
  await wire.system.advance(4_000);
  expect(sentMessages(wire)).toEqual([...Array(4).fill("udp 192.0.2.11 INVITE"), "udp 192.0.2.12 INVITE"]);
  expect(wire.message(0).message.headers.get("Via")).not.toBe(wire.message(-1).message.headers.get("Via"));
  wire.answer(200);
  expect(sent.events).toEqual(["sent", "sent", "200"]);
  await wire.transactions.close();
});

test("a silent hop that rings late gets CANCEL", async () => {
  const wire = new Wire();
  wire.hops = [FIRST, SECOND];
  const sent = await sendRequest(wire);
  await wire.system.advance(4_000);
  wire.answer(180, { n: 0 });
  await wire.system.settle();
  expect(sentMessages(wire).at(-1)).toBe("udp 192.0.2.11 CANCEL");
  wire.answer(200);
  expect(sent.events).toEqual(["sent", "sent", "200"]);
  await wire.transactions.close();
});

test("a 503 fails over to the next hop; without one it is final", async () => {
  const wire = new Wire();
  wire.hops = [FIRST, SECOND];
  const sent = await sendRequest(wire);
  wire.answer(503);
  await wire.system.settle();
  expect(sentMessages(wire)).toEqual(["udp 192.0.2.11 INVITE", "udp 192.0.2.11 ACK", "udp 192.0.2.12 INVITE"]);
  expect(sent.events).toEqual(["sent", "sent"]);
  wire.answer(503);
  await wire.system.settle();
  expect(sent.events).toEqual(["sent", "sent", "503"]);
  await wire.transactions.close();
});

test("an INVITE with a response is not sent to another hop", async () => {
  const outcomeOf = async (hops: Hop[], act: (wire: Wire) => void): Promise<readonly [string[], string[]]> => {
    const wire = new Wire();
    wire.hops = hops;
    const sent = await sendRequest(wire);
    act(wire);
    await wire.system.settle();
    const invites = sentMessages(wire).filter((line) => line.endsWith("INVITE"));
    await wire.transactions.close();
    return [sent.events, invites];
  };
  const connections = [tcp("192.0.2.11"), tcp("192.0.2.12")];
  const ringThenFail = (wire: Wire): void => {
    wire.answer(180);
    wire.answer(503);
  };
  expect(await outcomeOf([FIRST, SECOND], ringThenFail)).toEqual([["sent", "180", "503"], ["udp 192.0.2.11 INVITE"]]);
  for (const status of [100, 180]) {
    const breakFlow = (wire: Wire): void => {
      wire.answer(status);
      wire.breakFlow(wire.message(0).flow, "closed");
    };
    const end = [["sent", `${status}`, "closed"], ["tcp 192.0.2.11 INVITE"]];
    expect(await outcomeOf(connections, breakFlow)).toEqual(end);
  }
  const tryThenFail = (wire: Wire): void => {
    wire.answer(100);
    wire.answer(503);
  };
  expect((await outcomeOf([FIRST, SECOND], tryThenFail))[1]).toEqual([
    "udp 192.0.2.11 INVITE",
    "udp 192.0.2.12 INVITE",
  ]);
});

test("our address is trusted from OPTIONS and REGISTER only", async () => {
  const wire = new Wire();
  for (const method of ["OPTIONS", "REGISTER", "INVITE", "BYE"]) {
    await sendRequest(wire, method);
    const { message, flow } = wire.message(-1);
    const response = responseTo(message as SipRequest, 200, "");
    const via = response.headers.get("Via") ?? "";
    response.headers.set("Via", via.replace("rport", "rport=40001;received=203.0.113.7"));
    wire.deliver(response, flow);
  }
  expect(wire.learnedAddresses).toHaveLength(4);
  expect(wire.trustedAddresses).toHaveLength(2);
  await wire.transactions.close();
});

test("a 503 is final if the other hops are unreachable", async () => {
  const wire = new Wire();
  wire.hops = [tcp("192.0.2.11"), tcp("192.0.2.12")];
  wire.unreachable.add("tcp 192.0.2.12");
  const sent = await sendRequest(wire, "OPTIONS");
  wire.answer(503, { method: "OPTIONS" });
  await wire.system.settle();
  expect(sent.events).toEqual(["sent", "503"]);
});

test("a series of requests stays with the last responding server", async () => {
  const wire = new Wire();
  wire.hops = [FIRST, SECOND];
  await sendRequest(wire, "REGISTER");
  wire.answer(401, { method: "REGISTER" });
  const callId = wire.message(0).message.headers.get("Call-ID") ?? "";
  wire.hops = [SECOND, FIRST]; // shuffled
  const sendAgain = async (): Promise<void> => {
    send(wire.transactions, request("REGISTER", URI, { "Call-ID": callId }), URI);
    await wire.system.settle();
  };
  await sendAgain();
  await sendRequest(wire, "REGISTER");
  wire.breakFlow(wire.message(0).flow, "refused");
  await wire.system.settle();
  await sendAgain();
  const [viaFirst, viaSecond] = ["udp 192.0.2.11 REGISTER", "udp 192.0.2.12 REGISTER"];
  expect(sentMessages(wire)).toEqual([viaFirst, viaFirst, viaSecond, viaSecond, viaSecond]);
  await wire.transactions.close();
});

test("other final responses do not fail over", async () => {
  const wire = new Wire();
  wire.hops = [FIRST, SECOND];
  const sent = await sendRequest(wire);
  wire.answer(500);
  await wire.system.settle();
  expect(sent.events).toEqual(["sent", "500"]);
  await wire.transactions.close();
});

test("a cancelled request does not fail over", async () => {
  const wire = new Wire();
  wire.hops = [FIRST, SECOND];
  const sent = await sendRequest(wire);
  sent.transaction.cancel();
  wire.answer(503);
  await wire.system.settle();
  expect(sent.events).toEqual(["sent", "503"]);
  const unanswered = await sendRequest(wire);
  unanswered.transaction.cancel();
  await wire.system.advance(4_000);
  expect(unanswered.events).toEqual(["sent", "timeout"]);
  await wire.transactions.close();
});

test("a refused datagram fails over to the next hop", async () => {
  const wire = new Wire();
  wire.hops = [FIRST, SECOND];
  await sendRequest(wire);
  wire.breakFlow(wire.message(0).flow, "refused");
  await wire.system.settle();
  expect(sentMessages(wire)).toEqual(["udp 192.0.2.11 INVITE", "udp 192.0.2.12 INVITE"]);
  await wire.transactions.close();
});

test("a request of more than 1300 bytes uses TCP if the peer accepts it", async () => {
  const longBody = "x".repeat(1_200);
  const wire = new Wire();
  await sendRequest(wire, "INVITE", longBody);
  await sendRequest(wire, "INVITE", "short");
  expect(sentMessages(wire)).toEqual(["tcp 192.0.2.11 INVITE", "udp 192.0.2.11 INVITE"]);
  expect(wire.message(0).message.headers.get("Via")).toMatch(/^SIP\/2\.0\/TCP /);
  await wire.transactions.close();
  const udpOnly = new Wire();
  udpOnly.unreachable.add("tcp 192.0.2.11");
  await sendRequest(udpOnly, "INVITE", longBody);
  await sendRequest(udpOnly, "INVITE", longBody);
  expect(sentMessages(udpOnly)).toEqual(["udp 192.0.2.11 INVITE", "udp 192.0.2.11 INVITE"]);
  expect(udpOnly.message(0).message.headers.list("Via")).toHaveLength(1);
  expect(udpOnly.connectionAttempts.filter((name) => name.startsWith("tcp"))).toHaveLength(1);
  await udpOnly.system.advance(10 * 60_000);
  await sendRequest(udpOnly, "INVITE", longBody);
  expect(udpOnly.connectionAttempts.filter((name) => name.startsWith("tcp"))).toHaveLength(2);
  await udpOnly.transactions.close();
});

test("a long request stays on UDP by URI, and returns to it on failure", async () => {
  const longBody = "x".repeat(1_200);
  const wire = new Wire();
  wire.hops = [{ ...FIRST, isTransportFixed: true }];
  await sendRequest(wire, "INVITE", longBody);
  expect(sentMessages(wire)).toEqual(["udp 192.0.2.11 INVITE"]);
  wire.hops = [FIRST];
  await sendRequest(wire, "OPTIONS", longBody);
  wire.breakFlow(wire.message(-1).flow, "closed");
  await wire.system.settle();
  expect(sentMessages(wire).slice(1)).toEqual(["tcp 192.0.2.11 OPTIONS", "udp 192.0.2.11 OPTIONS"]);
  const unanswered = await sendRequest(wire, "INVITE", longBody);
  expect(sentMessages(wire).at(-1)).toBe("tcp 192.0.2.11 INVITE");
  await wire.system.advance(3_999);
  expect(unanswered.events).toEqual(["sent"]);
  await wire.system.advance(1);
  expect(unanswered.events).toEqual(["sent", "sent"]);
  expect(sentMessages(wire).at(-1)).toBe("udp 192.0.2.11 INVITE");
  await wire.system.advance(32_000);
  expect(unanswered.events).toEqual(["sent", "sent", "timeout"]);
  await wire.transactions.close();
});

test("a slow server that rings over TCP after the datagram gets CANCEL", async () => {
  const wire = new Wire();
  const sent = await sendRequest(wire, "INVITE", "x".repeat(1_200));
  await wire.system.advance(4_000);
  wire.answer(180, { n: 0 });
  await wire.system.settle();
  expect(sentMessages(wire)).toEqual(["tcp 192.0.2.11 INVITE", "udp 192.0.2.11 INVITE", "tcp 192.0.2.11 CANCEL"]);
  wire.answer(482);
  expect(sent.events).toEqual(["sent", "sent", "482"]);
  await wire.transactions.close();
});
