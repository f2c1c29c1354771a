import { concatBytes } from "../../../src/base/concat-bytes.ts";
import type { KnownModel } from "../known-models.ts";
import { ConnectionLost, type HttpGetOptions, httpGet } from "./http-get.ts";
import { InstallFault } from "./install-fault.ts";

/** GitHub releases that publish models. */
export interface ModelReleases {
  /** `…/releases/download`; a tag and a file name follow. */
  readonly downloads: string;
  /** `…/releases/tags`; a tag follows. */
  readonly api: string;
}

/** Releases of sherpa-onnx. */
export const SHERPA_RELEASES: ModelReleases = {
  downloads: "https://github.com/k2-fsa/sherpa-onnx/releases/download",
  api: "https://api.github.com/repos/k2-fsa/sherpa-onnx/releases/tags",
};

const TAGS: Readonly<Record<KnownModel["job"], string>> = { voice: "tts-models", recogniser: "asr-models" };
/** Maximum size of a response: a list of checksums has about 100 KB, and the description of a release about 2 MB. */
const MAX_BYTES = 32 * 2 ** 20;
const SHA_256 = /^[0-9a-f]{64}$/i;

/** URL of a model's archive. */
export function archiveUrl({ downloads }: ModelReleases, { name, job }: Pick<KnownModel, "name" | "job">): URL {
  return new URL(`${downloads}/${TAGS[job]}/${encodeURIComponent(archiveName(name))}`);
}

export function archiveName(model: string): string {
  return `${model}.tar.bz2`;
}

/** The SHA-256 in lower case; undefined if the text is not a SHA-256. */
export function parseSha256(text: string): string | undefined {
  return SHA_256.test(text) ? text.toLowerCase() : undefined;
}

/**
 * The SHA-256 of a model's archive as published in its release: in `checksum.txt`, which sherpa-onnx updates daily, or
 * as the digest computed by GitHub.
 * @throws {InstallFault} neither is available; the message names the fix
 */
export async function publishedSha256(
  releases: ModelReleases,
  model: Pick<KnownModel, "name" | "job">,
  options: HttpGetOptions,
): Promise<string> {
  const file = archiveName(model.name);
  const list = await textAt(new URL(`${releases.downloads}/${TAGS[model.job]}/checksum.txt`), options).catch(
    (error) => {
      if (!(error instanceof ConnectionLost)) throw error;
      throw new InstallFault(
        `${error.message}; check HTTPS_PROXY, or download ${archiveUrl(releases, model)} on another machine and add it with --from FILE`,
        { cause: error },
      );
    },
  );
  const listedHash = list.text === undefined ? undefined : listedSha256(list.text, file);
  if (listedHash !== undefined) return listedHash;
  const release = await textAt(new URL(`${releases.api}/${TAGS[model.job]}`), options).catch((error: Error) => ({
    text: undefined,
    fault: `cannot be read: ${error.message}`,
  }));
  options.signal?.throwIfAborted();
  const digest = release.text === undefined ? undefined : digestIn(release.text, file);
  if (digest !== undefined) return digest;
  throw new InstallFault(
    `no checksum of ${file} is available (checksum.txt ${list.fault ?? "does not list it"}, GitHub's API ${release.fault ?? "does not list it"}); ` +
      "check the name, or find the checksum yourself and pass it as --sha256 HEX",
  );
}

/** The checksum of a file in a list, whose lines have name and checksum in either order. */
function listedSha256(list: string, file: string): string | undefined {
  const hashes = list.split(/\r?\n/).flatMap((line) => {
    const words = line.trim().split(/\s+\*?/);
    const other = words[0] === file ? words[1] : words[1] === file ? words[0] : undefined;
    return words.length === 2 && other !== undefined ? [parseSha256(other)] : [];
  });
  // Two different checksums count as none.
  return new Set(hashes).size === 1 ? hashes[0] : undefined;
}

function digestIn(text: string, file: string): string | undefined {
  try {
    const { assets } = JSON.parse(text) as {
      assets: readonly { readonly name?: unknown; readonly digest?: unknown }[];
    };
    const digest = assets.find(({ name }) => name === file)?.digest;
    return typeof digest === "string" && digest.startsWith("sha256:") ? parseSha256(digest.slice(7)) : undefined;
  } catch {
    return undefined;
  }
}

/** A response's text, or the reason why there is none. @throws {ConnectionLost} the server cannot be reached */
async function textAt(url: URL, options: HttpGetOptions): Promise<{ readonly text?: string; readonly fault?: string }> {
  const response = await httpGet(url, options);
  if (response.status !== 200) {
    response.discard();
    return { fault: `responded with ${response.status}` };
  }
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MAX_BYTES) return { fault: `has more than ${MAX_BYTES} bytes` };
  }
  return { text: new TextDecoder().decode(concatBytes(pieces)) };
}
