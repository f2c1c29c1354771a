import { expect, test } from "vitest";
import { StreamTickets } from "../../../src/http/stream/stream-tickets.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

const REQUEST = { path: "/v1/calls/call_1/stream", userId: "usr_1", credential: "rp_live_x" };

test("a ticket replaces its token once, on its path, within a minute", async () => {
  const system = new ManualSystem();
  const tickets = new StreamTickets(system);
  const { ticket, expiresAt } = await tickets.issue(REQUEST);
  expect(expiresAt).toBe(system.now() + 60_000);
  expect(await tickets.redeem(ticket, "/v1/calls/call_1/listen")).toBeUndefined();
  expect(await tickets.redeem(ticket, REQUEST.path)).toBe("rp_live_x");
  expect(await tickets.redeem(ticket, REQUEST.path)).toBeUndefined();
  const secondTicket = await tickets.issue(REQUEST);
  await system.advance(59_999);
  const [firstResult, secondResult] = await Promise.all([
    tickets.redeem(secondTicket.ticket, REQUEST.path),
    tickets.redeem(secondTicket.ticket, REQUEST.path),
  ]);
  expect([firstResult, secondResult].filter(Boolean)).toEqual(["rp_live_x"]);
  const expiredTicket = await tickets.issue(REQUEST);
  await system.advance(60_000);
  expect(await tickets.redeem(expiredTicket.ticket, REQUEST.path)).toBeUndefined();
});

test("unused tickets are bounded per user and in total, until they expire", async () => {
  const system = new ManualSystem();
  const tickets = new StreamTickets(system);
  for (let i = 0; i < 100; i++) await tickets.issue(REQUEST);
  await expect(tickets.issue(REQUEST)).rejects.toMatchObject({ code: "server_busy" });
  for (let user = 2; user <= 100; user++)
    for (let i = 0; i < 100; i++) await tickets.issue({ ...REQUEST, userId: `usr_${user}` });
  await expect(tickets.issue({ ...REQUEST, userId: "usr_new" })).rejects.toMatchObject({ code: "server_busy" });
  await system.advance(60_000);
  await tickets.issue(REQUEST);
});
