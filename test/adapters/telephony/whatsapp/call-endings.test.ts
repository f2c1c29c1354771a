import { describe, expect, test } from "vitest";
import { whatsapp } from "../../../../adapters/telephony/whatsapp/index.ts";
import { DEADLINE_PASSED, type DialError, type Leg, type LegEvent } from "../../../../src/ports/telephony.ts";
import { type FakeNumber, FakeWhatsApp } from "../../../../src/testing/index.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { TestLineHost } from "../../../../src/testing/telephony-host.ts";

const CALLEE = "+5511987654321";

interface DialledCall {
  readonly events: LegEvent[];
  leg?: Leg;
  error?: DialError;
}

/** A linked number, opened as the core does. */
async function linkNumber(callee: FakeNumber) {
  const system = new ManualSystem({ seed: 1 });
  const network = new FakeWhatsApp(system);
  network.number(CALLEE, callee);
  const host = new TestLineHost();
  const telephony = whatsapp({ client: network.client, system });
  const instance = { id: "inst_1", userId: "alice", name: "Front desk" };
  const line = await telephony.open(instance, host, new AbortController().signal);
  const linking = line.link?.();
  await system.advance(1_000);
  await linking;
  const code = host.reports.all.flatMap((report) => (report.type === "code" ? [report.code.payload] : [])).at(-1) ?? "";
  network.scan(code, "+5511912345678");
  await system.advance(1_000);
  const dial = (): DialledCall => {
    const dialledCall: DialledCall = { events: [] };
    line.dial(CALLEE, { callId: "call_1", ringTimeoutMs: 60_000 }, new AbortController().signal).then(
      async (leg) => {
        dialledCall.leg = leg;
        for await (const event of leg.events) dialledCall.events.push(event);
      },
      (error) => {
        dialledCall.error = error;
      },
    );
    return dialledCall;
  };
  return { system, network, host, line, dial };
}

const ANSWERS: FakeNumber = { devices: [{ does: "answer", afterMs: 3_000 }] };

const endOf = ({ events }: DialledCall) => events.find((event) => event.type === "ended");
const typesOf = ({ events }: DialledCall) => events.map(({ type }) => type);

describe("a call that loses its line", () => {
  test.each(["close", "unlink"] as const)("%s during a dial leaves no phone ringing", async (end) => {
    const { system, network, line, dial } = await linkNumber(ANSWERS);
    network.clientOf().disturb("startCall", { afterMs: 300 });
    network.clientOf().disturb("disconnect", { afterMs: 800 });
    const dialledCall = dial();
    await system.advance(100);
    let hasEnded = false;
    void line[end]?.().then(() => {
      hasEnded = true;
    });
    await system.advance(10_000);
    expect(hasEnded).toBe(true);
    expect(network.calls.map((call) => ({ ended: call.ended !== undefined, answeredBy: call.answeredBy }))).toEqual([
      { ended: true, answeredBy: undefined },
    ]);
    expect(dialledCall.error).toMatchObject({ release: "released" });
  });

  test("an offer sent after the line stopped waiting for it is withdrawn", async () => {
    const { system, network, line, dial } = await linkNumber(ANSWERS);
    network.clientOf().disturb("startCall", { afterMs: 1_500 });
    network.clientOf().disturb("disconnect", { afterMs: 1_000 });
    const dialledCall = dial();
    await system.advance(100);
    void line.close();
    await system.advance(10_000);
    expect(network.calls.map((call) => call.ended !== undefined)).toEqual([true]);
    expect(dialledCall.error).toMatchObject({ release: "released" });
  });

  test.each(["answered", "ringing"] as const)("hangs up first if the server loses its lease (%s)", async (state) => {
    const { system, network, host, line, dial } = await linkNumber({
      devices: [{ does: "answer", afterMs: state === "answered" ? 500 : 60_000 }],
    });
    const dialledCall = dial();
    await system.advance(2_000);
    host.deadlines.send = host.deadlines.dial = system.monotonic();
    await system.advance(10_000);
    expect(network.call().ended).toBe("caller");
    expect(endOf(dialledCall)).toEqual({ type: "ended", cause: "line_lost", detail: DEADLINE_PASSED });
    expect(await line.probe()).toMatchObject({ state: "offline" });
    expect(network.clientOf().getState().connected).toBe(false);
  });

  test("delays the end of the connection by at most a second", async () => {
    const { system, network, host, dial } = await linkNumber(ANSWERS);
    dial();
    await system.advance(5_000);
    network.clientOf().disturb("endCall", "hang");
    host.deadlines.send = host.deadlines.dial = system.monotonic();
    let elapsedMs = 0;
    for (; network.clientOf().getState().connected && elapsedMs < 20_000; elapsedMs += 100) await system.advance(100);
    // The deadline is checked every second during a call; then a late renewal has 2 s.
    expect(elapsedMs).toBeLessThanOrEqual(4_200);
  });

  test("ends when WhatsApp restricts the number, without further logins", async () => {
    const { system, network, line, dial } = await linkNumber(ANSWERS);
    const dialledCall = dial();
    await system.advance(5_000);
    network.refuses = 402;
    network.clientOf().fail(402, { expire: "600" });
    await system.advance(590_000);
    expect(endOf(dialledCall)).toMatchObject({ cause: "line_lost", detail: expect.stringContaining("(402)") });
    expect(network.logins.filter(({ refused }) => refused !== undefined)).toEqual([]);
    network.refuses = undefined;
    await system.advance(60_000);
    expect(await line.probe()).toEqual({ state: "online" });
  });

  test("is not connected until a frame is sent", async () => {
    const { system, host, dial } = await linkNumber({ devices: [{ does: "answer", afterMs: 500 }] });
    const dialledCall = dial();
    await system.advance(300);
    host.deadlines.send = system.monotonic() + 100;
    await system.advance(1_000);
    expect(typesOf(dialledCall)).toContain("answered");
    expect(typesOf(dialledCall)).not.toContain("connected");
    host.deadlines.send = Infinity;
    await system.advance(1_000);
    expect(typesOf(dialledCall)).toContain("connected");
  });
});
