import { within } from "../../../../../src/base/timers.ts";
import type { Logger } from "../../../../../src/ports/logger.ts";
import type { System } from "../../../../../src/ports/system.ts";
import type { LineRecords } from "../../../../../src/ports/telephony/line-records.ts";
import { type LineHost, NetworkSilent } from "../../../../../src/ports/telephony.ts";
import type { WhatsAppClientFactory } from "../../../../../src/ports/whatsapp-client.ts";
import type { ResolvedNumber } from "../../calls/number-resolver.ts";
import { isContact } from "../../store/privacy-token-store.ts";
import { privacyTokensOf } from "../../store/whatsapp-store.ts";
import { newSessionId, type SessionId } from "../records/link-credentials.ts";
import { SessionRecords } from "../records/session-records.ts";
import { SupervisedClient, type WhatsAppClientListener } from "./supervised-client.ts";

/** Time limit for deleting the records, ms. */
const DELETION_MS = 3_000;
/** Time limit for a client's last writes when the line is closed, ms. */
const FLUSH_MS = 1_500;
/** Time limit for searching contacts' tokens, ms: a call waits for the result. */
const CONTACT_MS = 2_000;

/** Options of {@link SessionClients}. */
export interface SessionClientsOptions {
  readonly instanceId: string;
  readonly host: LineHost;
  readonly system: System;
  readonly logger: Logger;
  readonly make: WhatsAppClientFactory;
  /** Resolves when the number may log in; may never do so once `isWanted` returns false. */
  readonly turn: (isWanted: () => boolean) => Promise<void>;
  /** Receives the current client's reports only. */
  readonly listener: WhatsAppClientListener;
}

/** The successive clients of a session: each logout invalidates the client. */
export class SessionClients {
  readonly #options: SessionClientsOptions;
  #current: SupervisedClient | undefined;
  #records: SessionRecords | undefined;
  #sessionId: SessionId | undefined;
  #ended: Promise<void> = Promise.resolve();
  /** Clients that were replaced because they did not disconnect. */
  #stuckClients: readonly SupervisedClient[] = [];

  constructor(options: SessionClientsOptions) {
    this.#options = options;
  }

  get current(): SupervisedClient | undefined {
    return this.#current;
  }

  /** True if a client that was replaced may still act for the session. */
  get hasStrays(): boolean {
    this.#stuckClients = this.#stuckClients.filter((client) => client.isStray);
    return this.#stuckClients.length > 0;
  }

  /** The session whose keys the current client uses. */
  get sessionId(): SessionId | undefined {
    return this.#sessionId;
  }

  /** The records of the current client. */
  get records(): LineRecords | undefined {
    return this.#records;
  }

  /** Creates a new client and connects it. @param sessionId the session whose keys it uses. Default: a new one */
  open(sessionId?: SessionId): void {
    const { host, system, logger, instanceId, make, turn, listener } = this.#options;
    const id = sessionId ?? newSessionId((bytes) => system.random(bytes));
    const records = new SessionRecords(host.records, system, this.#records);
    const previousEnd = this.#ended;
    const client: SupervisedClient = new SupervisedClient({
      async make() {
        await previousEnd; // records that are being deleted must not be read or written
        return await make({ instanceId, sessionId: id, records });
      },
      turn,
      system,
      logger,
      instanceId,
      listener: {
        input: (input) => {
          if (this.#current === client) listener.input(input);
        },
        voip: (event) => listener.voip(event),
        stanza: (stanza) => listener.stanza(stanza),
        timelock: () => {
          if (this.#current === client) listener.timelock();
        },
      },
    });
    this.#sessionId = id;
    this.#current = client;
    this.#records = records;
    client.connect(sessionId !== undefined);
  }

  /**
   * Reconnects; a client that does not even disconnect is replaced. @param logsIn true if a number is linked @param
   * resumedId the session whose keys the first client uses
   */
  reconnect(logsIn: boolean, resumedId: SessionId | undefined): void {
    const client = this.#current;
    if (client !== undefined && !client.isStuck) {
      client.connect(logsIn);
      return;
    }
    if (client !== undefined) this.#stuckClients = [...this.#stuckClients, client];
    this.#end((stuckClient) => stuckClient.drop());
    this.open(this.#sessionId ?? resumedId);
  }

  /** Disconnects the current client permanently and stores its pending writes. */
  drop(): void {
    const { system, logger, instanceId } = this.#options;
    const records = this.#records;
    const createTimeoutError = () => new NetworkSilent(`the storage did not accept them within ${FLUSH_MS} ms`);
    this.#end(async (client) => {
      await client.drop();
      await within(records?.retire() ?? Promise.resolve(), {
        system,
        ms: FLUSH_MS,
        timeoutError: createTimeoutError,
      }).catch((error: unknown) =>
        logger.warn({ instance_id: instanceId, err: error }, "whatsapp: the last keys of the client were not stored"),
      );
      records?.cutOff();
    });
  }

  /** Removes the current client's device at WhatsApp, and disconnects it permanently. */
  logOut(): void {
    this.#end((client) => client.logOut());
  }

  /** Deletes the stored data of clients, once the ended ones have finished, because a logout uses the keys. */
  forget(): void {
    const { host, system, logger, instanceId } = this.#options;
    const records = this.#records;
    this.#records = undefined;
    this.#sessionId = undefined;
    const deleteRecords = async (): Promise<void> => {
      records?.cutOff();
      await records?.flushed();
      await host.records.clear();
    };
    const createTimeoutError = () => new NetworkSilent(`the records were not deleted within ${DELETION_MS} ms`);
    const deletion = this.#ended
      .then(() => within(deleteRecords(), { system, ms: DELETION_MS, timeoutError: createTimeoutError }))
      .catch((error: unknown) =>
        logger.warn({ instance_id: instanceId, err: error }, "whatsapp: the keys of a link could not be deleted"),
      );
    this.#endAfter(deletion);
  }

  /** True if the current client has a privacy token of this callee; false if that cannot be determined in time. */
  async isContact(callee: ResolvedNumber): Promise<boolean> {
    const { system, logger, instanceId } = this.#options;
    if (this.#records === undefined || this.#sessionId === undefined) return false;
    const tokens = privacyTokensOf(this.#records, this.#sessionId);
    const createTimeoutError = () => new NetworkSilent(`the storage did not respond within ${CONTACT_MS} ms`);
    try {
      return await within(isContact(tokens, callee), { system, ms: CONTACT_MS, timeoutError: createTimeoutError });
    } catch (error) {
      logger.warn({ instance_id: instanceId, err: error }, "whatsapp: the tokens of contacts could not be read");
      return false;
    }
  }

  /** Resolves once everything that the current client has written is stored. */
  async flushed(): Promise<void> {
    await this.#records?.flushed();
  }

  /** Resolves once all ended clients have disconnected and pending deletions are done. Never rejects. */
  ended(): Promise<void> {
    return this.#ended;
  }

  #end(end: (client: SupervisedClient) => Promise<void>): void {
    const client = this.#current;
    this.#current = undefined;
    if (client !== undefined) this.#endAfter(end(client));
  }

  #endAfter(work: Promise<unknown>): void {
    this.#ended = Promise.all([this.#ended, work]).then(() => {});
  }
}
