import { expect, test } from "vitest";
import { expectInOrder } from "../../../src/testing/telephony-contract/order.ts";
import { withTools } from "../tools.ts";
import { openTrunk } from "./caller.ts";
import { startSipp } from "./sipp.ts";
import { accept, ack, expectBye, expectInvite, ringing } from "./sipp-script.ts";
import { SENT_HZ, toneIn } from "./sound.ts";
import { Stage } from "./stage.ts";
import { echoThenHangUp, SCENARIOS } from "./stories.ts";

withTools("a callee who", ["sipp"], () => {
  const stage = new Stage();
  for (const [
    i,
    { title, steps, trunk, transport, act = echoThenHangUp, cause, detail, forbiddenEvents = [] },
  ] of SCENARIOS.entries())
    test.concurrent(title, async () => {
      const callee = await startSipp(stage, title, steps.join(""), { ...(transport ? { transport } : {}) });
      const { dial } = await openTrunk(stage, { server: callee.uri, ...trunk }, `story-${i}`);
      const call = await dial();
      await act(call).catch((fault: Error) => {
        throw new Error(
          `${fault.message}\n${JSON.stringify(call.leg.statistics?.())}\n${call.events.types}\n${callee.errors()}\n${callee.messages()}`,
          { cause: fault },
        );
      });
      const endEvent = await call.events.next("ended", 10_000);
      await callee.done;
      expect(endEvent.cause).toBe(cause);
      if (detail) expect(endEvent.detail).toMatch(detail);
      expectInOrder(
        expect,
        call.events.types.filter((type) => type !== "noted"),
      );
      for (const type of forbiddenEvents) expect(call.events.types).not.toContain(type);
    });

  test.concurrent("forty calls at once are all carried", async () => {
    // Over TCP: a slow sipp cannot distinguish a repeated INVITE from another one.
    const steps = [expectInvite(), ringing, accept(), ack, expectBye].join("");
    const callee = await startSipp(stage, "forty", steps, { transport: "tcp", calls: 40 });
    const { dial } = await openTrunk(stage, { server: callee.uri }, "forty");
    const ends = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const { leg, events, recorder } = await dial(`+120255502${String(i).padStart(2, "0")}`);
        await events.next("connected", 8_000);
        // They share one port of the echo, which returns each call's own audio.
        await toneIn(recorder, leg.sampleRate, SENT_HZ, 300);
        await leg.hangUp();
        await events.over;
        return events.cause;
      }),
    );
    expect(new Set(ends)).toEqual(new Set(["released"]));
    await callee.done;
  });
});
