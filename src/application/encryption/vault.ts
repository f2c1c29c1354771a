import { ConfigurationError } from "../../base/error.ts";
import type { InstanceStore } from "../../ports/storage.ts";
import type { CredentialStore } from "../../ports/telephony.ts";

const NONCE_BYTES = 12;

type Key = ReturnType<typeof crypto.subtle.importKey>;

/**
 * Seals credentials with AES-256-GCM before they reach the storage, bound to the id of their record. Values sealed with
 * a previous key can still be opened.
 */
export class Vault {
  /** The current key, then the previous keys. */
  readonly #keys: readonly [Key, ...Key[]];
  readonly #hkdfKey: ReturnType<typeof crypto.subtle.importKey>;

  /**
   * @param secret 32 bytes
   * @param previousSecrets earlier secrets, for opening only
   */
  constructor(secret: Uint8Array, previousSecrets: readonly Uint8Array[] = []) {
    this.#keys = [keyOf(secret), ...previousSecrets.map(keyOf)];
    this.#hkdfKey = crypto.subtle.importKey("raw", secret.slice(), "HKDF", false, ["deriveKey"]);
  }

  /**
   * A key for HMAC-SHA256, one for each purpose (HKDF, RFC 5869); its signatures are valid on every server with this
   * secret.
   */
  async signingKey(purpose: string): ReturnType<typeof crypto.subtle.deriveKey> {
    const info = new TextEncoder().encode(`ringport ${purpose}`);
    return crypto.subtle.deriveKey(
      { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(32), info },
      await this.#hkdfKey,
      { name: "HMAC", hash: "SHA-256", length: 256 },
      false,
      ["sign", "verify"],
    );
  }

  /** The credentials of one instance. */
  credentialsOf(instanceId: string, instances: InstanceStore, check: () => void = () => {}): CredentialStore {
    return {
      load: async () => {
        check();
        const sealed = await instances.loadCredentials(instanceId);
        if (!sealed) return undefined;
        return this.open(instanceId, sealed);
      },
      save: async (credentials) => {
        check();
        await instances.saveCredentials(instanceId, await this.seal(instanceId, credentials));
      },
      erase: async () => {
        check();
        await instances.eraseCredentials(instanceId);
      },
    };
  }

  /**
   * The content that was sealed for this id.
   * @throws {ConfigurationError} it was sealed with another secret, or for another id
   */
  async open(id: string, sealed: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    for (const key of this.#keys) {
      const content = await openWith(await key, id, sealed);
      if (content) return content;
    }
    throw new ConfigurationError(
      "the stored credentials were sealed with another secret (RINGPORT_SECRET): set that one again, or name it in RINGPORT_PREVIOUS_SECRETS",
    );
  }

  /** True if values may be sealed with a previous key. */
  get hasPrevious(): boolean {
    return this.#keys.length > 1;
  }

  /**
   * The same content, sealed with the current key; `current` if it already was, `unreadable` if no key opens
   * it.
   */
  async reseal(id: string, sealed: Uint8Array): Promise<Uint8Array | "current" | "unreadable"> {
    if (await openWith(await this.#keys[0], id, sealed)) return "current";
    return this.open(id, sealed).then(
      (content) => this.seal(id, content),
      () => "unreadable" as const,
    );
  }

  /** Seals content for this id. */
  async seal(id: string, content: Uint8Array): Promise<Uint8Array> {
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const additionalData = new TextEncoder().encode(id);
    const ciphertext = await crypto.subtle.encrypt(
      { name: "AES-GCM", iv, additionalData },
      await this.#keys[0],
      content.slice(),
    );
    const bytes = new Uint8Array(NONCE_BYTES + ciphertext.byteLength);
    bytes.set(iv);
    bytes.set(new Uint8Array(ciphertext), NONCE_BYTES);
    return bytes;
  }
}

function keyOf(secret: Uint8Array): Key {
  if (secret.length !== 32) throw new TypeError(`the secret has ${secret.length} bytes; it must have 32`);
  return crypto.subtle.importKey("raw", secret.slice(), "AES-GCM", false, ["encrypt", "decrypt"]);
}

/** The content; undefined if it was sealed with another key, or for another id. */
async function openWith(
  key: Awaited<Key>,
  id: string,
  sealed: Uint8Array,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const iv = sealed.slice(0, NONCE_BYTES);
  const additionalData = new TextEncoder().encode(id);
  try {
    const algorithm = { name: "AES-GCM", iv, additionalData };
    return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, sealed.slice(NONCE_BYTES)));
  } catch {
    return undefined;
  }
}
