import type { Telephony } from "./telephony.ts";
import type { Reply, RequestLike, SocketHandlers } from "./web.ts";

/** Web pages of a network: a linking page, an account form, recordings. Mounted at `/{prefix}/…`. */
export interface NetworkPages {
  /** First path segment, after the base path: `simulator`. */
  readonly prefix: string;
  /**
   * Responds to a public request, such as one for a linking page; returns undefined if there is no such page.
   * @param path the part after the prefix, starting with a slash
   */
  page(path: string, request: RequestLike): Promise<Reply | undefined>;
  /**
   * Serves `GET /{prefix}/calls/{callId}/{name}`; the core has checked that the caller owns the call.
   * Undefined if there is no such artefact. Missing in a network that stores no call data.
   */
  artefact?(callId: string, name: string): Promise<Reply | undefined>;
  /**
   * Handlers of the WebSocket at `GET /{prefix}/phones/{number}`: a page that acts as a phone with this number, for the
   * user's calls. The core has checked the caller and the number. Missing in a network without such phones.
   * @param phoneNumber E.164
   */
  phone?(userId: string, phoneNumber: string): SocketHandlers;
}

/** A network and its web pages; most networks have none. */
export interface Network extends Telephony {
  readonly pages?: NetworkPages;
}
