import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type DownloadOptions, download } from "../../../../adapters/local-models/installation/download.ts";
import { connectionReason } from "../../../../adapters/local-models/installation/http-get.ts";
import { archiveUrl, publishedSha256 } from "../../../../adapters/local-models/installation/model-releases.ts";
import { freePort } from "../../../support/free-port.ts";
import { fullDisk } from "../../../support/full-disk.ts";
import { ReleaseServer, sha256 } from "../../../support/model-releases.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const NAME = "vits-piper-pt_BR-faber-medium";
const FILE = `${NAME}.tar.bz2`;
const PARTIAL_FILE = `.${FILE}.part`;
const MODEL = { name: NAME, job: "voice" } as const;
const BYTES = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 7 + (at >> 8)) & 0xff);
const STORED_PATH = `/stored/tts-models/${FILE}`;

async function freshDownload() {
  const server = await ReleaseServer.start();
  server.publish("tts-models", FILE, BYTES);
  const folder = temporaryFolder("models");
  const start = (overrides: Partial<DownloadOptions> = {}) =>
    download({ url: archiveUrl(server, MODEL), sha256: sha256(BYTES), folder, name: FILE, retryMs: 10, ...overrides });
  const ranges = () =>
    server.requests
      .filter((request) => request.startsWith(STORED_PATH))
      .map((request) => request.slice(STORED_PATH.length + 1));
  return { server, folder, start, ranges };
}

describe("a failed connection", () => {
  const denoError = (text: string) =>
    new TypeError("fetch failed", { cause: new Error(`error sending request for url (http://a.test/x): ${text}`) });

  it.each([
    [denoError("client error (Connect): dns error: failed to lookup address information"), "ENOTFOUND"],
    [denoError("client error (Connect): tcp connect error: Connection refused (os error 111)"), "ECONNREFUSED"],
    [denoError("connection closed before message completed"), "connection closed before message completed"],
    [Object.assign(new Error("getaddrinfo ENOTFOUND a.test"), { code: "ENOTFOUND" }), "ENOTFOUND"],
  ])("has its code on each runtime: %s", (error, reason) => {
    expect(connectionReason(error)).toBe(reason);
  });
});

