import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CACHE_MS,
  NumberResolver,
  RESOLVE_MS,
} from "../../../../../adapters/telephony/whatsapp/calls/number-resolver.ts";
import type { WhatsAppClient } from "../../../../../src/ports/whatsapp-client.ts";
import { ManualSystem } from "../../../../../src/testing/manual-system.ts";
import { fuzz } from "../../../../support/fuzz.ts";
import { ANA, CallScene } from "./scene.ts";

/** A client whose network returns this response. */
function clientWithResponse(answer: (numbers: readonly string[]) => unknown) {
  const queries: string[][] = [];
  const client = {
    profile: {
      getLidsByPhoneNumbers: async (numbers: readonly string[]) => {
        queries.push([...numbers]);
        return answer(numbers);
      },
    },
  };
  return { queries, client: client as unknown as WhatsAppClient };
}

const existingNumber = (number: string, lidJid: string | null = null) => ({
  phoneJid: `${number}@s.whatsapp.net`,
  lidJid,
  exists: true,
  invalid: false,
});
const missingNumber = (number: string) => ({ ...existingNumber(number), exists: false });
const neverAborted = new AbortController().signal;

describe("a number", () => {
  test("is queried in both forms at once; the one on WhatsApp is called", async () => {
    const { queries, client } = clientWithResponse(([first = "", second = ""]) => [
      missingNumber(first),
      existingNumber(second, "99@lid"),
    ]);
    const numbers = new NumberResolver(new ManualSystem());
    expect(await numbers.resolve(client, ANA, neverAborted)).toMatchObject({
      phoneJid: "551187654321@s.whatsapp.net",
      address: "99@lid",
    });
    expect(queries).toEqual([["5511987654321", "551187654321"]]);
  });

  test("is called as given if both forms are on WhatsApp, and by number without a hidden address", async () => {
    const { client } = clientWithResponse((queriedNumbers) => queriedNumbers.map((number) => existingNumber(number)));
    const numbers = new NumberResolver(new ManualSystem());
    expect((await numbers.resolve(client, ANA, neverAborted)).address).toBe("5511987654321@s.whatsapp.net");
  });

  test.each([
    ["missing", ([first = ""]: readonly string[]) => [missingNumber(first)]],
    ["invalid", ([first = ""]: readonly string[]) => [{ ...existingNumber(first), invalid: true }]],
    ["unanswered", () => []],
  ])("is not a WhatsApp number if it is %s, and the lookup is not cached", async (_, answer) => {
    const { queries, client } = clientWithResponse(answer);
    const numbers = new NumberResolver(new ManualSystem());
    for (const _attempt of [1, 2])
      await expect(numbers.resolve(client, ANA, neverAborted)).rejects.toMatchObject({ release: "number_invalid" });
    expect(queries.length).toBe(2);
  });

  test("is remembered for an hour", async () => {
    const system = new ManualSystem();
    const { queries, client } = clientWithResponse(([first = ""]) => [existingNumber(first)]);
    const numbers = new NumberResolver(system);
    await numbers.resolve(client, ANA, neverAborted);
    await system.advance(CACHE_MS - 1);
    await numbers.resolve(client, ANA, neverAborted);
    expect(queries.length).toBe(1);
    await system.advance(2);
    await numbers.resolve(client, ANA, neverAborted);
    expect(queries.length).toBe(2);
    numbers.forget(ANA);
    await numbers.resolve(client, ANA, neverAborted);
    expect(queries.length).toBe(3);
  });

  test("is dropped from the cache after a thousand others", async () => {
    const { queries, client } = clientWithResponse(([first = ""]) => [existingNumber(first)]);
    const numbers = new NumberResolver(new ManualSystem());
    await numbers.resolve(client, ANA, neverAborted);
    for (let i = 0; i < 1_000; i++) await numbers.resolve(client, `+4930${100_000 + i}`, neverAborted);
    await numbers.resolve(client, ANA, neverAborted);
    expect(queries.length).toBe(1_002);
  });

  test("lets the call wait if the lookup takes 10 s", async () => {
    const system = new ManualSystem();
    const { client } = clientWithResponse(() => new Promise(() => {}));
    const dialError = new NumberResolver(system).resolve(client, ANA, neverAborted).catch((error: unknown) => error);
    await system.advance(RESOLVE_MS);
    expect(await dialError).toMatchObject({ release: "line_lost", retryAfterMs: 5_000 });
    expect(String(await dialError)).toContain("no response within 10 s");
  });

  test("lets the call wait if the lookup fails", async () => {
    const { client } = clientWithResponse(() => {
      throw new Error("rate-overlimit");
    });
    const dialling = new NumberResolver(new ManualSystem()).resolve(client, ANA, neverAborted);
    await expect(dialling).rejects.toMatchObject({ release: "line_lost", retryAfterMs: 5_000 });
  });

  test.each([true, false])(
    "is checked right before ringing, in the form that is on WhatsApp: %s",
    async (isAllowed) => {
      const scene = await CallScene.start();
      const queries: string[] = [];
      const mayCall = async (phone: string) => {
        queries.push(phone);
        return isAllowed;
      };
      const dialledCall = scene.dial("+551187654321", { mayCall });
      expect(queries).toEqual([]); // WhatsApp has not responded yet
      await scene.system.advance(1_000);
      expect(queries).toEqual([ANA]);
      expect(scene.network.calls).toHaveLength(isAllowed ? 1 : 0);
      if (!isAllowed) expect(dialledCall.error).toMatchObject({ release: "rejected_by_network" });
    },
  );

  test("does not ring after a late hang-up", async () => {
    const scene = await CallScene.start();
    const mayCall = async () => {
      scene.abort.abort();
      return true;
    };
    const dialledCall = scene.dial(ANA, { mayCall });
    await scene.system.advance(1_000);
    expect(scene.network.calls).toEqual([]);
    expect(dialledCall.error).toMatchObject({ release: "released" });
  });

  test("is no longer awaited after a hang-up", async () => {
    const scene = await CallScene.start();
    scene.client.disturb("getLidsByPhoneNumbers", "hang");
    const dialledCall = scene.dial();
    await scene.system.advance(1_000);
    scene.abort.abort();
    await scene.system.settle();
    expect(dialledCall.error).toMatchObject({ release: "released" });
  });

  fuzz(
    "is resolved or refused for a response of any shape",
    fc.asyncProperty(
      fc.oneof(
        fc.anything(),
        fc.array(
          fc.record(
            {
              phoneJid: fc.oneof(fc.constant("551187654321@s.whatsapp.net"), fc.anything()),
              lidJid: fc.oneof(fc.constant("12@lid"), fc.anything()),
              exists: fc.oneof(fc.constant(true), fc.anything()),
              invalid: fc.oneof(fc.constant(false), fc.anything()),
            },
            { requiredKeys: [] },
          ),
        ),
      ),
      async (answer) => {
        const { client } = clientWithResponse(() => answer);
        const resolution = await new NumberResolver(new ManualSystem())
          .resolve(client, ANA, neverAborted)
          .catch((error: { release?: string }) => error.release);
        if (typeof resolution === "object") expect(resolution.address).toMatch(/^\d+@(lid|s\.whatsapp\.net)$/);
        else expect(resolution).toBe("number_invalid");
      },
    ),
  );
});
