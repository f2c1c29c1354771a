import { isIP } from "node:net";
import {
  type AddressCheck,
  type AddressRule,
  addressCheck,
  addressRefusal,
  isWildcard,
} from "../transport/addresses.ts";
import type { Dns } from "../transport/dns.ts";
import type { SocketAddress } from "../transport/transport.ts";
import type { MediaSession, StreamSettings } from "./engine.ts";

/** An address to which a session sends no packets: it waits for remote packets. */
const NO_ADDRESS: SocketAddress = { address: "0.0.0.0", port: 0 };

/** Options of {@link MediaTarget}. */
export interface MediaTargetOptions {
  readonly session: Pick<MediaSession, "configure">;
  /** Our own address; the remote one must belong to the same family. */
  readonly local: string;
  readonly dns: Pick<Dns, "addresses">;
  /** The allowed addresses of remote audio. */
  readonly from: AddressRule;
  /**
   * Called with the reason why no packet is sent to the address in the remote SDP; with undefined if it is allowed.
   * @param address the refused address
   */
  readonly onAddressChecked: (refusal: string | undefined, address: string) => void;
  /** Called if the remote audio has no address. Not called before the answer, which may name another one. */
  readonly onNoAddress: (detail: string) => void;
}

/**
 * Configures a media session with the result of the offer/answer exchange. A host name for the remote audio, which SDP
 * allows (RFC 8866 section 5.7), is resolved first; until then, and if that fails, the session is unchanged: audio
 * still goes to the earlier address, if there is one. A name that was resolved earlier in the call keeps its address
 * until the DNS returns others.
 */
export class MediaTarget {
  readonly #isAllowed: AddressCheck;
  readonly #options: MediaTargetOptions;
  #latestSettings: StreamSettings | undefined;
  /** The last resolved name and its address. */
  #resolvedHost: { readonly name: string; readonly address: string } | undefined;

  constructor(options: MediaTargetOptions) {
    this.#options = options;
    this.#isAllowed = addressCheck(options.from);
  }

  /** Applies the latest settings. @param isEarly true before the answer */
  apply(settings: StreamSettings, isEarly: boolean): void {
    this.#latestSettings = settings;
    const name = settings.remote.address;
    if (isIP(name) !== 0) {
      this.#configure(settings, name);
      return;
    }
    const knownAddress = this.#resolvedHost?.name === name ? this.#resolvedHost.address : undefined;
    if (knownAddress !== undefined) this.#configure(settings, knownAddress);
    void this.#resolve(settings, isEarly, knownAddress);
  }

  async #resolve(settings: StreamSettings, isEarly: boolean, knownAddress: string | undefined): Promise<void> {
    const { local, dns, onNoAddress } = this.#options;
    const name = settings.remote.address;
    const addresses = await dns.addresses(name).catch((): readonly string[] => []);
    if (this.#latestSettings !== settings || (knownAddress !== undefined && addresses.includes(knownAddress))) return;
    const address = addresses.find((candidate) => isIP(candidate) === (isIP(local) || 4));
    if (address !== undefined) {
      this.#resolvedHost = { name, address };
      this.#configure(settings, address);
    } else if (!isEarly && knownAddress === undefined)
      onNoAddress(`the remote SDP names the audio host "${name}", which has no reachable address`);
  }

  #configure(settings: StreamSettings, address: string): void {
    const { remote, remoteRtcp } = settings;
    const rtcpAddress = remoteRtcp.address === remote.address ? address : remoteRtcp.address;
    this.#options.session.configure({
      ...settings,
      remote: this.#usableTarget({ ...remote, address }),
      remoteRtcp: this.#usableTarget({ ...remoteRtcp, address: rtcpAddress }),
    });
    const refusedAddress = [address, rtcpAddress].find((candidate) => !this.#mayUse(candidate));
    if (refusedAddress === undefined) this.#options.onAddressChecked(undefined, address);
    else this.#options.onAddressChecked(`the remote SDP names ${this.#refusalText(refusedAddress)}`, refusedAddress);
  }

  #usableTarget(target: SocketAddress): SocketAddress {
    return this.#mayUse(target.address) ? target : NO_ADDRESS;
  }

  /**
   * True if audio may be sent to the address. An address of zeros signals hold (RFC 3264 section 8.4), and is always
   * allowed.
   */
  #mayUse(address: string): boolean {
    return isWildcard(address) || this.#isAllowed(address);
  }

  #refusalText(address: string): string {
    return `${address} for its audio: ${addressRefusal(address, this.#options.from, "mediaFrom")}`;
  }
}
