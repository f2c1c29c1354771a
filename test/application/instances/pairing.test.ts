import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PairingInput } from "../../../src/domain/instances/pairing-input.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { NetworkSilent } from "../../../src/ports/telephony.ts";
import { ALICE, BOB, World } from "../../support/application.ts";
import { fuzz } from "../../support/fuzz.ts";

const PHONE = "+12025550199";

async function scene() {
  const world = await World.start({ pairingCodes: true });
  const instance = await world.newInstance();
  const requestCode = (phone: unknown = PHONE, principal = ALICE) =>
    world.app.instances.pairingCode(principal, instance.id, { phone } as PairingInput);
  return { world, instance, requestCode };
}

describe("a pairing code", () => {
  test("is requested from the network, and links the number once typed", async () => {
    const { world, instance, requestCode } = await scene();
    expect(await requestCode()).toEqual({
      instanceId: instance.id,
      code: "PAIR-0199",
      expiresAt: world.system.now() + 180_000,
      message: expect.stringContaining(PHONE),
    });
    expect((await world.app.instances.get(ALICE, instance.id)).connection.state).toBe("linking");
    await world.line(instance).scan(PHONE);
    await world.system.settle();
    expect(await world.app.instances.get(ALICE, instance.id)).toMatchObject({ status: "ACTIVE", phone: PHONE });
    await expect(requestCode()).rejects.toMatchObject({ code: "instance_already_linked" });
    await world.stop();
  });

  test("is refused for invalid numbers and for other users' instances", async () => {
    const { world, requestCode } = await scene();
    await expect(requestCode("12025550199")).rejects.toMatchObject({
      errors: [{ pointer: "/phone", code: "phone_number_invalid" }],
    });
    await expect(requestCode(PHONE, BOB)).rejects.toMatchObject({ code: "instance_not_found" });
    await world.stop();
  });

  test.each([
    [{}, /has no pairing codes; scan the code of GET \/v1\/instances\/inst_\w+\/configure$/],
    [
      { capabilities: { linking: "operator" } },
      /has no pairing codes; it links automatically as soon as it is online$/,
    ],
  ] as const)("is refused by a network without codes (%o)", async (options, message) => {
    const world = await World.start(options);
    if ("capabilities" in options) world.network.reachability = { state: "offline", reason: "no answer" };
    const { id } = await world.newInstance();
    await expect(world.app.instances.pairingCode(ALICE, id, { phone: PHONE })).rejects.toMatchObject({
      code: "pairing_code_unsupported",
      message: expect.stringMatching(message),
    });
    await world.stop();
  });

  test("is unavailable if its network is no longer mounted", async () => {
    const { world, requestCode } = await scene();
    (world.context.telephony as Map<string, unknown>).clear();
    await expect(requestCode()).rejects.toMatchObject({
      code: "pairing_code_unavailable",
      message: 'no telephony "scripted" is mounted on this server',
    });
    await world.stop();
  });

  test("is refused and abandoned if it does not arrive within ten seconds", async () => {
    const { world, instance, requestCode } = await scene();
    await requestCode();
    const line = world.line(instance);
    line.pairingBarrier = new Promise(() => {});
    const signals: AbortSignal[] = [];
    const pairingCode = line.pairingCode?.bind(line);
    Object.assign(line, {
      pairingCode: (phone: string, signal: AbortSignal) => {
        signals.push(signal);
        return pairingCode?.(phone, signal);
      },
    });
    const rejection = expect(requestCode()).rejects.toMatchObject({
      code: "pairing_code_unavailable",
      message: "no pairing code came within 10000 ms",
    });
    await expect.poll(() => signals.length).toBe(1);
    await world.system.advance(10_000);
    await rejection;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await world.stop();
  });

  test("is refused with the network's reason, but no internal error", async () => {
    const { world, instance, requestCode } = await scene();
    await requestCode();
    const line = world.line(instance);
    line.pairingBarrier = Promise.reject(new NetworkSilent("the network knows no such number"));
    await expect(requestCode()).rejects.toMatchObject({
      code: "pairing_code_unavailable",
      message: "the network knows no such number",
    });
    line.pairingBarrier = Promise.reject(new Error("EACCES: /srv/secret"));
    await expect(requestCode()).rejects.toMatchObject({
      code: "pairing_code_unavailable",
      message: "the network could not be asked; the server's log has the reason",
    });
    await world.stop();
  });
});

const world = await World.start({ pairingCodes: true });
const instance = await world.newInstance();
fuzz(
  "any request for a pairing code gets a response or a refusal",
  fc.asyncProperty(
    fc.oneof(fc.anything(), fc.record({ phone: fc.oneof(fc.string(), fc.anything()) })),
    async (input) => {
      const response = await world.app.instances
        .pairingCode(ALICE, instance.id, input as PairingInput)
        .catch((error: unknown) => error);
      if (!(response instanceof Refusal))
        expect(response).toMatchObject({ code: expect.stringMatching(/^PAIR-\d{4}$/) });
    },
  ),
);
