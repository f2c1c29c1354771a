import type { WhatsAppCallListener } from "../../../../../adapters/telephony/whatsapp/calls/call-port.ts";
import { LoginTurns } from "../../../../../adapters/telephony/whatsapp/session/client/login-turns.ts";
import { decodeCredentials } from "../../../../../adapters/telephony/whatsapp/session/records/link-credentials.ts";
import { WhatsAppSession } from "../../../../../adapters/telephony/whatsapp/session/whatsapp-session.ts";
import type { LogFields, Logger } from "../../../../../src/ports/logger.ts";
import { StorageUnavailable } from "../../../../../src/ports/storage.ts";
import type { WhatsAppClientFactory } from "../../../../../src/ports/whatsapp-client.ts";
import { ManualSystem } from "../../../../../src/testing/manual-system.ts";
import { TestLineHost } from "../../../../../src/testing/telephony-host.ts";
import { FakeWhatsApp } from "../../../../../src/testing/whatsapp/fake-whatsapp.ts";

export const PHONE = "+5511912345678";

interface SceneOptions {
  readonly seed?: number;
  readonly client?: WhatsAppClientFactory;
  readonly host?: TestLineHost;
  /** The network, such as another scene's network with its manual clock. Default: a new network. */
  readonly network?: FakeWhatsApp;
  /** Login turns. Default: separate turns. */
  readonly logins?: LoginTurns;
}

/** A session over a scripted network, on a manual clock. */
export class SessionScene {
  readonly system: ManualSystem;
  readonly network: FakeWhatsApp;
  readonly host: TestLineHost;
  readonly logLines: string[] = [];
  /** Behaviour of the record storage. */
  readonly storage = { isDown: false, slowMs: 0 };
  session: WhatsAppSession;
  readonly logins: LoginTurns;

  constructor(options: SceneOptions = {}) {
    this.system =
      options.network === undefined
        ? new ManualSystem({ seed: options.seed ?? 1 })
        : (options.network.system as ManualSystem);
    this.network = options.network ?? new FakeWhatsApp(this.system);
    this.logins = options.logins ?? new LoginTurns(this.system);
    this.host = options.host ?? new TestLineHost();
    const { records } = this.host;
    const set = records.set.bind(records);
    Object.assign(records, {
      set: async (changes: Parameters<typeof set>[0]) => {
        const { isDown, slowMs } = this.storage;
        if (isDown) throw new StorageUnavailable("the database does not respond");
        if (slowMs > 0) await new Promise<void>((resolve) => void this.system.after(slowMs, resolve));
        await set(changes);
      },
    });
    this.session = this.open(options.client);
  }

  /** Another session for the same number, as after a restart; it connects if the number is linked. */
  open(client: WhatsAppClientFactory = this.network.client): WhatsAppSession {
    const { system, host } = this;
    this.session = new WhatsAppSession({
      instanceId: "inst_1",
      host,
      system,
      logger: this.#logger(),
      client,
      logins: this.logins,
    });
    const sessionId = host.stored && decodeCredentials(host.stored);
    if (sessionId !== undefined) this.session.resume(sessionId);
    return this.session;
  }

  /** The line's reports so far, without codes. */
  get reports(): string[] {
    return this.host.reports.types.filter((type) => type !== "code");
  }

  /** Number of records that the client has stored. */
  get clientRecords(): number {
    return [...this.host.storedRecords.keys()].filter((key) => !key.startsWith("ringport/")).length;
  }

  /** The reports since this method was last called. */
  takeReports(): string[] {
    const newReports = this.reports.slice(this.#reportCount);
    this.#reportCount = this.reports.length;
    return newReports;
  }
  #reportCount = 0;

  get codes() {
    return this.host.reports.all.flatMap((report) => (report.type === "code" ? [report.code] : []));
  }

  get conditions() {
    return this.host.reports.all.flatMap((report) => (report.type === "condition" ? [report.condition] : []));
  }

  get client() {
    return this.network.clientOf();
  }

  /** Starts linking and waits for the first code. */
  async code(): Promise<string> {
    const linking = this.session.link();
    await this.system.advance(1_000);
    await linking;
    return this.codes.at(-1)?.payload ?? "";
  }

  /** Links the number, and waits until it is online. */
  async linkNumber(): Promise<this> {
    this.network.scan(await this.code(), PHONE);
    await this.system.advance(1_000);
    this.takeReports();
    return this;
  }

  /** True if a probe reports the line as online. */
  get isOnline(): boolean {
    return this.session.probe().state === "online";
  }

  /** Subscribes as a call does. */
  call(): { readonly events: string[]; readonly stop: () => void } {
    const events: string[] = [];
    const listener: WhatsAppCallListener = {
      voip: (event) => void events.push(`voip ${event.type}`),
      stanza: (stanza) => void events.push(`stanza ${(stanza as { tag: string }).tag}`),
      lost: (_, final) => void events.push(final ? "lost permanently" : "lost"),
      end: () => void events.push("end"),
      restored: () => void events.push("restored"),
    };
    return { events, stop: this.session.listen(listener) };
  }

  #logger(): Logger {
    const log = (level: string) => (fields: LogFields, message: string) => {
      const { err } = fields as { err?: Error };
      this.logLines.push(`${level}: ${message}${err ? ` (${err.message})` : ""}`);
    };
    return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  }
}