describe("a download", () => {
  it("has the bytes of the release, and reports its progress", async () => {
    const { folder, start } = await freshDownload();
    const progress: (readonly [number, number | undefined])[] = [];
    const path = await start({ onProgress: (...progressArgs) => progress.push(progressArgs) });
    expect(readFileSync(path).equals(BYTES)).toBe(true);
    expect(progress.at(-1)).toEqual([BYTES.length, BYTES.length]);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it("continues where the connection was lost", async () => {
    const { server, start, ranges } = await freshDownload();
    server.cuts.push(100_000, 0, 50_000);
    expect(readFileSync(await start()).equals(BYTES)).toBe(true);
    expect(ranges()).toEqual(["", "bytes=100000-", "bytes=100000-", "bytes=150000-"]);
  });

  it("continues a failed one", async () => {
    const { server, folder, start, ranges } = await freshDownload();
    server.cuts.push(100_000, 0, 0, 0);
    await expect(start()).rejects.toThrow(/run the command again to continue, or download http.* yourself/);
    expect(readdirSync(folder)).toEqual([PARTIAL_FILE]);
    expect(readFileSync(await start()).equals(BYTES)).toBe(true);
    expect(ranges().at(-1)).toBe("bytes=100000-");
  });

  it("continues a cancelled one", async () => {
    const { server, folder, start, ranges } = await freshDownload();
    server.stalls = true;
    const stop = new AbortController();
    const cancelledDownload = start({
      signal: stop.signal,
      onProgress: (bytes) => bytes === 150_000 && stop.abort(new Error("Ctrl-C")),
    });
    await expect(cancelledDownload).rejects.toThrow("Ctrl-C");
    expect(readdirSync(folder)).toEqual([PARTIAL_FILE]);
    server.stalls = false;
    expect(readFileSync(await start()).equals(BYTES)).toBe(true);
    expect(ranges().at(-1)).toBe("bytes=150000-");
  });

  it("is aborted with an error if it stalls", async () => {
    const { server, start } = await freshDownload();
    server.stalls = true;
    await expect(start({ stallMs: 100, retryMs: 1 })).rejects.toThrow(/sent nothing for 0\.1 s; run the command again/);
  });

  it("starts over if ranges are ignored or the partial file does not match", async () => {
    for (const [partialBytes, ignoresRanges] of [
      [BYTES.subarray(0, 1_000), true],
      [new Uint8Array(1_000), false],
      [new Uint8Array(400_000), false],
      [new Uint8Array(300_000), false],
    ] as const) {
      const { server, folder, start } = await freshDownload();
      server.ignoresRanges = ignoresRanges;
      writeFileSync(join(folder, PARTIAL_FILE), partialBytes);
      expect(readFileSync(await start()).equals(BYTES)).toBe(true);
    }
  });

  it("only verifies a file that is already complete", async () => {
    const { server, folder, start, ranges } = await freshDownload();
    writeFileSync(join(folder, PARTIAL_FILE), BYTES);
    expect(readFileSync(await start()).equals(BYTES)).toBe(true);
    expect(ranges()).toEqual(["bytes=300000-"]);
    expect(server.requests).toHaveLength(2);
  });

  it("takes over a killed process's file, but not a running one's", async () => {
    const { folder, start, ranges } = await freshDownload();
    writeFileSync(join(folder, `.${FILE}.killed.part`), BYTES.subarray(0, 1_000));
    writeFileSync(join(folder, `.${FILE}.running.part`), BYTES.subarray(0, 2_000));
    const twoMinutesAgo = new Date(Date.now() - 120_000);
    utimesSync(join(folder, `.${FILE}.killed.part`), twoMinutesAgo, twoMinutesAgo);
    await start();
    expect(ranges()).toEqual(["bytes=1000-"]);
    expect(readdirSync(folder)).toContain(`.${FILE}.running.part`);
  });

  it("leaves no files if the checksum differs", async () => {
    const { folder, start } = await freshDownload();
    await expect(start({ sha256: "0".repeat(64) })).rejects.toThrow(
      `the SHA-256 of ${FILE} is ${sha256(BYTES)}, but must be ${"0".repeat(64)}`,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it("leaves no files if the disk is full, and names the fix", async () => {
    const { folder, start } = await freshDownload();
    writeFileSync(join(folder, PARTIAL_FILE), BYTES.subarray(0, 1_000));
    await expect(start({ openFile: fullDisk(1_000) })).rejects.toThrow(/cannot be written: its file system is full/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("names the address of a missing file", async () => {
    const { server, folder, start } = await freshDownload();
    server.files.clear();
    await expect(start()).rejects.toThrow(`there is no ${server.downloads}/tts-models/${FILE}; check the name`);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("names a server that cannot be reached", async () => {
    const { start } = await freshDownload();
    const host = `127.0.0.1:${await freePort()}`;
    await expect(start({ url: new URL(`http://${host}/a`) })).rejects.toThrow(`the connection to ${host} failed: `);
  });
});

describe("a release's checksum", () => {
  const digest = sha256(BYTES);
  const checksumOf = async (list: string | undefined, assets: unknown = undefined): Promise<string> => {
    const { server } = await freshDownload();
    if (list === undefined) server.files.delete("tts-models/checksum.txt");
    else server.files.set("tts-models/checksum.txt", new TextEncoder().encode(list));
    if (assets !== undefined) server.descriptions.set("tts-models", { assets });
    return publishedSha256(server, MODEL, {}).catch((error: Error) => error.message);
  };

  it.each([
    ["after the name, as in the releases", `a.tar.bz2\t${"1".repeat(64)}\n${FILE}\t${digest}\n`],
    ["before the name, as sha256sum writes it", `${"1".repeat(64)}  a.tar.bz2\r\n${digest.toUpperCase()} *${FILE}\r\n`],
    ["twice", `${FILE}\t${digest}\n${FILE}\t${digest}\n`],
  ])("is in checksum.txt: %s", async (_, list) => {
    expect(await checksumOf(list)).toBe(digest);
  });

  it.each([
    ["not listed", `my-${FILE}\t${digest}\n`],
    ["no checksum", `${FILE}\tabc\n`],
    ["contradictory", `${FILE}\t${digest}\n${FILE}\t${"1".repeat(64)}\n`],
    ["missing", undefined],
  ])("is otherwise the digest that GitHub computes: %s", async (_, list) => {
    const assets = [
      { name: "a.tar.bz2", digest: `sha256:${"1".repeat(64)}` },
      { name: FILE, digest: `sha256:${digest}` },
    ];
    expect(await checksumOf(list, assets)).toBe(digest);
  });

  it.each([[undefined], [[]], [[{ name: FILE, digest: null }]], [[{ name: FILE, digest: "md5:abc" }]], ["none"]])(
    "is required, and never invented: %j",
    async (assets) => {
      expect(await checksumOf(`my-${FILE}\t${digest}\n`, assets)).toMatch(
        /^no checksum of .* is available .* --sha256 HEX$/,
      );
    },
  );

  it("fails with the proxy and the archive's address if the server cannot be reached", async () => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    const unreachableUrls = { downloads: `${origin}/download`, api: `${origin}/api` };
    await expect(publishedSha256(unreachableUrls, MODEL, {})).rejects.toThrow(
      / failed: .*; check HTTPS_PROXY, or download http:.*faber-medium\.tar\.bz2 on another machine and add it with --from FILE/,
    );
  });
});
