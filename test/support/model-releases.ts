import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ModelReleases } from "../../adapters/local-models/installation/model-releases.ts";
import { atFileEnd } from "./file-end.ts";

/** A server of model releases that responds as GitHub does. */
export class ReleaseServer implements ModelReleases {
  /** Files by tag and name: `tts-models/a.tar.bz2`. */
  readonly files = new Map<string, Uint8Array>();
  /** Descriptions of releases by tag. */
  readonly descriptions = new Map<string, unknown>();
  /** Paths of all requests, with their requested range. */
  readonly requests: string[] = [];
  /** Bytes after which a download is cut off, one entry for each download. */
  readonly cuts: number[] = [];
  /** True if ranges are ignored. */
  ignoresRanges = false;
  /** True if a download stops in the middle without an end, and sends nothing when it is resumed. */
  stalls = false;
  #server: Server | undefined;

  /** Starts a server, and stops it after the test file. */
  static async start(): Promise<ReleaseServer> {
    const releases = new ReleaseServer();
    const server = createServer((request, response) => releases.#respond(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    atFileEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    releases.#server = server;
    return releases;
  }

  get port(): number {
    const address = this.#server?.address() as AddressInfo | undefined;
    return address?.port ?? 0;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get downloads(): string {
    return `${this.origin}/download`;
  }

  get api(): string {
    return `${this.origin}/api`;
  }

  /** Publishes an archive with its checksum. */
  publish(tag: string, name: string, archive: Uint8Array): void {
    this.files.set(`${tag}/${name}`, archive);
    this.files.set(
      `${tag}/checksum.txt`,
      new TextEncoder().encode(`other.tar.bz2\t${"0".repeat(64)}\n${name}\t${sha256(archive)}\n`),
    );
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    const path = new URL(request.url ?? "/", this.origin).pathname;
    this.requests.push(`${path}${request.headers.range === undefined ? "" : ` ${request.headers.range}`}`);
    if (path.startsWith("/api/")) {
      const description = this.descriptions.get(path.slice(5));
      response.writeHead(description === undefined ? 404 : 200).end(JSON.stringify(description ?? {}));
    } else if (path.startsWith("/download/"))
      // GitHub redirects to another host.
      response.writeHead(302, { location: `/stored/${path.slice(10)}` }).end();
    else this.#send(this.files.get(path.slice(8)), request, response);
  }

  #send(file: Uint8Array | undefined, request: IncomingMessage, response: ServerResponse): void {
    if (file === undefined) return void response.writeHead(404).end();
    const range = this.ignoresRanges ? undefined : /^bytes=(\d+)-$/.exec(request.headers.range ?? "");
    const start = Number(range?.[1] ?? 0);
    if (start > 0 && start >= file.length)
      return void response.writeHead(416, { "content-range": `bytes */${file.length}` }).end();
    const part = file.subarray(start);
    response.writeHead(range ? 206 : 200, {
      "content-length": part.length,
      ...(range ? { "content-range": `bytes ${start}-${file.length - 1}/${file.length}` } : {}),
    });
    const isArchive = request.url?.endsWith(".bz2") === true;
    const stalls = this.stalls && isArchive;
    const cutAt = stalls ? (range ? 0 : part.length >> 1) : isArchive ? this.cuts.shift() : undefined;
    if (cutAt === undefined) response.end(part);
    else response.write(part.subarray(0, cutAt), () => (stalls ? undefined : setTimeout(() => response.destroy(), 20)));
  }
}

/** The SHA-256 of bytes, as text. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
