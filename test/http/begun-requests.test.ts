import { expect, test } from "vitest";
import { nextTurn } from "../../src/base/turn-budget.ts";
import { ask } from "./support/ask.ts";
import { serve } from "./support/fakes.ts";

test("simultaneous requests start in order, a few per turn of the event loop", async () => {
  const startedTokens: string[] = [];
  const { app } = serve({
    http: {
      authenticate: async (token) => {
        startedTokens.push(token);
        return { userId: "usr_anna", tokenId: token };
      },
    },
  });
  const tokens = Array.from({ length: 40 }, (_, n) => `token-${n}`);
  const replies = tokens.map((token) => ask(app, { path: "/v1/calls", headers: { authorization: `Bearer ${token}` } }));
  let maxStarts = 0;
  for (let startedBefore = 0; startedTokens.length < tokens.length; startedBefore = startedTokens.length) {
    await nextTurn();
    maxStarts = Math.max(maxStarts, startedTokens.length - startedBefore);
  }
  expect(maxStarts).toBeLessThanOrEqual(8); // those started before the first check, and those of the next turn
  expect(startedTokens).toEqual(tokens);
  for (const { status } of await Promise.all(replies)) expect(status).toBe(200);
});
