import { CodedError } from "../../src/base/error.ts";
import { within } from "../../src/base/timeout.ts";
import { realSystem } from "../../src/ports/system.ts";

/** Thrown if a server sends nothing in time. */
export class NothingSent extends CodedError {
  override readonly name = "NothingSent";
  readonly code = "nothing_sent";
}

/**
 * The body, piece by piece; no piece is empty.
 * @throws {NothingSent} nothing arrived for `timeoutMs`; or the signal's reason when it is aborted
 */
export async function* readWithin(
  response: Response,
  timeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const late = () => new NothingSent(`it sent nothing for ${timeoutMs} ms`);
  try {
    while (true) {
      const { done, value } = await within(reader.read(), { system: realSystem, ms: timeoutMs, late, signal });
      if (done) return;
      if (value.length > 0) yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Longest line and longest event, characters. */
const LONGEST = 1 << 20;

/**
 * The data of each event of a `text/event-stream`, as its bytes arrive; other fields are skipped.
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 * @throws {Error} a line or an event is longer than 1 MiB
 */
export async function* eventData(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let open = "";
  let data: string[] = [];
  let length = 0;
  for await (const piece of bytes) {
    open += decoder.decode(piece, { stream: true });
    const lines = open.split(/\r\n|\n|\r(?!$)/);
    open = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield data.join("\n");
        data = [];
        length = 0;
      } else if (line.startsWith("data:")) {
        data.push(line.slice(line[5] === " " ? 6 : 5));
        length += line.length;
      }
    }
    if (open.length > LONGEST || length > LONGEST)
      throw new Error(`it sent an event of more than ${LONGEST} characters`);
  }
}
