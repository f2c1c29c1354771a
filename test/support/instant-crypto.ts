import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import { vi } from "vitest";

interface Hkdf {
  readonly salt: Uint8Array;
  readonly info: Uint8Array;
}

interface Aes {
  readonly iv: Uint8Array;
  readonly additionalData: Uint8Array;
}

const TAG_BYTES = 16;

/**
 * Makes WebCrypto compute HKDF, HMAC and AES-GCM immediately instead of on another thread, for which a manual clock
 * does not wait. `vi.restoreAllMocks()` ends it.
 */
export function instantCrypto(): void {
  const { subtle } = crypto;
  const spy = (name: "importKey" | "deriveKey" | "sign" | "encrypt" | "decrypt", run: (...args: never[]) => unknown) =>
    vi.spyOn(subtle, name as "sign").mockImplementation((async (...args: never[]) => run(...args)) as never);
  spy("importKey", (_format, raw) => raw);
  spy("deriveKey", ({ salt, info }: Hkdf, key, { length }: { length: number }) =>
    Buffer.from(hkdfSync("sha256", key, salt, info, length / 8)),
  );
  spy("sign", (_name, key, content) => createHmac("sha256", key).update(content).digest());
  spy("encrypt", ({ iv, additionalData }: Aes, key, plaintext) => {
    const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(additionalData);
    return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  });
  spy("decrypt", ({ iv, additionalData }: Aes, key, ciphertext: Uint8Array) => {
    const cipher = createDecipheriv("aes-256-gcm", key, iv).setAAD(additionalData);
    cipher.setAuthTag(ciphertext.subarray(-TAG_BYTES));
    return Buffer.concat([cipher.update(ciphertext.subarray(0, -TAG_BYTES)), cipher.final()]);
  });
}
