import { describe, expect, test } from "vitest";
import { Vault } from "../../../src/application/encryption/vault.ts";
import type { InstanceStore } from "../../../src/ports/storage.ts";

const SECRET = new Uint8Array(32).fill(1);
const bytes = (text: string) => new TextEncoder().encode(text);

/** Creates an in-memory store of credentials. */
function store() {
  const storedCiphertexts = new Map<string, Uint8Array>();
  const instances = {
    saveCredentials: async (id: string, ciphertext: Uint8Array) => void storedCiphertexts.set(id, ciphertext),
    loadCredentials: async (id: string) => storedCiphertexts.get(id),
    eraseCredentials: async (id: string) => void storedCiphertexts.delete(id),
  } as unknown as InstanceStore;
  return { storedCiphertexts, instances };
}

describe("sealed credentials", () => {
  test("are returned unchanged, at any length", async () => {
    const { instances } = store();
    const sealedCredentials = new Vault(SECRET).credentialsOf("inst_a", instances);
    for (const credentials of [bytes(""), bytes("key"), new Uint8Array(100_000).fill(9)]) {
      await sealedCredentials.save(credentials);
      expect(await sealedCredentials.load()).toEqual(credentials);
    }
  });

  test("are not readable in the storage, and never the same twice", async () => {
    const { storedCiphertexts, instances } = store();
    const credentials = new Vault(SECRET).credentialsOf("inst_a", instances);
    await credentials.save(bytes("the secret key of a phone"));
    const first = storedCiphertexts.get("inst_a");
    await credentials.save(bytes("the secret key of a phone"));
    const second = storedCiphertexts.get("inst_a");
    expect(second).not.toEqual(first);
    expect(new TextDecoder().decode(second)).not.toContain("secret");
  });

  test("can be opened only for their instance", async () => {
    const { storedCiphertexts, instances } = store();
    const vault = new Vault(SECRET);
    await vault.credentialsOf("inst_a", instances).save(bytes("key"));
    storedCiphertexts.set("inst_b", storedCiphertexts.get("inst_a")!);
    await expect(vault.credentialsOf("inst_b", instances).load()).rejects.toThrow();
  });

  test("sealed with another secret are refused; the error names the setting", async () => {
    const { instances } = store();
    await new Vault(SECRET).credentialsOf("inst_a", instances).save(bytes("key"));
    const otherCredentials = new Vault(new Uint8Array(32).fill(2)).credentialsOf("inst_a", instances);
    await expect(otherCredentials.load()).rejects.toThrow(
      "sealed with another secret (RINGPORT_SECRET): set that one again, or name it in RINGPORT_PREVIOUS_SECRETS",
    );
  });

  test("sealed with a previous secret are opened, and resealed with the current one", async () => {
    const { storedCiphertexts, instances } = store();
    const [first, second, third] = [1, 2, 3].map((n) => new Uint8Array(32).fill(n)) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    await new Vault(first).credentialsOf("inst_a", instances).save(bytes("key"));
    const ciphertext = storedCiphertexts.get("inst_a") as Uint8Array;
    const rotatedVault = new Vault(third, [second, first]);
    expect(await rotatedVault.open("inst_a", ciphertext)).toEqual(bytes("key"));
    expect(await rotatedVault.reseal("inst_b", ciphertext)).toBe("unreadable");
    const resealedCiphertext = await rotatedVault.reseal("inst_a", ciphertext);
    expect(await new Vault(third).open("inst_a", resealedCiphertext as Uint8Array)).toEqual(bytes("key"));
    expect(await rotatedVault.reseal("inst_a", resealedCiphertext as Uint8Array)).toBe("current");
    expect([rotatedVault.hasPrevious, new Vault(third).hasPrevious]).toEqual([true, false]);
  });

  test("are refused after tampering anywhere", async () => {
    const { storedCiphertexts, instances } = store();
    const credentials = new Vault(SECRET).credentialsOf("inst_a", instances);
    await credentials.save(bytes("key"));
    const ciphertext = storedCiphertexts.get("inst_a")!;
    for (let at = 0; at < ciphertext.length; at++) {
      const alteredCiphertext = ciphertext.slice();
      alteredCiphertext[at]! ^= 1;
      storedCiphertexts.set("inst_a", alteredCiphertext);
      await expect(credentials.load(), `byte ${at}`).rejects.toThrow();
    }
    storedCiphertexts.set("inst_a", ciphertext.slice(0, 5));
    await expect(credentials.load()).rejects.toThrow();
  });

  test("are undefined before the first save and after deletion", async () => {
    const { instances } = store();
    const credentials = new Vault(SECRET).credentialsOf("inst_a", instances);
    expect(await credentials.load()).toBeUndefined();
    await credentials.save(bytes("key"));
    await credentials.erase();
    expect(await credentials.load()).toBeUndefined();
  });
});

test.each([0, 16, 31, 33])("a secret of %i bytes is refused", (length) => {
  expect(() => new Vault(new Uint8Array(length))).toThrow(`has ${length} bytes`);
});
