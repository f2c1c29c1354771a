import { decodeWav } from "../../../../src/audio/wav/wav.ts";
import { isInPieces } from "../../../../src/http/replies/reply.ts";
import type { Network } from "../../../../src/ports/network-pages.ts";
import type { Reply } from "../../../../src/ports/web.ts";

/** Requests one of the telephony's pages as the core would. */
export async function visit(
  telephony: Network,
  method: string,
  url: string,
  accept: string | null = null,
): Promise<Reply | undefined> {
  const prefix = `/${telephony.pages?.prefix}`;
  return await telephony.pages?.page(url.slice(url.indexOf(prefix) + prefix.length), {
    method,
    url,
    headers: { get: (name) => (name === "accept" ? accept : null) },
    body: null,
  });
}

/** Presses the button on a linking page. Throws an Error if that does not link. */
export async function scan(telephony: Network, payload: string): Promise<void> {
  const reply = await visit(telephony, "POST", payload);
  if (reply?.status !== 200) throw new Error(`linking got status ${reply?.status}`);
}

/** Audio heard by the callee. Throws an Error if there is no recording. */
export async function heardBy(telephony: Network, callId: string): Promise<Int16Array> {
  return (await heardWav(telephony, callId)).samples;
}

/** The file with the audio heard by the callee. Throws an Error if there is no recording. */
export async function heardWav(telephony: Network, callId: string): Promise<ReturnType<typeof decodeWav>> {
  const reply = await telephony.pages?.artefact?.(callId, "heard.wav");
  if (!reply || !isInPieces(reply.body)) throw new Error(`there is no recording of ${callId}`);
  const pieces: Uint8Array[] = [];
  for await (const piece of reply.body) pieces.push(piece);
  const file = Buffer.concat(pieces);
  if (String(file.length) !== reply.headers["content-length"])
    throw new Error("the file's length differs from its content-length");
  return decodeWav(file);
}
