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
 * (RFC 8866 section 5.7), is looked up first; meanwhile nothing is sent.
 */
export class MediaTarget {
  readonly #options: MediaTargetOptions;
  #latest: StreamSettings | undefined;

  constructor(options: MediaTargetOptions) {
    this.#options = options;
  }

  /** @param early before the answer */
  settle(settings: StreamSettings, early: boolean): void {
    this.#latest = settings;
    if (isIP(settings.remote.address) !== 0) this.#options.session.configure(settings);
    else void this.#lookUp(settings, early);
  }

  async #lookUp(settings: StreamSettings, early: boolean): Promise<void> {
    const { session, local, dns, lost } = this.#options;
    const { remote, remoteRtcp } = settings;
    const found = await dns.addresses(remote.address).catch((): readonly string[] => []);
    if (this.#latest !== settings) return;
    const address = found.find((one) => isIP(one) === (isIP(local) || 4));
    if (address !== undefined) {
      const rtcpAddress = remoteRtcp.address === remote.address ? address : remoteRtcp.address;
      session.configure({
        ...settings,
        remote: { ...remote, address },
        remoteRtcp: { ...remoteRtcp, address: rtcpAddress },
      });
    } else if (!early)
      lost(`The far side's SDP names "${remote.address}" for its audio, which has no address that can be reached.`);
  }
}
