import type { WhatsAppCall, WhatsAppClient } from "../../../../../src/ports/whatsapp-client.ts";
import type { WhatsAppCallListener } from "../../calls/call-port.ts";

const CALL_EVENTS: ReadonlyMap<string, "state" | "ended"> = new Map([
  ["voip_call_state", "state"],
  ["voip_call_ended", "ended"],
]);

/** The listeners on a client. Our errors never reach the client, and its errors never reach us. */
export class ClientWiring {
  readonly #onError: (error: unknown, message: string) => void;
  #removals: (() => void)[] = [];

  /** @param onError called with each error from a listener or the client */
  constructor(onError: (error: unknown, message: string) => void) {
    this.#onError = onError;
  }

  /** Adds a listener to the client itself: listeners on `client.voip` are lost with each reconnect. */
  on(client: WhatsAppClient, name: string, listener: (event: unknown) => void): void {
    const safeListener = (event: unknown) => this.#safely(() => listener(event));
    client.on(name, safeListener);
    this.#removals.push(() => client.off(name, safeListener));
  }

  /** Passes on call events, and every stanza before the client handles it. */
  attachCalls(client: WhatsAppClient, listener: Pick<WhatsAppCallListener, "voip" | "stanza">): void {
    for (const [name, type] of CALL_EVENTS)
      this.on(client, name, (event) => {
        if (isCall(event)) listener.voip({ type, call: event });
      });
    this.on(client, "voip_call_inbound_audio", (event) => {
      const { call, pcm } = event as { call?: unknown; pcm?: unknown };
      if (isCall(call) && pcm instanceof Float32Array) listener.voip({ type: "inbound_audio", call, pcm });
    });
    this.on(client, "voip_call_error", (error) => listener.voip({ type: "error", error }));
    try {
      const remove = client.lowlevel.registerIncomingStanzaFilter((stanza: unknown) => {
        this.#safely(() => listener.stanza(stanza));
        return false; // false leaves all handling to the client
      });
      this.#removals.push(remove);
    } catch (error) {
      this.#onError(error, "the WhatsApp client accepts no stanza filter: the reasons why calls end are unknown");
    }
  }

  /** Removes every listener. */
  detach(): void {
    for (const remove of this.#removals.splice(0)) this.#safely(remove);
  }

  #safely(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#onError(error, "an event of the WhatsApp client could not be handled");
    }
  }
}

function isCall(value: unknown): value is WhatsAppCall {
  if (typeof value !== "object" || value === null) return false;
  const { callId, stateData } = value as Partial<WhatsAppCall>;
  return typeof callId === "string" && typeof stateData === "object" && stateData !== null;
}
