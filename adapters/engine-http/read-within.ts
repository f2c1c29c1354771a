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
