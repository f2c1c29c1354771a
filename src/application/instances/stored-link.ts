import { toHex } from "../../base/hex.ts";
import type { Instance } from "../../domain/instances/instance.ts";
import type { InstancePatch } from "../../ports/storage.ts";
import type { LineHost } from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import { SealedRecords } from "../encryption/sealed-records.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import type { InstanceRecord } from "./instance-record.ts";

/** Dependencies of {@link StoredLink}. */
export type StoredLinkContext = Pick<Context, "ids" | "log" | "shutdownSignal" | "storage" | "system" | "vault">;

/** Stored link of an instance: its number, its credentials and the records of its line. */
export class StoredLink {
  readonly #context: StoredLinkContext;
  readonly #record: InstanceRecord;
  /** The latest erasure of credentials and records. */
  #erasure: Promise<void> | undefined;

  constructor(context: StoredLinkContext, record: InstanceRecord) {
    this.#context = context;
    this.#record = record;
  }

  /**
   * The credentials and records of the link, for one opened line.
   * @param abandonSignal when it is aborted, that line can use neither
   */
  storesFor(abandonSignal: AbortSignal): Pick<LineHost, "credentials" | "records"> {
    const { vault, storage } = this.#context;
    const { id } = this.#record.instance;
    const awaitErasure = async (): Promise<void> => {
      abandonSignal.throwIfAborted();
      await this.#erasure; // from the previous link
    };
    return {
      credentials: vault.credentialsOf(id, storage.instances, () => abandonSignal.throwIfAborted()),
      records: new SealedRecords(id, this.#context, awaitErasure),
    };
  }

  /** Stores a link, after the earlier writes. */
  store(phone: string | null, credentials?: Uint8Array): Promise<void> {
    // Sealed in turn, so that an unlink reported in the meantime is stored after the link.
    return this.#record.writeInTurn(async () => {
      const sealedCredentials = credentials && (await this.#context.vault.seal(this.#record.instance.id, credentials));
      // A number without credentials was configured by the operator, and may dial as before.
      const number =
        sealedCredentials && phone !== null && (await dialledNumber(this.#context, this.#record.instance, phone));
      await this.#record.move({
        input: "link",
        patch: { phone, ...number },
        fact: { event: "instance.linked", data: { phone } },
        sealedCredentials,
      });
    });
  }

  /** Stores, after the earlier writes, that no number is linked, and erases the rest of the link. */
  erase(reason: string): Promise<void> {
    const writePromise = this.#record.writeInTurn(() => this.#storeUnlinked(reason));
    this.#erasure = writePromise.catch(() => {}); // the caller gets the error
    return writePromise;
  }

  /**
   * Stores that the line is online; returns true if the instance is `ACTIVE` now. Call it within
   * `InstanceRecord.writeInTurn`.
   */
  async activate(): Promise<boolean> {
    const record = this.#record;
    if (record.instance.status === "CREATED")
      await record.move({ input: "link", fact: { event: "instance.linked", data: { phone: null } } });
    if (record.instance.status === "CONFIGURED")
      await record.move({ input: "activate", fact: { event: "instance.active", data: {} } });
    return record.instance.status === "ACTIVE";
  }

  async #storeUnlinked(reason: string): Promise<void> {
    const move = {
      input: "unlink",
      patch: { phone: null },
      fact: { event: "instance.unlinked", data: { reason } },
    } as const;
    if (this.#record.instance.status !== "CREATED") return this.#record.move(move);
    // The credentials of an unfinished link.
    await retryUntilStored(this.#context, "the erasure of credentials", () =>
      this.#context.storage.instances.eraseCredentials(this.#record.instance.id),
    );
  }
}

/** Number of hexadecimal digits of a mark: enough that no two numbers share one. */
const MARK_LENGTH = 32;

/**
 * Fields that state since when an instance's dials belong to the number being linked: a number that is linked again
 * keeps its dials, and the first number gets all of them.
 */
async function dialledNumber(
  { vault, system, ids }: Pick<Context, "ids" | "system" | "vault">,
  { id, dialledNumber: previous }: Instance,
  phone: string,
): Promise<Pick<InstancePatch, "dialledNumber">> {
  const key = await vault.signingKey("dialled number");
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${id} ${phone}`));
  const mark = toHex(new Uint8Array(signature)).slice(0, MARK_LENGTH);
  return previous?.mark === mark
    ? {}
    : { dialledNumber: { mark, since: previous ? system.now() : 0, after: ids("call") } };
}
