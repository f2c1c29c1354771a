import { expect, test } from "vitest";
import { Offers } from "../../../../../../adapters/telephony/whatsapp/session/offers/offers.ts";
import type { WhatsAppClient } from "../../../../../../src/ports/whatsapp-client.ts";
import { ManualSystem } from "../../../../../../src/testing/manual-system.ts";
import { TestLineHost } from "../../../../../../src/testing/telephony-host.ts";

/** Offers of a number whose client returns these time-locks, each after a delay in ms. */
function setUp(reports: readonly (readonly [afterMs: number, isActive: boolean])[]) {
  const system = new ManualSystem();
  const remainingReports = [...reports];
  const getReachoutTimelock = () =>
    new Promise((resolve) => {
      const [afterMs, isActive] = remainingReports.shift() ?? [0, false];
      const enforcementEndsAt = isActive ? Math.ceil(system.now() / 1_000) + 3_600 : null;
      system.after(afterMs, () => resolve({ isActive, enforcementType: null, enforcementEndsAt }));
    });
  const client = { message: { getReachoutTimelock } } as unknown as WhatsAppClient;
  const offers = new Offers({
    system,
    host: new TestLineHost(),
    client: () => client,
    records: () => undefined,
    log() {},
  });
  return { system, offers };
}

test("a report about the lock is ignored after a later request", async () => {
  const { system, offers } = setUp([
    [3_000, true],
    [100, false],
  ]);
  offers.check();
  offers.check(); // the lock has ended
  await system.advance(5_000);
  expect(offers.block(true)).toBeUndefined();
});

test("a late report of no lock does not end a newer one", async () => {
  const { system, offers } = setUp([
    [3_000, false],
    [100, true],
  ]);
  offers.check();
  offers.check();
  await system.advance(5_000);
  expect(offers.block(true)?.release).toBe("paused");
});

test("a call waits for the latest report", async () => {
  const { system, offers } = setUp([
    [100, false],
    [1_000, true],
  ]);
  offers.check();
  const block = offers.waitForQuery().then(() => offers.block(true));
  offers.check();
  await system.advance(2_500);
  expect((await block)?.release).toBe("paused");
});
