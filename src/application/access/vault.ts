import type { InstanceStore } from "../../ports/storage.ts";
import type { CredentialStore } from "../../ports/telephony.ts";

const NONCE_BYTES = 12;

/** Seals credentials with AES-256-GCM before they reach the storage; the id of their record is bound to them. */
export class Vault {
  readonly #key: ReturnType<typeof crypto.subtle.importKey>;
  readonly #base: ReturnType<typeof crypto.subtle.importKey>;

  /** @param secret 32 bytes */
  constructor(secret: Uint8Array) {
    if (secret.length !== 32) throw new TypeError(`the secret has ${secret.length} bytes; it must have 32`);
    this.#key = crypto.subtle.importKey("raw", secret.slice(), "AES-GCM", false, ["encrypt", "decrypt"]);
    this.#base = crypto.subtle.importKey("raw", secret.slice(), "HKDF", false, ["deriveKey"]);
  }

  /** A key for HMAC-SHA256, another one for each purpose (HKDF, RFC 5869): what it signs is valid on every server with this secret. */
  async signingKey(purpose: string): ReturnType<typeof crypto.subtle.deriveKey> {
    const info = new TextEncoder().encode(`ringport ${purpose}`);
    return crypto.subtle.deriveKey(
      { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(32), info },
      await this.#base,
      { name: "HMAC", hash: "SHA-256", length: 256 },
      false,
      ["sign", "verify"],
    );
  }

  /** The credentials of one instance. */
  of(instanceId: string, instances: InstanceStore): CredentialStore {
    return {
      load: async () => {
        const sealed = await instances.loadCredentials(instanceId);
        if (!sealed) return undefined;
        return this.open(instanceId, sealed);
      },
      save: async (credentials) => instances.saveCredentials(instanceId, await this.seal(instanceId, credentials)),
      erase: () => instances.eraseCredentials(instanceId),
    };
  }

  /** Credentials that were sealed for this id. @throws {Error} they were sealed with another secret, or for another id */
  async open(id: string, sealed: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    const iv = sealed.slice(0, NONCE_BYTES);
    const additionalData = new TextEncoder().encode(id);
    try {
      const algorithm = { name: "AES-GCM", iv, additionalData };
      return new Uint8Array(await crypto.subtle.decrypt(algorithm, await this.#key, sealed.slice(NONCE_BYTES)));
    } catch (cause) {
      throw new Error("the stored credentials were sealed with another secret (RINGPORT_SECRET)", { cause });
    }
  }

  /** Credentials as the storage keeps them. */
  async seal(id: string, credentials: Uint8Array): Promise<Uint8Array> {
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const additionalData = new TextEncoder().encode(id);
    const sealed = await crypto.subtle.encrypt(
      { name: "AES-GCM", iv, additionalData },
      await this.#key,
      credentials.slice(),
    );
    const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength);
    bytes.set(iv);
    bytes.set(new Uint8Array(sealed), NONCE_BYTES);
    return bytes;
  }
}
