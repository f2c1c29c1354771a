import { expect, test } from "vitest";
import { StreamTickets } from "../../../src/http/stream/stream-tickets.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

const OF = { callId: "call_1", userId: "usr_1", credential: "rp_live_x" };

test("a ticket replaces its token once, on its call, within a minute", async () => {
  const system = new ManualSystem();
  const tickets = new StreamTickets(system);
  const { ticket, expiresAt } = await tickets.issue(OF);
  expect(expiresAt).toBe(system.now() + 60_000);
  expect(await tickets.redeem(ticket, "call_2")).toBeUndefined();
  expect(await tickets.redeem(ticket, "call_1")).toBe("rp_live_x");
  expect(await tickets.redeem(ticket, "call_1")).toBeUndefined();
  const late = await tickets.issue(OF);
  await system.advance(59_999);
  const [one, two] = await Promise.all([tickets.redeem(late.ticket, "call_1"), tickets.redeem(late.ticket, "call_1")]);
  expect([one, two].filter(Boolean)).toEqual(["rp_live_x"]);
  const expired = await tickets.issue(OF);
  await system.advance(60_000);
  expect(await tickets.redeem(expired.ticket, "call_1")).toBeUndefined();
});

test("unused tickets are bounded per user and in total, until they expire", async () => {
  const system = new ManualSystem();
  const tickets = new StreamTickets(system);
  for (let i = 0; i < 100; i++) await tickets.issue(OF);
  await expect(tickets.issue(OF)).rejects.toMatchObject({ code: "server_busy" });
  for (let user = 2; user <= 100; user++)
    for (let i = 0; i < 100; i++) await tickets.issue({ ...OF, userId: `usr_${user}` });
  await expect(tickets.issue({ ...OF, userId: "usr_new" })).rejects.toMatchObject({ code: "server_busy" });
  await system.advance(60_000);
  await tickets.issue(OF);
});
