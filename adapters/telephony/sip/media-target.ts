import { isIP } from "node:net";
import type { MediaSession, StreamSettings } from "./media/engine.ts";
import { type AddressCheck, type AddressRule, addressCheck, refusalOf } from "./transport/address-rule.ts";
import type { Dns } from "./transport/resolve.ts";
import type { SocketAddress } from "./transport/transport.ts";

/** Where packets are dropped: a session sends nothing there, and waits for the far side's own. */
const NOWHERE: SocketAddress = { address: "0.0.0.0", port: 0 };

/** Options of {@link MediaTarget}. */
export interface MediaTargetOptions {
  readonly session: Pick<MediaSession, "configure">;
  /** Our own address: the far side's is of the same family. */
  readonly local: string;
  readonly dns: Pick<Dns, "addresses">;
  /** Where the far side's audio may be. */
  readonly from: AddressRule;
  /**
   * Called each time with the reason why nothing is sent to the address of the SDP, a sentence; undefined if it is allowed.
   * @param address the refused one
   */
  readonly refused: (refusal: string | undefined, address: string) => void;
  /** The far side's audio has no address; a sentence. Not called before the answer: another place may be named then. */
  readonly lost: (detail: string) => void;
}

/**
 * Configures a media session with what offer and answer come to. A host name for the far side's audio, which SDP allows
 * (RFC 8866 section 5.7), is looked up first; until it is found, and if it is not, the session stays as it was: audio
 * goes on to an earlier address, and none is sent without one. A name that had an address earlier in the call keeps it
 * until the DNS names others.
 */
export class MediaTarget {
  readonly #allowed: AddressCheck;
  readonly #options: MediaTargetOptions;
  #latest: StreamSettings | undefined;
  /** The last name that was found, and its address. */
  #known: { readonly name: string; readonly address: string } | undefined;

  constructor(options: MediaTargetOptions) {
    this.#options = options;
    this.#allowed = addressCheck(options.from);
  }

  /** @param early before the answer */
  settle(settings: StreamSettings, early: boolean): void {
    this.#latest = settings;
    const name = settings.remote.address;
    if (isIP(name) !== 0) {
      this.#configure(settings, name);
      return;
    }
    const known = this.#known?.name === name ? this.#known.address : undefined;
    if (known !== undefined) this.#configure(settings, known);
    void this.#lookUp(settings, early, known);
  }

  async #lookUp(settings: StreamSettings, early: boolean, known: string | undefined): Promise<void> {
    const { local, dns, lost } = this.#options;
    const name = settings.remote.address;
    const found = await dns.addresses(name).catch((): readonly string[] => []);
    if (this.#latest !== settings || (known !== undefined && found.includes(known))) return;
    const address = found.find((one) => isIP(one) === (isIP(local) || 4));
    if (address !== undefined) {
      this.#known = { name, address };
      this.#configure(settings, address);
    } else if (!early && known === undefined)
      lost(`The far side's SDP names "${name}" for its audio, which has no address that can be reached.`);
  }

  #configure(settings: StreamSettings, address: string): void {
    const { remote, remoteRtcp } = settings;
    const rtcpAddress = remoteRtcp.address === remote.address ? address : remoteRtcp.address;
    this.#options.session.configure({
      ...settings,
      remote: this.#place({ ...remote, address }),
      remoteRtcp: this.#place({ ...remoteRtcp, address: rtcpAddress }),
    });
    const refused = [address, rtcpAddress].find((one) => !this.#may(one));
    if (refused === undefined) this.#options.refused(undefined, address);
    else this.#options.refused(`The far side's SDP names ${this.#why(refused)}`, refused);
  }

  #place(place: SocketAddress): SocketAddress {
    return this.#may(place.address) ? place : NOWHERE;
  }

  /** The zeros of a hold are no address (RFC 3264 section 8.4). */
  #may(address: string): boolean {
    return address === "0.0.0.0" || address === "::" || this.#allowed(address);
  }

  #why(address: string): string {
    return `${address} for its audio: ${refusalOf(address, this.#options.from, "mediaFrom")}`;
  }
}
