import { CodedError } from "../../../src/base/error.ts";
import { EngineSocket } from "../../provider-http/engine-socket.ts";
import { withoutSecrets } from "../../provider-http/fault-text.ts";
import { type RealtimeEvent, realtimeEvent } from "./realtime-events.ts";

/** The address of a realtime server and how to connect to it. */
export interface RealtimeServer {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly (string | undefined)[];
  /** Longest silence from the server while a response is due, ms. */
  readonly timeoutMs: number;
}

/** Failure of a connection; the message is for an operator and has no secrets. */
export class RealtimeFault extends CodedError {
  override readonly name = "RealtimeFault";
  readonly code = "realtime_fault";
  /** True if another attempt would fail in the same way. */
  readonly isPermanent: boolean;
  constructor(message: string, isPermanent: boolean) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

/** Events of a link that is ready. */
export interface LinkListener {
  event(event: RealtimeEvent): void;
  /** The connection is lost; this is the last event. */
  lost(fault: RealtimeFault): void;
}

/** Errors that another attempt would not fix. */
const PERMANENT = /^(invalid_api_key|insufficient_quota|model_not_found|invalid_model|unsupported_model)$/;

/** One connection to a realtime server, whose session has been accepted. */
export class RealtimeLink {
  readonly #server: RealtimeServer;
  readonly #socket: EngineSocket;
  #listener: LinkListener | undefined;
  #isClosed = false;

  /**
   * Connects, requests the session and waits until the server has accepted it.
   * @throws {RealtimeFault}
   */
  static open(server: RealtimeServer, session: object, listener: LinkListener): Promise<RealtimeLink> {
    return new Promise((resolve, reject) => {
      const link = new RealtimeLink(server, session, {
        event: (event) => {
          if (event.type === "ready") {
            clearTimeout(timer);
            link.#listener = listener;
            resolve(link);
          } else if (event.type === "error") fail(`reports: ${event.fault}`, true);
        },
        lost: (fault) => {
          clearTimeout(timer);
          reject(fault);
        },
      });
      const fail = (problem: string, isPermanent: boolean): void => {
        clearTimeout(timer);
        link.close();
        reject(link.#fault(problem, isPermanent));
      };
      const onTimeout = (): void => fail(`accepted no session within ${server.timeoutMs} ms`, false);
      const timer = setTimeout(onTimeout, server.timeoutMs);
    });
  }

  private constructor(server: RealtimeServer, session: object, listener: LinkListener) {
    const { url, headers, timeoutMs } = server;
    this.#server = server;
    this.#listener = listener;
    this.#socket = new EngineSocket(
      url,
      { headers, connectMs: timeoutMs, settings: "RINGPORT_AGENT" },
      {
        opened: () => this.send(session),
        message: (text) => {
          const event = realtimeEvent(text);
          if (event?.type === "broken") this.#lose("sent broken JSON", false);
          else if (event !== undefined && !this.#isClosed) this.#listener?.event(event);
        },
        lost: (problem, isPermanent) => this.#lose(problem, isPermanent),
      },
    );
  }

  send(message: object | string): void {
    if (!this.#isClosed) this.#socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** Drops the connection and reports it as lost. */
  drop(problem: string): void {
    this.#lose(problem, false);
  }

  /** Closes the connection; no further reports follow. */
  close(): void {
    this.#isClosed = true;
    this.#socket.close();
  }

  /** A fault whose message has no secrets. */
  #fault(problem: string, isPermanent: boolean): RealtimeFault {
    return new RealtimeFault(withoutSecrets(`the model's server ${problem}`, this.#server.secrets), isPermanent);
  }

  #lose(problem: string, isPermanent: boolean): void {
    if (this.#isClosed) return;
    this.close();
    this.#listener?.lost(this.#fault(problem, isPermanent));
  }
}

/** True if a server error ends the conversation permanently. */
export function isPermanentCode(code: string): boolean {
  return PERMANENT.test(code);
}
