import { expect, test } from "vitest";
import { nextTurn } from "../../src/base/turn-budget.ts";
import { ask } from "./support/ask.ts";
import { serve } from "./support/fakes.ts";

test("of many simultaneous requests, few start per turn of the event loop, in order", async () => {
  const begun: string[] = [];
  const { app } = serve({
    http: {
      authenticate: async (token) => {
        begun.push(token);
        return { userId: "usr_anna", tokenId: token };
      },
    },
  });
  const tokens = Array.from({ length: 40 }, (_, n) => `token-${n}`);
  const replies = tokens.map((token) => ask(app, { path: "/v1/calls", headers: { authorization: `Bearer ${token}` } }));
  let most = 0;
  for (let before = 0; begun.length < tokens.length; before = begun.length) {
    await nextTurn();
    most = Math.max(most, begun.length - before);
  }
  expect(most).toBeLessThanOrEqual(8); // those started before the first check, and those of the next turn
  expect(begun).toEqual(tokens);
  for (const { status } of await Promise.all(replies)) expect(status).toBe(200);
});
