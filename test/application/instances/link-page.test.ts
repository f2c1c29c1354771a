import * as fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { Vault } from "../../../src/application/encryption/vault.ts";
import { LinkTickets } from "../../../src/application/instances/link-tickets.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import type { ScriptedLine } from "../../../src/testing/scripted-telephony.ts";
import { ALICE, BOB, World } from "../../support/application.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";

async function scene() {
  const world = await World.start();
  const instance = await world.newInstance();
  const { ticket, expiresAt } = await world.app.instances.linkTicket(ALICE, instance.id);
  return { world, instance, ticket, expiresAt, page: (text = ticket) => world.app.instances.linkPage(text) };
}

describe("a link page", () => {
  test("shows the current code, and the number once it is linked", async () => {
    const { world, instance, page } = await scene();
    expect(await page()).toMatchObject({ name: instance.name, linked: false, code: { sequence: 1 } });
    const line = world.line(instance);
    line.showCode();
    expect(await page()).toMatchObject({ code: { sequence: 2 } });
    await line.scan("+12025550177");
    await world.system.settle();
    expect(await page()).toEqual({ name: instance.name, linked: true, phone: "+12025550177" });
    await world.stop();
  });

  test("names only reasons meant for the phone's owner", async () => {
    const { world, instance, page } = await scene();
    await page();
    await world.system.advance(20_000); // the code has expired
    const refusal = async () => {
      let failure: unknown;
      page().catch((error: unknown) => {
        failure = error;
      });
      const advanceTime = async () => {
        await world.system.advance(1_000);
        return failure;
      };
      await expect.poll(advanceTime, { interval: 1 }).toBeDefined(); // the signature is checked in real time
      return failure;
    };
    expect(await refusal()).toMatchObject({ code: "qr_unavailable", message: "there is no code at the moment" });
    world.line(instance).showCondition("qr_expired", "the codes have expired; load this page again");
    expect(await refusal()).toMatchObject({
      message: "there is no code at the moment: the codes have expired; load this page again",
    });
    await world.stop();
  });

  test("has expired if the clock was ahead when it was created", async () => {
    const { world, page } = await scene();
    world.system.jump(-60_000);
    expect(await page()).toMatchObject({ linked: false });
    world.system.jump(-366 * 24 * 3_600_000);
    await expect(page()).rejects.toMatchObject({ code: "link_page_expired" });
    await world.stop();
  });

  test("works for an hour, to the millisecond", async () => {
    const { world, expiresAt, page } = await scene();
    expect(expiresAt).toBe(world.system.now() + 3_600_000);
    await world.system.advance(3_599_999);
    expect(await page()).toMatchObject({ linked: false });
    await world.system.advance(1);
    await expect(page()).rejects.toMatchObject({ code: "link_page_expired" });
    await world.stop();
  });

  test("outlives the server's restart, not its instance", async () => {
    const { world, instance, ticket } = await scene();
    const restartedWorld = await world.crashAndRestart();
    expect(await restartedWorld.app.instances.linkPage(ticket)).toMatchObject({ linked: false });
    await restartedWorld.app.instances.delete(ALICE, instance.id);
    await expect(restartedWorld.app.instances.linkPage(ticket)).rejects.toMatchObject({ code: "link_page_not_found" });
    await restartedWorld.stop();
  });

  test("is created only by the instance's owner, and only before a number is linked", async () => {
    const { world, instance } = await scene();
    const { instances } = world.app;
    await expect(instances.linkTicket(BOB, instance.id)).rejects.toMatchObject({ code: "instance_not_found" });
    await instances.configure(ALICE, instance.id);
    await world.line(instance).scan();
    await expect(instances.linkTicket(ALICE, instance.id)).rejects.toMatchObject({ code: "instance_already_linked" });
    await world.stop();
  });

  test("is not created for a network that the operator links", async () => {
    const world = await World.start({ capabilities: { linking: "operator" } });
    world.network.reachability = { state: "offline", reason: "the trunk of the secret customer is down" };
    const { id } = await world.app.instances.create(ALICE, { name: "Trunk" });
    await expect(world.app.instances.linkTicket(ALICE, id)).rejects.toMatchObject({ code: "qr_unavailable" });
    await world.stop();
  });

  test("does not reveal why there is no code", async () => {
    const { world, instance, page } = await scene();
    await page();
    const line = world.line(instance);
    line.goOffline("the secret gateway is down");
    const heldLinks = holdLinks(line);
    const rejection = expect(page()).rejects.toMatchObject({
      code: "qr_unavailable",
      message: "there is no code at the moment",
    });
    await heldLinks.requested(1);
    await world.system.advance(10_000);
    await rejection;
    await world.stop();
  });

  test("has at most ten requests waiting for a code at once", async () => {
    const { world, instance, page } = await scene();
    await page();
    const heldLinks = holdLinks(world.line(instance));
    const pages = Array.from({ length: 10 }, () => page());
    await heldLinks.requested(10);
    await expect(page()).rejects.toMatchObject({ code: "server_busy" });
    heldLinks.release();
    await Promise.all(pages);
    expect(await page()).toMatchObject({ linked: false });
    await world.stop();
  });
});

/** Holds requests to a line. A ticket's signature is checked on another thread, which no manual clock waits for. */
function holdLinks(line: ScriptedLine) {
  let release = () => {};
  line.linkBarrier = new Promise<void>((resolve) => {
    release = resolve;
  });
  const link = line.link.bind(line);
  let requestCount = 0;
  line.link = () => {
    requestCount++;
    return link();
  };
  return {
    release,
    requested: (times: number) => vi.waitFor(() => expect(requestCount).toBe(times), { timeout: 60_000 }),
  };
}

describe("a link page's ticket", () => {
  const system = new ManualSystem();
  const createTickets = (secret: number) => new LinkTickets(new Vault(new Uint8Array(32).fill(secret)), system);
  const INSTANCE = "inst_01k7zq0f8vf1c9m2x4s6t8w0ya";

  test("is read by every server with the secret, and by no other", async () => {
    const { ticket } = await createTickets(1).issue(INSTANCE);
    expect(await createTickets(1).read(ticket)).toEqual({ instanceId: INSTANCE, isExpired: false });
    expect(await createTickets(2).read(ticket)).toBeUndefined();
  });

  const tickets = createTickets(1);
  const issuedTicket = tickets.issue(INSTANCE);
  const index = fc.nat(140);
  const character = fc.constantFrom(..."0123456789abcdefzA._/");
  fuzz(
    "is not read once a character is changed, added or removed",
    fc.asyncProperty(index, character, fc.constantFrom(0, 1, 2), async (at, replacement, removedCount) => {
      const { ticket } = await issuedTicket;
      const text = ticket.slice(0, at) + replacement.repeat(2 - removedCount) + ticket.slice(at + 1);
      fc.pre(text !== ticket);
      expect(await tickets.read(text)).toBeUndefined();
    }),
  );

  fuzz(
    "is not accepted from arbitrary text",
    fc.asyncProperty(fc.oneof(fc.string(), fc.string({ unit: CODE_POINT, maxLength: 300 })), async (text) => {
      expect(await tickets.read(text)).toBeUndefined();
      expect(await tickets.read(`${INSTANCE}.${text}.${"0".repeat(64)}`)).toBeUndefined();
    }),
  );
});
