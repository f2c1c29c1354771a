import { isIP } from "node:net";
import type { MediaSession, StreamSettings } from "./media/engine.ts";
import type { Dns } from "./transport/resolve.ts";

/** Options of {@link MediaTarget}. */
export interface MediaTargetOptions {
  readonly session: Pick<MediaSession, "configure">;
  /** Our own address: the far side's is of the same family. */
  readonly local: string;
  readonly dns: Pick<Dns, "addresses">;
  /** The far side's audio has no address; a sentence. Not called before the answer: another place may be named then. */
  readonly lost: (detail: string) => void;
}

/**
 * Configures a media session with what offer and answer come to. A host name for the far side's audio, which SDP allows
 * (RFC 8866 section 5.7), is looked up first; meanwhile nothing is sent. A name that had an address earlier in the call
 * keeps it until the DNS names others.
 */
export class MediaTarget {
  readonly #options: MediaTargetOptions;
  #latest: StreamSettings | undefined;
  /** The last name that was found, and its address. */
  #known: { readonly name: string; readonly address: string } | undefined;

  constructor(options: MediaTargetOptions) {
    this.#options = options;
  }

  /** @param early before the answer */
  settle(settings: StreamSettings, early: boolean): void {
    this.#latest = settings;
    const name = settings.remote.address;
    if (isIP(name) !== 0) {
      this.#options.session.configure(settings);
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
      remote: { ...remote, address },
      remoteRtcp: { ...remoteRtcp, address: rtcpAddress },
    });
  }
}
