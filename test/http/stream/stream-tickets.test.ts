import { expect, test } from "vitest";
import { StreamTickets } from "../../../src/http/stream/stream-tickets.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

const OF = { path: "/v1/calls/call_1/stream", userId: "usr_1", credential: "rp_live_x" };

test("a ticket replaces its token once, on its path, within a minute", async () => {
  const system = new ManualSystem();
  const tickets = new StreamTickets(system);
  const { ticket, expiresAt } = await tickets.issue(OF);
  expect(expiresAt).toBe(system.now() + 60_000);
  expect(await tickets.redeem(ticket, "/v1/calls/call_1/listen")).toBeUndefined();
  expect(await tickets.redeem(ticket, OF.path)).toBe("rp_live_x");
  expect(await tickets.redeem(ticket, OF.path)).toBeUndefined();
  const late = await tickets.issue(OF);
  await system.advance(59_999);
  const [one, two] = await Promise.all([tickets.redeem(late.ticket, OF.path), tickets.redeem(late.ticket, OF.path)]);
  expect([one, two].filter(Boolean)).toEqual(["rp_live_x"]);
  const expired = await tickets.issue(OF);
  await system.advance(60_000);
  expect(await tickets.redeem(expired.ticket, OF.path)).toBeUndefined();
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
