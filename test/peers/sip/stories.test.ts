import { expect, test } from "vitest";
import { expectInOrder } from "../../../src/testing/telephony-contract/order.ts";
import { withTools } from "../tools.ts";
import { openTrunk } from "./caller.ts";
import { startSipp } from "./sipp.ts";
import { Stage } from "./stage.ts";
import { echoedThenOver, STORIES } from "./stories.ts";

withTools("a callee who", ["sipp"], () => {
  const stage = new Stage();
  for (const [
    i,
    { title, steps, trunk, transport, act = echoedThenOver, cause, detail, never = [] },
  ] of STORIES.entries())
    test.concurrent(title, async () => {
      const callee = await startSipp(stage, title, steps.join(""), { ...(transport ? { transport } : {}) });
      const { dial } = await openTrunk(stage, { server: callee.uri, ...trunk }, `story-${i}`);
      const call = await dial();
      await act(call).catch((fault: Error) => {
        throw new Error(`${fault.message}\n${call.events.types}\n${callee.messages()}`, { cause: fault });
      });
      const ended = await call.events.next("ended", 10_000);
      await callee.done;
      expect(ended.cause).toBe(cause);
      if (detail) expect(ended.detail).toMatch(detail);
      expectInOrder(
        expect,
        call.events.types.filter((type) => type !== "noted"),
      );
      for (const type of never) expect(call.events.types).not.toContain(type);
    });
});
