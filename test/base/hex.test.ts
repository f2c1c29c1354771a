import { expect, it, vi } from "vitest";
import { randomKey } from "../../src/base/hex.ts";
import { createClient } from "../../src/client/index.ts";

it("a random key has 128 bits, and differs from the next", () => {
  expect(randomKey()).toMatch(/^[0-9a-f]{32}$/);
  expect(randomKey()).not.toBe(randomKey());
});

it("a page over plain HTTP, without crypto.randomUUID, sends an idempotency key with each creation", async () => {
  const { crypto } = globalThis;
  vi.stubGlobal("crypto", { getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes) });
  const keys: (string | null)[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    keys.push(request.headers.get("idempotency-key"));
    return Response.json({}, { status: 201 });
  };
  try {
    const client = createClient({ url: "http://192.168.0.2:8080", fetch });
    await client.instances.create({ name: "Desk" });
    await client.instances.create({ name: "Desk" });
  } finally {
    vi.unstubAllGlobals();
  }
  expect(new Set(keys).size).toBe(2);
  expect(keys.every((key) => key !== null)).toBe(true);
});
