import { asTransportError } from "../transport/network-fault.ts";
import type { Flow, Hop, TransportError } from "../transport/transport.ts";
import type { ClientScope } from "./client-scope.ts";

/** The hop of an attempt, and the hops to try if it fails. */
export interface AttemptHops {
  /** Undefined: the request was given a flow. */
  readonly hop: Hop | undefined;
  /** UDP, if the attempt takes TCP in its place. */
  readonly otherwise: Hop | undefined;
  /** The same hop on another connection. */
  readonly again: Hop | undefined;
}

/** The remaining hops of a request (RFC 3263 section 4.3). */
export class HopSequence {
  readonly #scope: ClientScope;
  #hops: Hop[] = [];
  /** A dead connection: the request was sent again on another one. */
  #dead: Flow | undefined;

  constructor(scope: ClientScope) {
    this.#scope = scope;
  }

  get isEmpty(): boolean {
    return this.#hops.length === 0;
  }

  /** Takes the hops of a URI. @throws {TransportError} */
  async resolve(uri: string, callId: string, signal: AbortSignal): Promise<void> {
    const { resolve, failedHops, chosenHops } = this.#scope;
    this.#hops = failedHops.inOrder(chosenHops.first(callId, await resolve(uri, signal)));
  }

  /**
   * Connects to the next reachable hop.
   * @param why the fault to throw if no hop is left
   * @throws {TransportError} the latest fault
   */
  async connect(why: TransportError, signal: AbortSignal): Promise<{ readonly hop: Hop; readonly flow: Flow }> {
    let fault = why;
    for (let hop = this.#hops.shift(); hop !== undefined; hop = this.#hops.shift()) {
      try {
        return { hop, flow: await this.#scope.transports.connect(hop, signal, this.#dead) };
      } catch (cause) {
        fault = asTransportError(cause);
        if (signal.aborted) break;
        this.#scope.failedHops.add(hop);
      }
    }
    throw fault;
  }

  /**
   * The hop that an INVITE is sent to once more if its connection, which has worked before, breaks or seems dead before
   * any response. It is the same request with another branch (RFC 3261 section 8.1.3.1, RFC 3263 section 4.3), so a
   * server that has received it already responds with 482 (RFC 3261 section 8.2.2.2).
   */
  again(flow: Flow, hop: Hop | undefined): Hop | undefined {
    return this.#dead === undefined && flow.spoken === true ? hop : undefined;
  }

  /** An attempt has failed: its alternatives come next. @param responded whether it got any response */
  failed({ hop, otherwise, again }: AttemptHops, flow: Flow, fault: TransportError, responded: boolean): void {
    if (again !== undefined && !responded && (!flow.alive || fault.fault === "closed")) {
      this.#dead = flow;
      this.#hops.unshift(again);
    } else if (hop !== undefined) this.#scope.failedHops.add(hop, flow);
    if (otherwise === undefined) return;
    this.#hops.unshift(otherwise);
    if (fault.fault === "timeout") this.#scope.tcpInstead.mute(otherwise);
  }
}
