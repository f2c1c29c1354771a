import { describe, expect, test } from "vitest";
import { type PlaceCall, WhatsAppLine } from "../../../../adapters/telephony/whatsapp/line.ts";
import { Queue } from "../../../../src/base/queue.ts";
import { DEADLINE_PASSED, DialError, type Leg, type LegEvent } from "../../../../src/ports/telephony.ts";
import { PHONE, SessionScene } from "./session/sessions.ts";

const OPTIONS = { callId: "call_1", ringTimeoutMs: 60_000 };

/** A line over a scripted network, with scripted calls. */
class LineScene extends SessionScene {
  readonly placedNumbers: string[] = [];
  readonly hungUpNumbers: string[] = [];
  closedCount = 0;
  /** Makes placing calls slow or fail. */
  placement: Promise<unknown> = Promise.resolve();
  /** False for a leg that does not hang up. */
  hangsUp = true;
  readonly line: WhatsAppLine = new WhatsAppLine({
    ...{ host: this.host, session: this.session, system: this.system },
    place: (...args) => this.#place(...args),
    onClosed: () => this.closedCount++,
  });

  dial(to: string, signal: AbortSignal = new AbortController().signal): Promise<Leg | DialError> {
    return this.line.dial(to, OPTIONS, signal).catch((error: DialError) => error);
  }

  readonly #place: PlaceCall = async (_port, to, _options, signal, onEnded) => {
    await this.placement;
    this.placedNumbers.push(to);
    const end = () => {
      this.hungUpNumbers.push(to);
      onEnded();
    };
    const hangUp = async () => {
      if (!this.hangsUp) return new Promise<void>(() => {});
      end();
    };
    signal.addEventListener("abort", () => void hangUp(), { once: true });
    const events = new Queue<LegEvent>();
    return { sampleRate: 16_000, frameMs: 60, events, connectMedia() {}, hangUp };
  };
}

const openLinked = () => new LineScene().linkNumber() as Promise<LineScene>;
const refusal = (result: Leg | DialError) => (result instanceof DialError ? [result.release, result.message] : result);

describe("a WhatsApp line", () => {
  test("dials only while it is linked and online, and otherwise names the reason", async () => {
    const scene = new LineScene();
    expect(refusal(await scene.dial("+12025550100"))).toEqual(["unreachable", "the line is not linked"]);
    await scene.linkNumber();
    scene.client.dropSocket(2_000);
    expect(refusal(await scene.dial("+12025550100"))).toEqual([
      "line_lost",
      "the line is offline: the connection to WhatsApp dropped",
    ]);
    await scene.system.advance(10_000);
    expect(await scene.dial("+12025550100")).not.toBeInstanceOf(DialError);
    await scene.line.close();
    expect(refusal(await scene.dial("+12025550100"))).toEqual(["unreachable", "the line is closed"]);
    expect(scene.placedNumbers).toEqual(["+12025550100"]);
  });

  test("a restricted number does not dial", async () => {
    const scene = await openLinked();
    scene.client.fail(402);
    await scene.system.settle();
    const result = await scene.dial("+12025550100");
    expect(refusal(result)).toEqual(["line_lost", expect.stringContaining("restricted")]);
  });

  test("does not dial after the deadline, or with an aborted signal", async () => {
    const scene = await openLinked();
    scene.host.deadlines.dial = -Infinity;
    expect(refusal(await scene.dial("+12025550100"))).toEqual(["line_lost", DEADLINE_PASSED]);
    scene.host.deadlines.dial = Infinity;
    expect(refusal(await scene.dial("+12025550100", AbortSignal.abort()))).toEqual(["released", expect.any(String)]);
    expect(scene.placedNumbers).toEqual([]);
  });

  test("carries one call at a time, even while one is being placed", async () => {
    const scene = await openLinked();
    const first = scene.dial("+12025550100");
    const second = await scene.dial("+12025550101");
    expect(refusal(second)).toEqual(["line_lost", "the number is already in a call, and carries one at a time"]);
    expect((second as DialError).retryAfterMs).toBe(1_000);
    const leg = (await first) as Leg;
    expect(refusal(await scene.dial("+12025550101"))).toEqual(refusal(second));
    await leg.hangUp();
    expect(await scene.dial("+12025550101")).not.toBeInstanceOf(DialError);
  });

  test("a call that could not be placed leaves the line free", async () => {
    const scene = await openLinked();
    scene.placement = Promise.reject(new DialError("number_invalid", "not on WhatsApp"));
    scene.placement.catch(() => {});
    expect(refusal(await scene.dial("+12025550108"))).toEqual(["number_invalid", "not on WhatsApp"]);
    scene.placement = Promise.resolve();
    expect(await scene.dial("+12025550100")).not.toBeInstanceOf(DialError);
  });

  test.each(["unlink", "close"] as const)("%s hangs up over the open connection", async (end) => {
    const scene = await openLinked();
    await scene.dial("+12025550100");
    let wasConnected: boolean | undefined;
    const push = scene.hungUpNumbers.push.bind(scene.hungUpNumbers);
    scene.hungUpNumbers.push = (to) => {
      wasConnected = scene.client.getState().connected;
      return push(to);
    };
    const ending = Promise.all([scene.line[end](), scene.line[end]()]);
    await scene.system.advance(10_000);
    await ending;
    expect(wasConnected).toBe(true);
    expect(scene.client.getState().connected).toBe(false);
  });

  test("closing ends in time if a call does not, and aborts a call being placed", async () => {
    const hangingScene = await openLinked();
    await hangingScene.dial("+12025550100");
    hangingScene.hangsUp = false;
    const closing = hangingScene.line.close();
    await hangingScene.system.advance(4_500);
    await closing;
    expect(hangingScene.closedCount).toBe(1);

    const scene = await openLinked();
    let finishPlacing = () => {};
    scene.placement = new Promise<void>((resolve) => {
      finishPlacing = resolve;
    });
    const dialledCall = scene.dial("+12025550100");
    const secondClosing = scene.line.close();
    await scene.system.advance(4_500);
    await secondClosing;
    finishPlacing();
    const leg = (await dialledCall) as Leg;
    await leg.hangUp();
    expect(scene.hungUpNumbers).toContain("+12025550100");
  });

  test("links with a QR code or a pairing code, and probes", async () => {
    const scene = new LineScene();
    expect(await scene.line.probe()).toMatchObject({ state: "offline" });
    const linking = scene.line.link();
    await scene.system.advance(1_000);
    await linking;
    const pairing = scene.line.pairingCode(PHONE, new AbortController().signal);
    await scene.system.advance(1_000);
    scene.network.typeCode((await pairing).code, PHONE);
    await scene.system.advance(1_000);
    expect(await scene.line.probe()).toEqual({ state: "online" });
  });
});
